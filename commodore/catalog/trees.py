"""Read the files of a catalog, or of any tree of manifests, and their objects, at a git revision or in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError
from commodore.base.files.tree import files, is_hidden
from commodore.base.files.workspace import guard_disk
from commodore.base.yaml import load_all
from commodore.core.review import PlacedObject, Review, review, tally
from commodore.core.sources.git import Git, check_version, read_blobs, staged_changes

_REFS = "refs/"
_MANIFESTS = "manifests"
_OTHER = "120000", "160000"  # links and other repositories have no objects


def read_folder(folder: Path, context: Context) -> dict[str, bytes]:
    """Read the files below a folder by path, without hidden ones, links and reference files.

    Raises:
        InputError: CMD-CAT-018, no such folder, or a file in it is too large.
        EnvironmentFault: it cannot be read.
    """
    if not folder.is_dir():
        raise InputError(
            "CMD-CAT-018", f"there is no folder {folder}", hint="name a folder with manifests, or a revision"
        )
    contents: dict[str, bytes] = {}
    with guard_disk(folder):
        for name, path in files(folder, skip=is_hidden):
            if name.startswith(_REFS):
                continue
            if path.stat().st_size > context.limits.output_file_bytes:
                raise InputError(
                    "CMD-CAT-018",
                    f"{path} is larger than {context.limits.output_file_bytes} bytes",
                    hint="name a folder with manifests only",
                )
            contents[name] = path.read_bytes()
    return contents


def read_revision(repository: Path, revision: str, context: Context) -> dict[str, bytes]:
    """Read the files at a revision by path, without hidden ones, links and reference files.

    Args:
        repository: a working copy, or a bare repository.
        revision: a branch, tag, commit or expression such as `HEAD~1`.

    Raises:
        InputError: CMD-CAT-019, no such revision.
        EnvironmentFault: it is not a repository, or git fails.
    """
    check_version(revision, "--base or --target")
    arguments = ["ls-tree", "-r", "-z", "--full-tree", f"{revision}^{{tree}}"]
    answer = Git(repository, context).run(arguments, check=False)
    if answer.returncode != 0:
        raise InputError(
            "CMD-CAT-019",
            f"{repository} has no revision {revision!r}",
            hint="name a branch, a tag or a commit of the catalog repository; `git log` lists commits",
        )
    blobs: dict[str, str] = {}
    for line in answer.text.split("\0")[:-1]:
        entry, _, path = line.partition("\t")
        mode, _, blob = entry.split(" ")
        if _is_shown(path, mode):
            blobs[path] = blob
    contents = read_blobs(repository, blobs.values(), context)
    return {path: contents[blob] for path, blob in blobs.items()}


def objects_of(tree: Mapping[str, bytes], besides: Mapping[str, bytes]) -> Iterator[PlacedObject]:
    """Yield the objects of a tree, except for files that another tree has with the same content.

    A list is replaced by its items. A file that is not YAML is one text, which is compared line by line. The source of
    an object is the instance that its folder is named after.
    """
    for path, content in tree.items():
        if besides.get(path) == content:
            continue
        parts = path.split("/")
        source = parts[1] if len(parts) > 2 and parts[0] == _MANIFESTS else ""
        for document in _documents(content, path):
            for item in _items(document):
                yield PlacedObject(item, path, source)


def _documents(content: bytes, path: str) -> list[Any]:
    try:
        if path.endswith((".yaml", ".yml", ".json")):
            return [document for document in load_all(content, place=path) if document is not None]
    except CommodoreError:
        pass  # shown as text
    return [content.decode("utf-8", "replace")]


def _items(document: Any) -> list[Any]:
    if isinstance(document, dict) and str(document.get("kind", "")).endswith("List"):
        items = document.get("items")
        if isinstance(items, list):
            return items
    return [document]


def review_staged(folder: Path, context: Context, *, shown: bool) -> Review:
    """Compare the staged objects of a working copy with those of its HEAD, which may be unborn.

    Args:
        shown: whether the changes are shown; else they are only counted, which is much faster.

    Raises:
        EnvironmentFault: git fails.
    """
    changes = staged_changes(folder, context)
    old = {change.old_path: change.old_blob for change in changes if _is_shown(change.old_path, change.old_mode)}
    new = {change.new_path: change.new_blob for change in changes if _is_shown(change.new_path, change.new_mode)}
    contents = read_blobs(folder, (blob for blob in (*old.values(), *new.values()) if blob), context)
    before, after = (
        {path: contents[blob] for path, blob in side.items() if path is not None and blob is not None}
        for side in (old, new)
    )
    return (review if shown else tally)(objects_of(before, after), objects_of(after, before))


def review_trees(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Review:
    """Compare the objects of two trees."""
    return review(objects_of(old, new), objects_of(new, old))


def _is_shown(path: str | None, mode: str | None) -> bool:
    if path is None or mode in _OTHER or path.startswith(_REFS):
        return False
    return not any(part.startswith(".") for part in path.split("/"))
