"""What a session is asked to be, made whole and checked before anything is opened."""

from __future__ import annotations

from proctor.errors import UsageError, nearest
from proctor.paths import cassette_name
from proctor.proxy.faulting import check_recorded
from proctor.proxy.worlds import seed_of
from proctor.wire import SessionSpec


def check_overlay(spec: SessionSpec) -> None:
    """Raise UsageError where an overlay would be recorded, or is for a service that no tape answers."""
    if spec.overlay and not {"record", "new_episodes"}.isdisjoint(spec.modes.values()):
        raise UsageError("overlay_recorded", "what an overlay changes is never recorded", "replay, or leave it out")
    for patch in spec.overlay:
        if spec.modes.get(patch.service) != "replay":
            known = [name for name, mode in spec.modes.items() if mode == "replay"]
            raise UsageError(
                "overlay_unknown_service", f"overlay {patch.told}: no tape answers it", nearest(patch.service, known)
            )


def check_faults(spec: SessionSpec) -> None:
    """Raise UsageError where a fault would have to be recorded, or is for a service that the session does not have."""
    for fault in spec.faults.fault if spec.faults else ():
        check_recorded(fault, spec.modes.values())
        if fault.service and fault.service not in spec.modes:
            told = f'fault {fault.told}: the session has no service "{fault.service}"'
            raise UsageError("fault_unknown_service", told, nearest(fault.service, spec.modes))


def completed(spec: SessionSpec) -> SessionSpec:
    """The spec with plain names, its worlds' seed, and the tape that answers while others are recorded.

    Raises UsageError.
    """
    modes = set(spec.modes.values())
    takes = {"record", "replay"} <= modes
    if spec.over and not takes:
        raise UsageError(
            "nothing_taken_over",
            f"no service is answered by {spec.over} while others are recorded",
            "name the ones to be recorded: --only llm",
        )
    if spec.again and modes - {"record", "live", "world"}:
        raise UsageError("again_replays", "a tape is recorded again from the real services only", "leave out replay")
    over = cassette_name(spec.over or spec.cassette) if takes else ""
    plain = spec.model_copy(update={"cassette": cassette_name(spec.cassette), "over": over})
    return plain.model_copy(update={"seed": seed_of(plain)}) if "world" in modes else plain
