"""Files of commits in a bare clone. Without a working copy, links, filters and hooks have no effect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from commodore.base.limits import Limits
from commodore.core.review import compare_trees, render
from commodore.core.sources.git import Git, read_blobs
from commodore.hydrate.branches.layout import MANIFEST, METADATA, manifest, objects_of, ordered

FILE, EXECUTABLE = "100644", "100755"


@dataclass(frozen=True, slots=True)
class Entry:
    """The mode of a file in a commit, and the id of its content."""

    mode: str
    sha: str


def entries_of(git: Git, commit: str) -> dict[str, Entry]:
    """Return all files of a commit by path; an empty mapping for an empty commit id."""
    if not commit:
        return {}
    entries = {}
    for line in git.run(["ls-tree", "-r", "-z", "--full-tree", commit]).stdout.split(b"\0"):
        if line:
            about, _, path = line.partition(b"\t")
            mode, _, sha = about.decode().split(" ")
            entries[path.decode("utf-8", "surrogateescape")] = Entry(mode, sha)
    return entries


def contents_of(git: Git, entries: Mapping[str, Entry], paths: Iterable[str]) -> dict[str, bytes]:
    """Return the contents of files of a commit by path, without missing files."""
    shas = {path: entries[path].sha for path in paths if path in entries}
    contents = read_blobs(git.folder, sorted(set(shas.values())), git.context)
    return {path: contents[sha] for path, sha in shas.items()}


def metadata_below(git: Git, entries: Mapping[str, Entry], *, root: bool = False) -> dict[str, bytes]:
    """Return the content of each `hydrator.metadata` by folder; the key of the root, if included, is empty."""
    name = f"/{METADATA}"
    paths = [path for path, entry in entries.items() if path.endswith(name) and entry.mode in (FILE, EXECUTABLE)]
    contents = contents_of(git, entries, [*paths, *([METADATA] if root else [])])
    return {path.rpartition("/")[0]: content for path, content in contents.items()}


def manifests_of(git: Git, entries: Mapping[str, Entry], paths: Iterable[str]) -> dict[str, bytes]:
    """Return the manifests of a commit by output path, without missing files."""
    contents = contents_of(git, entries, [f"{path}/{MANIFEST}" for path in paths])
    return {name.removesuffix(f"/{MANIFEST}"): content for name, content in contents.items()}


def blobs_at(git: Git, places: Iterable[str]) -> dict[str, bytes]:
    """Return the contents of files of commits by `COMMIT:PATH`, without missing files."""
    asked = [place for place in dict.fromkeys(places) if "\n" not in place]
    if not asked:
        return {}
    text = "".join(f"{place}\n" for place in asked)
    answer = git.run(["cat-file", "--batch"], input=text.encode("utf-8", "surrogateescape")).stdout
    contents: dict[str, bytes] = {}
    at = 0
    for place in asked:
        end = answer.index(b"\n", at)
        header = answer[at:end].decode("utf-8", "surrogateescape")
        at = end + 1
        if header.endswith((" missing", " ambiguous")):
            continue
        _, kind, size = header.split(" ")
        if kind == "blob":
            contents[place] = answer[at : at + int(size)]
        at += int(size) + 1
    return contents


def manifest_diff(old: Mapping[str, bytes], new: Mapping[str, bytes], limits: Limits) -> tuple[str, ...]:
    """Return the lines of a diff between manifests by output path; formatting and order of objects do not matter."""
    before, after = _comparable(old), _comparable(new)
    lines = render(compare_trees(before, after, limits=limits), before, after, limits=limits)
    return tuple(line.text.rstrip("\n") for line in lines)


def _comparable(manifests: Mapping[str, bytes]) -> dict[str, bytes]:
    comparable = {}
    for path, content in manifests.items():
        objects = objects_of(content)
        comparable[f"{path}/{MANIFEST}"] = content if objects is None else manifest(ordered(objects, "seed"))
    return comparable
