"""Changes of a commit to its branch: paths that differ, paths that go, and edits of others that stay or are lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from commodore.base.errors import InputError, PolicyError
from commodore.base.events import Announce, Warned
from commodore.base.printable import printable
from commodore.core.sources.git import redact
from commodore.hydrate.branches import layout
from commodore.hydrate.branches.edits import Edit, as_text
from commodore.hydrate.branches.files import EXECUTABLE, FILE, Entry
from commodore.hydrate.branches.records import Owned
from commodore.hydrate.model import CommitRequest, PathCounts, PathOutput, Writing

_FEW = 3
"""Paths that may go without being asked about."""


@dataclass(frozen=True, slots=True)
class Base:
    """The state that a commit is to stand on.

    Attributes:
        entries: the files of the commit that it stands on.
        owned: its output paths, by whose they are.
        counts: how the objects that are wanted differ from those that are there, by output path.
        edits: files that others have changed since they were hydrated.
    """

    entries: Mapping[str, Entry]
    owned: Owned
    counts: Mapping[str, PathCounts]
    edits: Mapping[str, Edit]


@dataclass(frozen=True, slots=True)
class Change:
    """The change that a commit makes to its base.

    Attributes:
        paths: what is written.
        removed: output paths that go.
        edited: output paths that stay as others have edited them, with the last commit at which they were as hydrated.
    """

    paths: tuple[PathOutput, ...]
    removed: tuple[str, ...]
    edited: Mapping[str, str]


def change_of(request: CommitRequest, base: Base, writing: Writing, announce: Announce) -> Change:
    """The change that brings a branch to what is wanted.

    Raises:
        PolicyError: CMD-HYD-007, something else than a folder is in the way; CMD-HYD-031, too much would go;
            CMD-HYD-047, edits of others would be lost.
        InputError: CMD-HYD-022, a path would become empty.
    """
    edits = base.edits
    changed = [path for path in request.paths if _is_changed(path, base, writing, announce)]
    removed = base.owned.stale if writing.removal == "delete" else ()
    lost = {item.path for item in changed} | set(removed)
    # A manifest that was edited to what its sources render by now is settled; a README is nothing but what it was.
    lost |= {path.path for path in request.paths if path.path in edits and not edits[path.path].is_of_manifest}
    lost &= edits.keys()
    rendered = {path.path for path in request.paths}
    edited = {path: edit.base for path, edit in edits.items() if path not in rendered}
    if lost:
        _judge_edits({path: edits[path] for path in sorted(lost)}, request, writing, announce)
        if writing.edited == "keep":
            edited |= {path: edits[path].base for path in lost}
            changed = [item for item in changed if item.path not in lost]
            removed = tuple(path for path in removed if path not in lost)
        else:
            lost |= {item.path for item in changed}
            changed = [path for path in request.paths if path.path in lost]
    if removed:
        _check_removal(base.owned, removed, request, writing)
    return Change(tuple(changed), tuple(removed), {path: edited[path] for path in edited if path not in removed})


def _is_changed(output: PathOutput, base: Base, writing: Writing, announce: Announce) -> bool:
    counts = base.counts[output.path]
    _check_free(output.path, base.entries)
    if not output.objects:
        _check_empty(output.path, counts, writing, announce)
    missing = not all(f"{output.path}/{name}" in base.entries for name in layout.FILES)
    if writing.rewrite or missing or output.path in writing.adopt:
        return True
    dropped = set(base.owned.ours.get(output.path, ())) - set(layout.FILES)
    return bool(dropped) or counts.differs


def _check_free(path: str, entries: Mapping[str, Entry]) -> None:
    folders = [path, *(str(parent) for parent in PurePosixPath(path).parents if str(parent) != ".")]
    blocked = [folder for folder in folders if folder in entries]
    files = [f"{path}/{name}" for name in layout.FILES] + [layout.METADATA, layout.ATTRIBUTES]
    blocked += [file for file in files if file in entries and entries[file].mode not in (FILE, EXECUTABLE)]
    blocked += [file for file in files if any(other.startswith(f"{file}/") for other in entries)]
    if blocked:
        raise PolicyError(
            "CMD-HYD-007",
            f"{printable(blocked[0])} is in the way of what is hydrated to {printable(path)}",
            hint="it is a link, a submodule, a file or a folder of others; remove it, or hydrate to another path",
        )


def _check_empty(path: str, counts: PathCounts, writing: Writing, announce: Announce) -> None:
    if counts.removed and not writing.allow_empty:
        raise InputError(
            "CMD-HYD-022",
            f"nothing is rendered for {path} any more, where objects were before",
            hint="see whether the source is still right; if that is meant, add --allow-empty",
        )
    announce(Warned("CMD-HYD-021", f"nothing is rendered for {path}", hint="see whether the source is the right one"))


def _judge_edits(lost: Mapping[str, Edit], request: CommitRequest, writing: Writing, announce: Announce) -> None:
    """Refuse to write over edits of others, or say what is done with them."""
    shown = as_text(lost)
    branch = f"{request.branch} of {redact(request.url)}"
    if writing.edited == "refuse":
        raise PolicyError(
            "CMD-HYD-047",
            f"others have edited what is hydrated to the branch {branch}: {shown}",
            hint="move the edits to the sources, then add --edited overwrite, or add --edited keep to leave them",
        )
    if writing.edited == "keep":
        announce(kept_warning(lost, branch))
    else:
        announce(
            Warned(
                "CMD-HYD-032",
                f"--edited overwrite writes over edits of others on the branch {branch}: {shown}",
                hint="the edits are in the history of the branch; change the sources, not what is rendered of them",
            )
        )


def _check_removal(owned: Owned, removed: Sequence[str], request: CommitRequest, writing: Writing) -> None:
    """See that not most of a branch goes at once, nor all of one to which no Application writes any more."""
    gone = len(removed)
    is_little = bool(request.scope.written) and (gone <= _FEW or gone * 2 <= len(owned.ours))
    if writing.allow_mass_removal or is_little:
        return
    raise PolicyError(
        "CMD-HYD-031",
        f"{gone} of {len(owned.ours)} output paths of the branch {request.branch} of {redact(request.url)} would be"
        " removed",
        hint="see whether all Applications were found; if that is meant, add --allow-mass-removal",
    )


def warn_of_paths(owned: Owned, request: CommitRequest, writing: Writing, announce: Announce) -> None:
    """Warn of output paths that no Application writes any more, and of those that another program has hydrated."""
    branch = f"{request.branch} of {redact(request.url)}"
    if owned.stale and writing.removal == "report":
        announce(stale_warning(owned.stale, branch))
    foreign = [path for path in owned.foreign if path in {item.path for item in request.paths}]
    if foreign and writing.removal != "keep":
        announce(
            Warned(
                "CMD-HYD-034",
                f"another program has hydrated {', '.join(foreign)} of the branch {branch}",
                hint=f"add {' '.join(f'--adopt {path}' for path in foreign)} to take over its files",
            )
        )


def stale_warning(paths: Iterable[str], branch: str) -> Warned:
    """The warning about output paths that no Application writes any more."""
    return Warned(
        "CMD-HYD-030",
        f"no Application writes any more to {', '.join(paths)} of the branch {branch}",
        hint="add --removed delete to remove what was written there, or --removed keep to keep it silently",
    )


def kept_warning(edits: Mapping[str, Edit], branch: str) -> Warned:
    """The warning about edits of others that stay."""
    return Warned(
        "CMD-HYD-048",
        f"edits of others stay on the branch {branch}, which is not what its sources render: {as_text(edits)}",
        hint="move them to the sources, then run with --edited overwrite",
    )
