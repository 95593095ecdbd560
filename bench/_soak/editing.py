"""Random edits of files: of their text, of what they are, and of what stands before them in a search path."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from _soak.changes import Change, State, look

# Git's own folders, in working copies and in working directories.
_GITS = frozenset({".git", ".repos"})
_NUMBER = re.compile(rb"\d+")
_WORD = re.compile(rb"[A-Za-z]{3,}")

# A folder in which files are edited: what it is called, where it lies, and which of its files.
Target = tuple[str, Path, Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Spot:
    """A file that is edited: the target's name and folder, the path in it, and what is there."""

    rng: random.Random
    name: str
    folder: Path
    path: str
    before: State
    exact: bool


_Kind = Callable[[_Spot], list[Change]]


def edit(rng: random.Random, target: Target, *, exact: bool = False) -> list[Change]:
    """One random edit of a file of the target: changes that belong together, or none if nothing came of it.

    Args:
        rng: where chance comes from.
        target: the folder; it is read, not changed.
        exact: whether modes, links and times of any kind are kept there, as git does not.
    """
    name, folder, files = target
    if not files:
        return []
    path = rng.choice(files)
    before = look(folder / path)
    if before is None:
        return []
    text = not before.link and b"\0" not in before.content and before.content.strip() != b""
    kinds: list[tuple[int, _Kind]] = [(2, _mode), (2, _link), (2, _remove), (3, _add), (2, _shadow)]
    if text:
        kinds += [(30, _number), (14, _word), (4, _drop), (4, _double), (4, _swap)]
        if exact:
            kinds += [(10, _unseen)]
    (chosen,) = rng.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])
    return [change for change in chosen(_Spot(rng, name, folder, path, before, exact)) if change.before != change.after]


def _text(spot: _Spot, content: bytes, kind: str, *, keep_time: bool = False) -> list[Change]:
    return [Change(spot.name, spot.path, spot.before, State(content, spot.before.mode), kind, keep_time)]


def _replace(spot: _Spot, pattern: re.Pattern[bytes], new: Callable[[bytes], bytes]) -> bytes:
    matches = list(pattern.finditer(spot.before.content))
    if not matches:
        return spot.before.content
    match = spot.rng.choice(matches)
    return spot.before.content[: match.start()] + new(match.group()) + spot.before.content[match.end() :]


def _number(spot: _Spot) -> list[Change]:
    content = _replace(spot, _NUMBER, lambda _: b"%d" % spot.rng.choice([0, 1, 7, spot.rng.randrange(10**5)]))
    return _text(spot, content, "number changed")


def _word(spot: _Spot) -> list[Change]:
    content = _replace(spot, _WORD, lambda word: word + spot.rng.choice([b"x", b"y", b"z"]))
    return _text(spot, content, "word changed")


def _unseen(spot: _Spot) -> list[Change]:
    def other(number: bytes) -> bytes:
        return b"%0*d" % (len(number), spot.rng.randrange(10 ** len(number)))

    content = _replace(spot, _NUMBER, other)
    return _text(spot, content, "number changed, size and time kept", keep_time=True)


def _lines(spot: _Spot) -> tuple[list[bytes], int]:
    lines = spot.before.content.splitlines(keepends=True)
    return lines, spot.rng.randrange(len(lines))


def _drop(spot: _Spot) -> list[Change]:
    lines, at = _lines(spot)
    return _text(spot, b"".join(lines[:at] + lines[at + 1 :]), f"line {at + 1} dropped")


def _double(spot: _Spot) -> list[Change]:
    lines, at = _lines(spot)
    return _text(spot, b"".join(lines[: at + 1] + lines[at:]), f"line {at + 1} doubled")


def _swap(spot: _Spot) -> list[Change]:
    lines, at = _lines(spot)
    other = spot.rng.randrange(len(lines))
    lines[at], lines[other] = lines[other], lines[at]
    return _text(spot, b"".join(lines), f"lines {at + 1} and {other + 1} swapped")


def _mode(spot: _Spot) -> list[Change]:
    if spot.before.link:
        return []
    mode = spot.rng.choice([0o600, 0o644, 0o755, 0o640] if spot.exact else [0o644, 0o755])
    return [Change(spot.name, spot.path, spot.before, State(spot.before.content, mode), f"mode {mode:o}")]


def _link(spot: _Spot) -> list[Change]:
    """Put the file elsewhere and a link to it in its place; or a file in the place of a link."""
    if spot.before.link:
        content = look((spot.folder / spot.path).resolve())
        return [Change(spot.name, spot.path, spot.before, content, "file instead of a link")] if content else []
    real = f"{spot.path}.real"
    link = State(Path(real).name.encode(), link=True)
    return [
        Change(spot.name, real, look(spot.folder / real), spot.before, "what is linked"),
        Change(spot.name, spot.path, spot.before, link, "link instead of the file"),
    ]


def _remove(spot: _Spot) -> list[Change]:
    return [Change(spot.name, spot.path, spot.before, None, "removed")]


def _add(spot: _Spot) -> list[Change]:
    """A copy under a new name in its folder, or under a name that another file has."""
    source = Path(spot.path)
    new = str(source.with_name(f"{spot.rng.choice(['another', 'zz'])}-{source.name}"))
    return [Change(spot.name, new, look(spot.folder / new), spot.before, f"copy of {spot.path}")]


def _shadow(spot: _Spot) -> list[Change]:
    """A file of the same name in another folder of the target, where imports may find it earlier."""
    folders = sorted({str(each.parent) for each in map(Path, list_files(spot.folder))} | {"lib", "."})
    new = str(Path(spot.rng.choice(folders)) / spot.rng.choice([Path(spot.path).name, spot.path]))
    if spot.before.link or (spot.folder / new).is_dir() or new == spot.path:
        return []
    content = _replace(spot, _NUMBER, lambda _: b"%d" % spot.rng.randrange(10**5))
    return [Change(spot.name, new, look(spot.folder / new), State(content, spot.before.mode), f"shadow of {spot.path}")]


def list_files(folder: Path) -> list[str]:
    """All files and links below a folder but git's own, in the order of their names."""
    files = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if _GITS.isdisjoint(parts) and (path.is_symlink() or path.is_file()):
            files.append("/".join(parts))
    return files
