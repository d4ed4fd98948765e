"""The judge: a trajectory and a rubric in, a verdict out, whose every score can be checked line by line.

    inquiry ── blinding ── budget ── prompt ─► the model ─► reply ── citations ── evidence ─┐
       └────── rules ────────────────────────────────────────────────────── ruling ── assembling ─► verdict

Agreement with people (`calibration`), repetition (`retesting`) and drift (`anchors`) measure the judge itself.
"""

if __name__ != "proctor.judge":  # the folder at the root is only where the code lies
    raise ImportError(f"import proctor.judge, not {__name__}: the bare name may be another distribution's")
