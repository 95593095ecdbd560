"""The files of a hydrated branch, byte by byte, and the branches and paths that may be written to."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from commodore.base.errors import InputError, Location, PolicyError
from commodore.base.kubernetes import ObjectKey, key_of
from commodore.base.printable import printable
from commodore.base.yaml.kube_yaml import read_documents, write_documents
from commodore.core.sources.git import redact
from commodore.hydrate.model import (
    LAYOUT,
    NO_PINS,
    DryCommit,
    Hydration,
    Order,
    PathCounts,
    PathOutput,
    Pins,
    Reference,
)

ATTRIBUTES = ".gitattributes"
METADATA = "hydrator.metadata"
MANIFEST = "manifest.yaml"
README = "README.md"
FILES = (README, METADATA, MANIFEST)
"""The files of an output path, sorted by name."""

OPTIONS = ("helm", "kustomize", "directory")
"""Keys of a dry source with options of rendering."""

HYDRATOR = "commodore"
MARK = f"{HYDRATOR}/{LAYOUT}"
"""The program that wrote the metadata, and the version of its layout."""
_ADDITIONAL = ("repoURL", "targetRevision", "path", "chart", "ref")
_GENERATED = tuple(f"**/{name} linguist-generated=true" for name in (README, METADATA))
_LONGEST_BRANCH = 200
_LONGEST_PATH = 2048
_LONGEST_SEGMENT = 255
# Forbidden by git in branch names. Parts between slashes are checked separately.
_NO_BRANCH = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-/.]|[/.]$|^@$|^refs/|^HEAD$")
_GIT_FOLDER = re.compile(r"(?i)^(\.git|git~[0-9]+)[ .]*$")
# Characters that file systems of macOS ignore when they compare names.
_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_OWN = (".gitattributes", "hydrator.metadata")


def ordered(objects: Iterable[Mapping[str, Any]], order: Order) -> tuple[dict[str, Any], ...]:
    """Sort objects for a manifest: `seed` by namespace, name, group, kind and version, `source` as rendered.

    A top-level `status: null` is removed: renderers leave it there, and it has no meaning.
    """
    plain = [{key: value for key, value in item.items() if key != "status" or value is not None} for item in objects]
    return tuple(plain if order == "source" else sorted(plain, key=_place))


def _place(item: Mapping[str, Any]) -> tuple[str, ...]:
    key = key_of(item)
    return key.namespace, key.name, key.group, key.kind, str(item.get("apiVersion", ""))


def manifest(objects: Sequence[Mapping[str, Any]]) -> bytes:
    """Return objects as a stream of YAML documents; empty without objects.

    Raises:
        InputError: CMD-YAML-002, CMD-YAML-003, an object cannot be written as YAML.
    """
    return write_documents(objects).encode()


def count_changes(old: bytes | None, objects: Sequence[Mapping[str, Any]]) -> PathCounts:
    """Count the differences between an existing manifest and objects; the order does not matter.

    Args:
        old: None if absent; an unreadable manifest counts as one removed object.
    """
    result = objects_of(old or b"")
    before, after = _by_key([{"unreadable": True}] if result is None else result), _by_key(objects)
    added = removed = changed = 0
    none: Counter[str] = Counter()
    for key in before.keys() | after.keys():
        gone = (before.get(key, none) - after.get(key, none)).total()
        come = (after.get(key, none) - before.get(key, none)).total()
        changed += min(gone, come)
        added += max(0, come - gone)
        removed += max(0, gone - come)
    return PathCounts(len(objects), added, removed, changed)


def is_same_manifest(old: bytes, objects: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if an existing manifest has these objects."""
    return not count_changes(old, objects).differs


def objects_of(content: bytes) -> list[dict[str, Any]] | None:
    """Return the objects of a manifest; None if it is unreadable."""
    try:
        documents = list(read_documents(content, place=MANIFEST))
    except InputError:
        return None
    return documents if all(isinstance(document, dict) for document in documents) else None


def _by_key(objects: Iterable[Mapping[str, Any]]) -> dict[ObjectKey, Counter[str]]:
    """Return objects as texts by key; a key may have several objects."""
    results: dict[ObjectKey, Counter[str]] = {}
    for item in ordered(objects, "source"):
        results.setdefault(key_of(item), Counter())[json.dumps(item, sort_keys=True)] += 1
    return results


def attributes(old: bytes | None) -> bytes:
    """Return `.gitattributes` with the lines that mark generated files added; other lines are preserved."""
    text = old or b""
    there = {line.strip() for line in text.split(b"\n")}
    missing = [line.encode() for line in _GENERATED if line.encode() not in there]
    if not missing:
        return text
    separator = b"" if not text or text.endswith(b"\n") else b"\n"
    return text + separator + b"".join(line + b"\n" for line in missing)


def root_data(dry_url: str, commit: DryCommit) -> dict[str, Any]:
    """Return the metadata of a branch; empty values are omitted."""
    return _present(
        {
            "repoURL": redact(dry_url),
            "drySha": commit.sha,
            "author": commit.author,
            "date": commit.date,
            "subject": commit.subject,
            "body": commit.body,
            "references": _references(commit.reference),
        }
    )


def path_data(
    hydration: Hydration, commands: Sequence[str], tools: Mapping[str, str], pins: Pins = NO_PINS
) -> dict[str, Any]:
    """Return the metadata of an output path that extend or override the branch's.

    Args:
        pins: its reference takes precedence over the dry commit's.
    """
    application = {"name": hydration.name, "namespace": hydration.namespace, "project": hydration.project}
    return _present(
        {
            "commands": list(commands),
            "applications": [_present(application)],
            "drySource": _dry_source(hydration),
            "destination": _present({"namespace": hydration.target_namespace}),
            "additionalSources": [
                _present(
                    {**{key: value.data.get(key) for key in _ADDITIONAL}, "repoURL": redact(value.url), "sha": sha}
                )
                for value, sha in zip(hydration.additional, pins.additional, strict=False)
            ],
            "tools": dict(sorted(tools.items())),
            "files": list(FILES),
            "hydrator": MARK,
            "references": _references(pins.reference),
        }
    )


def _dry_source(hydration: Hydration) -> dict[str, Any]:
    """Return the dry source with the options that are set in the Application."""
    revision = {"targetRevision": hydration.dry_revision or "HEAD"}
    if hydration.catalog:
        return {**revision, "catalog": hydration.catalog.cluster}
    options = {name: hydration.settings[name] for name in OPTIONS if name in hydration.settings}
    return {**revision, "path": hydration.dry_path, "options": options}


def recorded_source(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Application recorded in the metadata of an output path, in a comparable form. Metadata of older
    versions have no `options`.
    """
    source, applications = metadata.get("drySource"), metadata.get("applications")
    application = applications[0] if isinstance(applications, list) and applications else {}
    destination = metadata.get("destination")
    return {
        "source": source if isinstance(source, Mapping) else {},
        "application": application if isinstance(application, Mapping) else {},
        "namespace": destination.get("namespace", "") if isinstance(destination, Mapping) else "",
    }


KEYS = (
    "repoURL",
    "drySha",
    "commands",
    "author",
    "date",
    "subject",
    "body",
    "references",
    "applications",
    "drySource",
    "destination",
    "additionalSources",
    "tools",
    "files",
    "hydrator",
)
"""The keys of `hydrator.metadata`, in order."""


def metadata(data: Mapping[str, Any]) -> bytes:
    """Return `hydrator.metadata` as JSON with keys in a fixed order."""
    in_order = {key: data[key] for key in KEYS if key in data}
    return (json.dumps(in_order, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def read_metadata(content: bytes | None) -> dict[str, Any]:
    """Parse `hydrator.metadata`; empty if it is absent or not a JSON object."""
    try:
        data = json.loads(content or b"")
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def path_files(output: PathOutput, root: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files of an output path by their paths in the branch."""
    contents = {
        README: output.readme.encode("utf-8", "replace"),
        METADATA: metadata({**root, **output.metadata}),
        MANIFEST: manifest(output.objects),
    }
    return {f"{output.path}/{name}": contents[name] for name in FILES}


def _references(reference: Reference | None) -> list[dict[str, Any]]:
    if reference is None:
        return []
    parts = {
        "author": reference.author,
        "date": reference.date,
        "subject": reference.subject,
        "body": reference.body,
        "sha": reference.sha,
        "repoURL": reference.url,
    }
    return [{"commit": _present(parts)}]


def _present(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value}


def check_branch(branch: str, place: Location) -> str:
    """Return a branch name that may be written to.

    Raises:
        PolicyError: CMD-HYD-008, invalid branch name.
    """
    parts = branch.split("/")
    refused = not branch or len(branch) > _LONGEST_BRANCH or _NO_BRANCH.search(branch)
    if refused or any(part.startswith(".") or part.endswith(".lock") for part in parts):
        raise PolicyError(
            "CMD-HYD-008",
            f"{printable(branch[:_LONGEST_BRANCH])!r} is not the name of a branch",
            hint="write a branch name that `git branch` accepts, without refs/heads/",
            locations=[place],
        )
    return branch


def output_path(path: str, place: Location) -> str:
    """Normalise an output path: relative, without `.` and empty parts.

    Raises:
        PolicyError: CMD-HYD-007, it is the root, has the part `..`, or a part that is not a portable folder name.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/"):
        reason = "is absolute"
    elif not parts:
        reason = "is the root of the branch, which holds other files"
    elif len(path.encode("utf-8", "surrogatepass")) > _LONGEST_PATH:
        reason = f"is longer than {_LONGEST_PATH} bytes"
    else:
        reason = next(filter(None, map(_refusal, parts)), "")
        if not reason and parts[0] in _OWN:
            reason = f"has the name of the file {parts[0]}"
    if reason:
        raise PolicyError(
            "CMD-HYD-007",
            f"the output path {printable(path[:_LONGEST_SEGMENT])!r} {reason}",
            hint="name a folder of the Application's own, such as its name",
            locations=[place],
        )
    return "/".join(parts)


def _refusal(part: str) -> str:
    """Return the reason why a part of a path is not a valid folder name; empty if it is valid."""
    if part == "..":
        return "has a part '..'"
    if _GIT_FOLDER.match(_IGNORED.sub("", part)):
        return "leads into git's own folder"
    if re.search(r"[\x00-\x1f\x7f\\]", part):
        return "has a control character or a backslash"
    if part.endswith((".", " ")):
        return "has a part that ends with a dot or a blank"
    if len(part.encode("utf-8", "surrogatepass")) > _LONGEST_SEGMENT:
        return f"has a part that is longer than {_LONGEST_SEGMENT} bytes"
    return ""
