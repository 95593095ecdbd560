"""Index of a clone: stage everything, and read changes against HEAD."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.base.files.tree import files
from commodore.base.files.workspace import guard_disk, write_atomically
from commodore.core.sources.git.runner import Git
from commodore.core.sources.git.urls import shown

# Only the repository's own ignore rules count; a user's global ones would change what is published.
_SETTINGS = ("core.excludesFile=/dev/null", "core.safecrlf=false")
_RENAME_LIMIT = 1000  # files compared for renames; above it git finds exact renames only
_LINK, _FILE, _EXECUTABLE = "120000", "100644", "100755"
# These attributes override all others, and are set before the first checkout: files in the working copy equal those in
# the commits, and no filter program of the user is started for a name that a repository has chosen.
_NO_FILTERS = b"* -text -ident !eol !filter !working-tree-encoding\n"

Entry = tuple[str, str]
"""A file in git: its mode, like `100644`, and the id of its content."""


@dataclass(frozen=True, slots=True)
class RawChange:
    """One changed path of the index.

    Attributes:
        status: `A` added, `C` copied, `D` deleted, `M` modified, `R` renamed, `T` type changed.
        similarity: of copies and renames, in per cent; else None.
        old_path, new_path: relative to the root; None on the side that does not exist.
        old_blob, new_blob: object ids; None on the side that does not exist.
        old_mode, new_mode: like `100644`; None on the side that does not exist.
    """

    status: str
    similarity: int | None
    old_path: str | None
    new_path: str | None
    old_blob: str | None
    new_blob: str | None
    old_mode: str | None
    new_mode: str | None


def stage_all(folder: Path, context: Context) -> None:
    """Stage additions (except ignored files), modifications and deletions of the whole working copy.

    Raises:
        PolicyError: a merge is unfinished; the message names the first path.
    """
    arguments = ["ls-files", "--unmerged", "-z"]
    unmerged = Git(folder, context).run(arguments).text
    if unmerged:
        path = unmerged.split("\0")[0].partition("\t")[2]
        raise PolicyError(
            "CMD-GIT-052",
            f"{folder} has an unfinished merge: '{shown(path)}' is in conflict",
            hint="finish or abort the merge, then run again",
            locations=[str(folder)],
        )
    Git(folder, context).run(["add", "--all", "--", "."], settings=_SETTINGS)


def disregard_attributes(folder: Path) -> None:
    """Disable attributes of a clone's commits and of the user, which would change files on checkout and commit.

    Raises:
        EnvironmentFault: the operating system refused.
        PolicyError: CMD-WORK-007, git's own folder is a link.
    """
    write_atomically(folder / ".git" / "info" / "attributes", _NO_FILTERS, root=folder)


def stage_exactly(
    folder: Path, roots: Sequence[str], is_own: Callable[[str], bool], context: Context
) -> dict[str, Entry]:
    """Stage the files below these folders as they are in the working copy, byte by byte, regardless of `.gitignore`,
    attributes, submodules and flags of the index.

    Args:
        roots: folders at the top of the working copy, which need not exist.
        is_own: selects the paths to stage; others stay as they are staged.

    Returns:
        The staged entries of these folders, by path.

    Raises:
        EnvironmentFault: git fails, or a file cannot be read.
    """
    git = Git(folder, context)
    listed = git.run(["ls-files", "--stage", "-z", "--", *roots]).text.split("\0")[:-1]
    staged = {path: (mode, sha) for line in listed for (mode, sha, _), path in [_parts(line)] if is_own(path)}
    known = next(iter(staged.values()), None)
    algorithm = _algorithm(len(known[1])) if known else git.ask("rev-parse", "--show-object-format") or "sha1"
    contents = _read_files(folder, [name for name in roots if not (folder / name).is_symlink()], is_own)
    entries = {path: (mode, _blob_id(content, algorithm)) for path, (mode, content) in contents.items()}
    differing = {path: entry for path, entry in entries.items() if staged.get(path) != entry}
    gone = sorted(staged.keys() - entries.keys())
    if differing or gone:
        blobs = (
            b"blob\ndata %d\n%s\n" % (len(content), content) for content in (contents[path][1] for path in differing)
        )
        git.run(["fast-import", "--quiet"], input=b"".join(blobs))
        none = "0" * hashlib.new(algorithm, usedforsecurity=False).digest_size * 2
        lines = [f"0 {none}\t{path}\0" for path in gone]  # first, so that no submodule is where a folder must be
        lines += [f"{mode} {sha}\t{path}\0" for path, (mode, sha) in sorted(differing.items())]
        git.run(["update-index", "-z", "--index-info"], input="".join(lines).encode("utf-8", "surrogateescape"))
    return entries


def committed_files(
    folder: Path, commit: str, roots: Sequence[str], is_own: Callable[[str], bool], context: Context
) -> dict[str, Entry]:
    """Return the entries of a commit below some top-level folders, as `stage_exactly` does."""
    arguments = ["ls-tree", "-r", "-z", "--full-tree", commit, "--", *roots]
    listed = Git(folder, context).run(arguments).text.split("\0")[:-1]
    return {path: (mode, sha) for line in listed for (mode, _, sha), path in [_parts(line)] if is_own(path)}


def _parts(line: str) -> tuple[list[str], str]:
    head, _, path = line.partition("\t")
    return head.split(" "), path


def _algorithm(digits: int) -> str:
    return "sha256" if digits == 64 else "sha1"


def _read_files(folder: Path, roots: Sequence[str], is_own: Callable[[str], bool]) -> Mapping[str, tuple[str, bytes]]:
    contents = {}
    with guard_disk(folder):
        for root in roots:
            for name, place in files(folder / root, links=True):
                path = f"{root}/{name}"
                if not is_own(path):
                    continue
                if place.is_symlink():
                    contents[path] = _LINK, os.fsencode(os.readlink(place))
                else:
                    is_program = place.stat().st_mode & stat.S_IXUSR
                    contents[path] = _EXECUTABLE if is_program else _FILE, place.read_bytes()
    return contents


def _blob_id(content: bytes, algorithm: str) -> str:
    digest = hashlib.new(algorithm, b"blob %d\0" % len(content), usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest()


def staged_changes(folder: Path, context: Context) -> list[RawChange]:
    """Return the changes of the index against HEAD (against nothing before the first commit), sorted by path.

    Renames are detected at git's default similarity of 50 %.
    """
    arguments = ["diff", "--cached", "--raw", "-z", "--no-abbrev", "--find-renames=50%", f"-l{_RENAME_LIMIT}"]
    arguments += ["--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--no-relative"]
    fields = iter(Git(folder, context).run(arguments).text.split("\0"))
    changes = []
    for header in fields:
        if not header:
            continue
        old_mode, new_mode, old_blob, new_blob, status = header.removeprefix(":").split(" ")
        old_path = next(fields)
        new_path = next(fields) if status[0] in "RC" else old_path
        old, new = status[0] != "A", status[0] != "D"
        changes.append(
            RawChange(
                status[0],
                int(status[1:]) if status[1:] else None,
                old_path if old else None,
                new_path if new else None,
                old_blob if old else None,
                new_blob if new else None,
                old_mode if old else None,
                new_mode if new else None,
            )
        )
    return sorted(changes, key=lambda change: (change.new_path or change.old_path or "", change.status))


def read_blobs(folder: Path, ids: Iterable[str], context: Context) -> dict[str, bytes]:
    """Return the contents of objects by id, all read by one git process.

    Raises:
        EnvironmentFault: an object is missing.
    """
    names = sorted(set(ids))
    if not names:
        return {}
    text = "".join(f"{name}\n" for name in names)
    answer = Git(folder, context).run(["cat-file", "--batch"], input=text.encode()).stdout
    blobs: dict[str, bytes] = {}
    place = 0
    for name in names:
        end = answer.index(b"\n", place)
        header = answer[place:end].decode().split(" ")
        if len(header) != 3:
            raise EnvironmentFault(
                "CMD-GIT-055",
                f"the object {shown(name)} is missing in {folder}",
                hint="remove the folder, so that it is cloned again",
            )
        size = int(header[2])
        blobs[name] = answer[end + 1 : end + 1 + size]
        place = end + 1 + size + 1
    return blobs
