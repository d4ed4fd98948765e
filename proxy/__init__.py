"""The record-and-replay proxy: what an agent's tools answered, kept and served."""

if __name__ != "proctor.proxy":  # the folder at the root is only where the code lies
    raise ImportError(f"import proctor.proxy, not {__name__}: the bare name may be another distribution's")
