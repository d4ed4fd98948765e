"""Where a project's files lie, and which names may become paths."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from proctor.errors import CassetteError, UsageError

_LONGEST = 200
_PART = re.compile(r"[\w][\w.@+-]*")


@dataclass(frozen=True, slots=True)
class Layout:
    """The folders of one project, below the folder of its `proctor.toml`."""

    root: Path

    @property
    def cassettes(self) -> Path:
        """Tapes: in git, reviewed."""
        return self.root / "cassettes"

    @property
    def state(self) -> Path:
        """`.proctor/`: journals, traces and what sealing put aside; never in git."""
        return self.root / ".proctor"

    @property
    def journals(self) -> Path:
        """The only files that ever hold clear credentials (0600)."""
        return self.state / "journals"

    @property
    def sessions(self) -> Path:
        """One folder a session: its trace and summary."""
        return self.state / "sessions"

    @property
    def tape_cache(self) -> Path:
        """Derived caches of large tapes; safe to delete."""
        return self.state / "cache" / "tapes"

    @property
    def judge(self) -> Path:
        """Verdicts with their records, the replies they rest on, and the salt of the fences."""
        return self.state / "judge"

    def lock(self, name: str) -> Path:
        """The lock of the named tape."""
        return self.state / "locks" / f"{cassette_name(name).replace('/', '--')}.lock"

    @property
    def aside(self) -> Path:
        """Recordings that sealing refused, each with its reason."""
        return self.state / "aside"

    def cassette(self, name: str) -> Path:
        """The file of the named tape; UsageError for a name that is no plain path below `cassettes/`."""
        return self.cassettes / f"{cassette_name(name)}.yaml"

    def confined_cassette(self, name: str) -> Path:
        """`cassette(name)` with links followed. Raises CassetteError where that leads out of the project."""
        path = self.cassette(name)
        try:
            real = path.resolve()
        except (OSError, RuntimeError) as error:
            raise CassetteError("cassette_link", f"{path}: its links lead nowhere: {error}", "mend the link") from None
        if not real.is_relative_to(self.root.resolve()):
            raise CassetteError(
                "cassette_outside",
                f"{path} leads to {real}, outside the project {self.root}",
                "keep tapes inside the project: put the folder there instead of a link",
            )
        if real.is_dir():
            raise CassetteError("cassette_is_folder", f"{path} is a folder, not a tape", "name a tape in it")
        return real

    def cassette_names(self) -> list[str]:
        """Every tape of the project, sorted, as `--cassette` takes it."""
        found = self.cassettes.rglob("*.yaml")
        return sorted(path.relative_to(self.cassettes).with_suffix("").as_posix() for path in found)

    def ensure_state(self) -> None:
        """Make `.proctor/` with the ignore file that keeps it out of git, wherever the project's own ends."""
        self.state.mkdir(exist_ok=True)
        ignore = self.state / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")


def cassette_name(name: str) -> str:
    """`name` without the endings and folder people type (`cassettes/x.yaml` is `x`); UsageError if it climbs out."""
    plain = name.removesuffix(".yaml").removeprefix("./").removeprefix("cassettes/")
    parts = plain.split("/")
    if len(plain.encode()) > _LONGEST or not all(_PART.fullmatch(part) for part in parts):
        raise UsageError(
            "cassette_name",
            f'"{name}" cannot name a cassette: use letters, digits, ".", "-", "_" and "/" below cassettes/',
        )
    return plain
