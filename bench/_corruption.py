"""Damage to what a run finds from earlier ones: caches, and the notes in a working directory."""

from __future__ import annotations

import os
import random
import re
import shutil
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_NOTE = "commodore"
_HEX = re.compile(r"[0-9a-f]{2,64}")
_INSTALLED = ("vendor/.cache/installed.json",)


@dataclass(frozen=True, slots=True)
class Damage:
    """A change of files, with their contents before it; None for a file that was not there."""

    what: str
    before: tuple[tuple[Path, tuple[bytes, int] | None], ...]

    def undo(self) -> None:
        """Bring back what was there."""
        for path, known in self.before:
            _remove(path)
            if known is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                _write(path, *known)


def kept_files(cache: Path, work: Path) -> list[Path]:
    """The files of all caches, and of what a working directory has noted for the next run; in a stable order."""
    result = list(_files(cache)) + list(_files(work / ".commodore"))
    result += [work / name for name in _INSTALLED if (work / name).is_file()]
    result += [path for path in _files(work / "dependencies" / ".repos") if path.name.startswith(_NOTE)]
    return sorted(result)


def damage(rng: random.Random, files: Sequence[Path]) -> Damage:
    """Damage one of these files, or two."""
    if not files:
        raise ValueError("there is nothing to damage")
    path, other = rng.choice(files), rng.choice(files)
    kind = rng.choice(sorted(_KINDS))
    changed = _KINDS[kind](rng, path, other)
    names = " and ".join(str(value) for value, _ in changed)
    return Damage(f"{kind}: {names}", changed)


_Changed = tuple[tuple[Path, tuple[bytes, int] | None], ...]


def _flip(rng: random.Random, path: Path, _: Path) -> _Changed:
    content, mode = before = _look(path)
    wrong = bytearray(content or b"\0")
    wrong[rng.randrange(len(wrong))] ^= 1 << rng.randrange(8)
    _write(path, bytes(wrong), mode)
    return ((path, before),)


def _truncate(rng: random.Random, path: Path, _: Path) -> _Changed:
    content, mode = before = _look(path)
    _write(path, content[: rng.randrange(len(content) + 1)], mode)
    return ((path, before),)


def _empty(_: random.Random, path: Path, __: Path) -> _Changed:
    before = _look(path)
    _write(path, b"", before[1])
    return ((path, before),)


def _swap(_: random.Random, path: Path, other: Path) -> _Changed:
    item, two = _look(path), _look(other)
    _write(path, *two)
    _write(other, *item)
    return ((path, item), (other, two))


def _swap_alike(rng: random.Random, path: Path, _: Path) -> _Changed:
    """With a file of the same kind: one in its folder or at the same place of another entry."""
    folder = path.parent
    alike = [item for item in folder.iterdir() if item.is_file() and item.suffix == path.suffix and item != path]
    alike += [item / path.name for item in folder.parent.iterdir() if item != folder and (item / path.name).is_file()]
    return _swap(rng, path, rng.choice(sorted(alike)) if alike else path)


def _swap_folders(rng: random.Random, path: Path, _: Path) -> _Changed:
    """The file's folder and a sibling change their names: every file in both is at the place of another one. Only
    folders of entries, which have digests for names.
    """
    beside = sorted(item for item in path.parent.parent.iterdir() if _is_entry(item) and item != path.parent)
    if not beside or not _is_entry(path.parent):
        return _swap_alike(rng, path, path)
    folder, other = path.parent, rng.choice(beside)
    known = tuple((file, _look(file)) for file in (*_files(folder), *_files(other)))
    missing = [(other / file.relative_to(folder), None) for file in _files(folder)]
    missing += [(folder / file.relative_to(other), None) for file in _files(other)]
    aside = folder.with_name("aside")
    folder.rename(aside)
    other.rename(folder)
    aside.rename(other)
    return (*missing, *known)


def _is_entry(folder: Path) -> bool:
    return folder.is_dir() and _HEX.fullmatch(folder.name) is not None


def _copy_over(_: random.Random, path: Path, other: Path) -> _Changed:
    before = _look(path)
    _write(path, *_look(other))
    return ((path, before),)


def _add(rng: random.Random, path: Path, other: Path) -> _Changed:
    new = path.with_name(rng.choice([f"x{path.name}", other.name, "0" * 64, ".new-x", f"{'0' * 64}.result"]))
    if os.path.lexists(new):
        return _copy_over(rng, path, other)
    _write(new, *_look(other))
    return ((new, None),)


def _folder(_: random.Random, path: Path, __: Path) -> _Changed:
    before = _look(path)
    path.unlink()
    path.mkdir()
    (path / "inside").write_bytes(b"x")
    return ((path, before),)


def _link(rng: random.Random, path: Path, other: Path) -> _Changed:
    before = _look(path)
    path.unlink()
    path.symlink_to(rng.choice([str(other), "nowhere", path.name, "/dev/null", str(path.parent)]))
    return ((path, before),)


def _forbid(_: random.Random, path: Path, __: Path) -> _Changed:
    before = _look(path)
    path.chmod(0)
    return ((path, before),)


def _drop(_: random.Random, path: Path, __: Path) -> _Changed:
    before = _look(path)
    path.unlink()
    return ((path, before),)


_KINDS: dict[str, Callable[[random.Random, Path, Path], _Changed]] = {
    "a bit flipped": _flip,
    "truncated": _truncate,
    "emptied": _empty,
    "swapped": _swap,
    "swapped with one of its kind": _swap_alike,
    "folders swapped": _swap_folders,
    "another file copied over": _copy_over,
    "a foreign file added": _add,
    "replaced by a folder": _folder,
    "replaced by a link": _link,
    "permissions removed": _forbid,
    "removed": _drop,
}


def _files(folder: Path) -> Iterable[Path]:
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _look(path: Path) -> tuple[bytes, int]:
    return path.read_bytes(), stat.S_IMODE(path.stat().st_mode)


def _write(path: Path, content: bytes, mode: int) -> None:
    """A new file in the place of the old one: what has a link to that keeps it."""
    new = path.with_name(".damaging")
    new.write_bytes(content)
    new.chmod(mode)
    new.replace(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()
