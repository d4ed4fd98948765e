"""Why a run is not put to a judge at all.

JudgeFault
├── NotBlind    a name would have reached the judge
└── TooLong     even the least that has to be shown does not fit
"""

from __future__ import annotations

from proctor.errors import ProctorError


class JudgeFault(ProctorError):
    """No prompt can be made of this run; others go on."""


class NotBlind(JudgeFault):
    """The finished text still tells who the agent is."""


class TooLong(JudgeFault):
    """The prompt has no room for what it must hold."""
