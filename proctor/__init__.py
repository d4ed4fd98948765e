"""Proctor: records what an agent's tools answered once, replays it for ever, and says when it cannot."""

__version__ = "0.1.0"
