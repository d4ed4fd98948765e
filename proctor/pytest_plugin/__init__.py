"""The pytest plugin: a session and a tape of its own for each test that asks (docs/pytest.md).

`plugin` is what pytest loads, in every project that has Proctor installed: it imports nothing of the rest before a
test asks for a session.
"""

from proctor.pytest_plugin.session import ProctorSession

__all__ = ["ProctorSession"]
