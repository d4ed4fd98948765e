"""The judge of trajectories. Not built yet: this release records and replays."""

if __name__ != "proctor.judge":  # the folder at the root is only where the code lies
    raise ImportError(f"import proctor.judge, not {__name__}: the bare name may be another distribution's")
