"""Copy the rendered files of all instances into one tree."""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import stat
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from commodore.base import events
from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, PolicyError, raise_all
from commodore.base.files.tree import children, files
from commodore.base.files.workspace import guard_disk
from commodore.base.kubernetes import ObjectKey
from commodore.base.printable import printable
from commodore.catalog._same import holds

_TWINS_SHOWN: Final = 5

Compiled = Sequence[tuple[str, Path]]
"""Instance names with the folders of their rendered files."""


@dataclass(frozen=True, slots=True)
class _Rendered:
    """A rendered file: its instance, its current path without links, and its path in the tree."""

    instance: str
    source: Path
    path: str


def assemble(compiled: Compiled, destination: Path, context: Context, current: Path | None = None) -> Path:
    """Copy the files of all instances to `destination`, which the caller swaps into place.

    Files are copied, not linked: edits in the catalog must not change compiled output or a cache. Links in the
    output are followed if they stay in their instance's folder. Empty folders are skipped, as in git.

    Args:
        compiled: instances and their folders; a missing folder has no files.
        destination: created if it is missing; files in it are overwritten.
        context: announces conflicts that are allowed, where the last instance in name order wins, and names that are
            almost equal (CMD-CAT-007).
        current: a tree that may have all these files already.

    Returns:
        the folder with the files: `current` if it has exactly these files, so that nothing was copied; else
        `destination`.

    Raises:
        InputError: CMD-CAT-001, instances write different bytes to one file; CMD-CAT-006, a file of one instance is a
            folder of another; CMD-CAT-003, an entry is neither a file nor a folder. All of them are reported.
        PolicyError: CMD-CAT-002, a link leads out of the instance's folder or to itself; CMD-CAT-004, a file would
            end up in a repository's own folder.
        EnvironmentFault: the operating system refused.
    """
    errors: list[CommodoreError] = []
    files: list[_Rendered] = []
    for instance, folder in sorted(compiled):
        with guard_disk(folder):
            if folder.is_dir():
                root = folder.resolve()
                files += _rendered(instance, root, root, "", (root,), errors)
    chosen, conflicts = _collisions(files)
    raise_all(errors + context.problems(conflicts))
    _warn_of_twins([file.path for file in chosen], context)
    if current is not None and holds(current, {file.path: file.source for file in chosen}):
        return current
    with guard_disk(destination):
        destination.mkdir(parents=True, exist_ok=True)
        for parent in sorted({parent for file in chosen for parent in PurePosixPath(file.path).parents}):
            (destination / parent).mkdir(exist_ok=True)
        for file in chosen:
            target = destination / file.path
            shutil.copyfile(file.source, target)
            executable = file.source.stat().st_mode & stat.S_IXUSR
            target.chmod(0o755 if executable else 0o644)  # independent of the umask; git stores these two modes
    return destination


def _rendered(
    instance: str, folder: Path, root: Path, prefix: str, above: tuple[Path, ...], errors: list[CommodoreError]
) -> Iterator[_Rendered]:
    """Yield the files below `folder`, in name order.

    Args:
        instance: their instance.
        folder: the folder to search, without links.
        root: the instance's folder without links, which no link may leave.
        prefix: the path of `folder` in the tree, with a slash at its end unless it is empty.
        above: this folder and the folders above it; a link to one of them would be endless.
        errors: errors are added to it.
    """
    for entry in children(folder):
        path = f"{prefix}{entry.name}"
        real = Path(os.path.realpath(entry.path) if entry.is_symlink() else entry.path)
        if entry.name.lower() == ".git":
            errors.append(_repository_inside(instance, path))
        elif entry.is_symlink() and (not real.is_relative_to(root) or real in above):
            errors.append(_stray_link(instance, path, entry.path))
        elif real.is_dir():
            yield from _rendered(instance, real, root, f"{path}/", (*above, real), errors)
        elif real.is_file():
            yield _Rendered(instance, real, path)
        else:
            errors.append(_no_file(instance, path, entry.path))


def _collisions(files: list[_Rendered]) -> tuple[list[_Rendered], list[CommodoreError]]:
    """Return the file to use for each path, which is that of the last instance, and every conflict.

    Instances that write the same bytes to one file do not conflict: if one of them is removed from the cluster, the
    others still write it.
    """
    owners: dict[str, list[_Rendered]] = {}
    folders: dict[str, dict[str, None]] = {}
    for file in files:
        owners.setdefault(file.path, []).append(file)
        for parent in PurePosixPath(file.path).parents:
            folders.setdefault(str(parent), {})[file.instance] = None
    differing: dict[tuple[str, ...], list[str]] = {}
    errors: list[CommodoreError] = []
    for path, own in owners.items():
        if any(not _is_same(own[0].source, other.source) for other in own[1:]):
            differing.setdefault(tuple(file.instance for file in own), []).append(path)
        errors += [_file_and_folder(own[0].instance, other, path) for other in folders.get(path, {})]
    if differing:
        errors.append(_conflict(differing))
    return [own[-1] for own in owners.values()], errors


def _warn_of_twins(paths: Sequence[str], context: Context) -> None:
    """Warn about names in one folder that differ in case or in the form of letters only (CMD-CAT-007)."""
    names: dict[str, None] = {}
    for path in paths:
        while path and path not in names:
            names[path] = None
            path = path.rpartition("/")[0]
    alike: dict[tuple[str, str], list[str]] = {}
    for path in names:
        folder, _, name = path.rpartition("/")
        plain = name if name.isascii() else unicodedata.normalize("NFC", name)
        alike.setdefault((folder, plain.casefold()), []).append(path)
    twins = sorted(" and ".join(sorted(same)) for same in alike.values() if len(same) > 1)
    if twins:
        more = f", and {len(twins) - _TWINS_SHOWN} more" if len(twins) > _TWINS_SHOWN else ""
        context.announce(
            events.Warned(
                "CMD-CAT-007",
                f"some file systems take these names for one: {printable(', '.join(twins[:_TWINS_SHOWN]))}{more}",
                hint="give the files names that differ in more than case or the form of letters",
            )
        )


def _is_same(path: Path, other: Path) -> bool:
    with guard_disk(other):
        executable = [bool(file.stat().st_mode & stat.S_IXUSR) for file in (path, other)]
        return executable[0] == executable[1] and filecmp.cmp(path, other, shallow=False)


_BLOCK_END: Final = re.compile(rb"\n(?=\S)")


def warn_about_objects(compiled: Compiled, context: Context) -> None:
    """Warn about Kubernetes objects that two instances both render (CMD-CAT-005).

    The object's identity is read from the text of block-style YAML, which all rendered manifests have, without
    parsing it. Objects in other styles and in lists are not checked.

    Args:
        compiled: instances and their folders.
        context: announces one warning per object and pair of instances.

    Raises:
        EnvironmentFault: a file cannot be read.
    """
    owners: dict[ObjectKey, str] = {}
    for instance, folder in sorted(compiled):
        with guard_disk(folder):
            for key in _objects(folder):
                owner = owners.setdefault(key, instance)
                if owner != instance:
                    context.announce(
                        events.Warned(
                            "CMD-CAT-005",
                            f"the instances {owner} and {instance} both render the object {key}",
                            "give one of them another name; components can use the parameter _instance for that",
                        )
                    )


def _objects(folder: Path) -> Iterator[ObjectKey]:
    """Return the keys of the objects in a folder, each once."""
    keys: dict[ObjectKey, None] = {}
    for name, file in files(folder):
        if name.endswith((".yaml", ".yml")):
            for document in b"\n".join((b"", file.read_bytes(), b"")).split(b"\n---"):
                if key := _key(document):
                    keys[key] = None
    return iter(keys)


def _key(document: bytes) -> ObjectKey | None:
    """Return the key of an object from its YAML text, which begins with a newline."""
    start = document.find(b"\nmetadata:\n")
    if start < 0:
        return None
    end = _BLOCK_END.search(document, start + 1)
    metadata = document[start : end.start() + 1 if end else None]
    kind, name = _field(document, b"kind"), _field(metadata, b"  name")
    group, slash, _ = _field(document, b"apiVersion").rpartition("/")
    return ObjectKey(group if slash else "", kind, _field(metadata, b"  namespace"), name) if kind and name else None


def _field(lines: bytes, name: bytes) -> str:
    """Return the scalar after a name at the beginning of a line, without quotes; empty if it is missing."""
    start = lines.find(b"\n" + name + b": ")
    if start < 0:
        return ""
    end = lines.find(b"\n", start + 1)
    return lines[start + len(name) + 3 : end if end >= 0 else None].strip(b" \r'\"").decode("utf-8", "replace")


def _conflict(differing: Mapping[tuple[str, ...], Sequence[str]]) -> CommodoreError:
    """Return one error for all conflicts, grouped by instances."""
    listed = "; ".join(
        f"{', '.join(instances)} write {', '.join(map(repr, paths))}" for instances, paths in differing.items()
    )
    return InputError(
        "CMD-CAT-001",
        f"instances write different contents to the same files of the catalog: {listed}",
        hint="let the component write to an output path that contains the parameter _instance",
    )


def _file_and_folder(instance: str, other: str, path: str) -> CommodoreError:
    return InputError(
        "CMD-CAT-006",
        f"the instances {instance} and {other} conflict in the catalog: "
        f"the first writes the file {path!r}, the second a folder of that name",
        hint="let the component write to an output path that contains the parameter _instance",
    )


def _stray_link(instance: str, path: str, entry: str) -> CommodoreError:
    return PolicyError(
        "CMD-CAT-002",
        f"the output {path!r} of instance {instance} is a link that leads out of the instance's folder or to itself",
        hint="let the component write a file, or link to a file of its own",
        locations=(entry,),
    )


def _no_file(instance: str, path: str, entry: str) -> CommodoreError:
    return InputError(
        "CMD-CAT-003",
        f"the output {path!r} of instance {instance} is neither a file nor a folder",
        hint="check the files that the component copies or links; a link may be broken",
        locations=(entry,),
    )


def _repository_inside(instance: str, path: str) -> CommodoreError:
    return PolicyError(
        "CMD-CAT-004",
        f"the output {path!r} of instance {instance} has a name that is reserved for git",
        hint="do not copy whole repositories into the output; name a folder in them",
    )
