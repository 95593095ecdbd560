"""The content of a path, and a change of it that can be made, undone and recorded."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BYTES = "latin-1"


@dataclass(frozen=True, slots=True)
class State:
    """The content of a path: a file with its mode, or a symbolic link; None if the path does not exist."""

    content: bytes
    mode: int = 0o644
    link: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"content": self.content.decode(_BYTES), "mode": self.mode, "link": self.link}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> State:
        return cls(value["content"].encode(_BYTES), value["mode"], value["link"])


@dataclass(frozen=True, slots=True)
class Change:
    """One path that gets another state.

    Attributes:
        target: "source NAME" (a repository), "work" (the working directory) or "cluster" (the API's answer).
        path: the path in the target.
        before: the state before; None: nothing is there.
        after: the state after.
        kind: what was done, for people.
        keep_time: the file keeps its time of change.
    """

    target: str
    path: str
    before: State | None
    after: State | None
    kind: str
    keep_time: bool = False

    def undone(self) -> Change:
        return Change(self.target, self.path, self.after, self.before, f"undo of: {self.kind}", self.keep_time)

    def __str__(self) -> str:
        return f"{self.target}: {self.path}: {self.kind}"

    def to_json(self) -> dict[str, Any]:
        states = {"before": self.before, "after": self.after}
        return {
            "target": self.target,
            "path": self.path,
            "kind": self.kind,
            "keep_time": self.keep_time,
            **{name: state and state.to_json() for name, state in states.items()},
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Change:
        before, after = (value[name] and State.from_json(value[name]) for name in ("before", "after"))
        return cls(value["target"], value["path"], before, after, value["kind"], value["keep_time"])


def look(path: Path) -> State | None:
    """Return the content of a path; None for a folder."""
    if path.is_symlink():
        return State(os.fsencode(path.readlink()), link=True)
    if not path.is_file():
        return None
    return State(path.read_bytes(), path.stat().st_mode & 0o777)


def put(path: Path, state: State | None, *, keep_time: bool = False) -> None:
    """Let a path hold this: by a rename, as editors do it, or written in place if the time is to stay."""
    times = path.lstat() if keep_time and path.exists() else None
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    if state is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if state.link or times is None:
        beside = path.with_name(f".{path.name}.new")
        beside.unlink(missing_ok=True)
        if state.link:
            beside.symlink_to(os.fsdecode(state.content))
        else:
            beside.write_bytes(state.content)
            beside.chmod(state.mode)
        beside.replace(path)
    else:
        path.write_bytes(state.content)
        path.chmod(state.mode)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
