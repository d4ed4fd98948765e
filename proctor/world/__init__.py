"""Worlds: tools that hold state and enforce rules, in a class of the project's own. See docs/worlds.md."""

from proctor.world.declaring import CREDENTIAL, tool
from proctor.world.refusal import BusinessError
from proctor.world.world import World

__all__ = ["CREDENTIAL", "BusinessError", "World", "tool"]
