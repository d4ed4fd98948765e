"""The rules that read a trajectory: pure functions to a `CheckResult`, one concept a module."""
