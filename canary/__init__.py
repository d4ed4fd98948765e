"""The daily live job. Not built yet: this release records and replays."""

if __name__ != "proctor.canary":  # the folder at the root is only where the code lies
    raise ImportError(f"import proctor.canary, not {__name__}: the bare name may be another distribution's")
