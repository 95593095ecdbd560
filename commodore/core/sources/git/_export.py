"""Write the files of a commit to a folder, without a working copy."""

from __future__ import annotations

import io
import posixpath
import tarfile
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import InputError
from commodore.base.files.workspace import folder_beside, guard_disk, is_inside, replace_tree
from commodore.core.sources.git.runner import Git
from commodore.core.sources.git.urls import shown

# `git archive` applies the user's filters; those of large-file storage would access the network.
_WITHOUT_LFS = ("filter.lfs.smudge=", "filter.lfs.process=", "filter.lfs.required=false")
_SETTINGS = (*_WITHOUT_LFS, "tar.umask=0022")
# A checkout of all files with a separate index: nothing is written into the repository.
_WHOLE = (*_WITHOUT_LFS, "core.sparseCheckout=false", "core.splitIndex=false")


def write_tree(bare: Path, sha: str, subdir: str, destination: Path, context: Context, *, place: str) -> None:
    """Write the files of a commit of any repository, bare or not, to a folder: see `Repository.export_tree`.

    Args:
        place: the repository's name in messages.
    """
    folder = _clean_subdir(subdir, place)
    arguments = ["--literal-pathspecs", "archive", "--format=tar", sha]
    if folder:
        kind = Git(bare, context).run(["cat-file", "-t", f"{sha}:{folder}"], check=False)
        if kind.text != "tree":
            raise InputError(
                "CMD-GIT-033",
                f"the commit {sha[:10]} of {place} has no folder '{shown(folder)}'",
                hint="check the sub-path and the version",
            )
        arguments += ["--", folder]
    archive = Git(bare, context).run(arguments, settings=_SETTINGS)
    with folder_beside(destination, parents=True) as fresh:
        with guard_disk(destination):
            _unpack(archive.stdout, folder, fresh, place)
        replace_tree(fresh, destination)


def check_out_tree(repository: Path, sha: str, destination: Path, context: Context) -> None:
    """Write the files of a commit of any repository, bare or not, to a new folder, as `git checkout` does.

    Attributes that concern archives (`export-ignore`, `export-subst`) have no effect, and links are written as they
    are, wherever they lead. Submodules are empty folders. The repository, its index and its checkout stay as they are.

    Raises:
        EnvironmentFault: git fails.
    """
    with guard_disk(destination):
        destination.mkdir(parents=True)
    with folder_beside(destination) as index:
        git = Git(repository, context)
        environment = {"GIT_INDEX_FILE": str(index / "index")}
        git.run(["read-tree", sha], environment=environment, settings=_WHOLE)
        arguments = [f"--work-tree={destination}", "checkout-index", "--all"]
        git.run(arguments, environment=environment, settings=_WHOLE)


def _clean_subdir(subdir: str, place: str) -> str:
    segments = [segment for segment in subdir.split("/") if segment not in ("", ".")]
    if ".." in segments or not subdir.isprintable():
        raise InputError(
            "CMD-GIT-034",
            f"the sub-path '{shown(subdir)}' leaves the repository {place}",
            hint="a sub-path is relative to the root of its repository and does not climb with '..'",
        )
    return "/".join(segments)


_HEADER = 1024  # bytes at the start of an archive with the id of the commit


def _unpack(archive: bytes, folder: str, root: Path, place: str) -> None:
    if not archive[_HEADER:].strip(b"\0"):
        return  # a commit without files, which tarfile reports as a damaged archive
    links: list[tuple[str, str]] = []
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as members:
        for member in members:
            name = _name_below(member.name, folder)
            if name is None:
                continue
            if name.startswith("/") or ".." in name.split("/"):
                raise _leads_out(name, place)
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if member.isdir():
                path.mkdir(exist_ok=True)
                path.chmod(0o755)
            elif member.issym():
                links.append((name, member.linkname))
            elif member.isreg() and (content := members.extractfile(member)) is not None:
                path.write_bytes(content.read())
                path.chmod(0o755 if member.mode & 0o100 else 0o644)
            else:
                raise _leads_out(name, place)
    # Links come last, so that nothing is written through one, and are checked when all are there: chains may climb.
    for name, target in links:
        (root / name).symlink_to(target)
    for name, target in links:
        if posixpath.isabs(target) or not is_inside(root / name, root):
            raise _leads_out(name, place)


def _name_below(name: str, folder: str) -> str | None:
    """Return a member's path relative to the folder; None for the folder itself and members outside of it."""
    name = name.rstrip("/")
    if not folder:
        return name or None
    return name.removeprefix(folder + "/") if name.startswith(folder + "/") else None


def _leads_out(name: str, place: str) -> InputError:
    return InputError(
        "CMD-GIT-034",
        f"'{shown(name)}' in {place} leads out of the repository",
        hint="remove the path or link from the repository; links must stay within it",
    )
