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
"""The files of an output path, in name order."""

OPTIONS = ("helm", "kustomize", "directory")
"""Keys of a dry source that say how it is rendered."""

HYDRATOR = "commodore"
MARK = f"{HYDRATOR}/{LAYOUT}"
"""Who has written metadata, and in which layout."""
_ADDITIONAL = ("repoURL", "targetRevision", "path", "chart", "ref")
_GENERATED = tuple(f"**/{name} linguist-generated=true" for name in (README, METADATA))
_LONGEST_BRANCH = 200
_LONGEST_PATH = 2048
_LONGEST_SEGMENT = 255
# What git forbids in the name of a branch, but for the parts that are checked one by one.
_NO_BRANCH = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-/.]|[/.]$|^@$|^refs/|^HEAD$")
_GIT_FOLDER = re.compile(r"(?i)^(\.git|git~[0-9]+)[ .]*$")
# Characters that file systems of macOS leave out when they compare names.
_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_OWN = (".gitattributes", "hydrator.metadata")


def ordered(objects: Iterable[Mapping[str, Any]], order: Order) -> tuple[dict[str, Any], ...]:
    """Objects as they are written: `seed` is by namespace, name, group, kind and version, `source` as rendered.

    The top-level `status` of an object goes if it is null: renderers leave it there, and it means nothing.
    """
    plain = [{key: value for key, value in item.items() if key != "status" or value is not None} for item in objects]
    return tuple(plain if order == "source" else sorted(plain, key=_place))


def _place(item: Mapping[str, Any]) -> tuple[str, ...]:
    key = key_of(item)
    return key.namespace, key.name, key.group, key.kind, str(item.get("apiVersion", ""))


def manifest(objects: Sequence[Mapping[str, Any]]) -> bytes:
    """The objects as one stream; an empty file for none.

    Raises:
        InputError: CMD-YAML-002, CMD-YAML-003, an object cannot be written as YAML.
    """
    return write_documents(objects).encode()


def count_changes(old: bytes | None, objects: Sequence[Mapping[str, Any]]) -> PathCounts:
    """Count the differences between a manifest that is there and objects, in whichever order.

    Args:
        old: None if there is none; one that cannot be read counts as an object that is removed.
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
    """Tell if a manifest that is there has these objects."""
    return not count_changes(old, objects).differs


def objects_of(content: bytes) -> list[dict[str, Any]] | None:
    """The objects of a manifest; None if it cannot be read."""
    try:
        documents = list(read_documents(content, place=MANIFEST))
    except InputError:
        return None
    return documents if all(isinstance(document, dict) for document in documents) else None


def _by_key(objects: Iterable[Mapping[str, Any]]) -> dict[ObjectKey, Counter[str]]:
    """The objects as texts by key: of one key there may be several."""
    results: dict[ObjectKey, Counter[str]] = {}
    for item in ordered(objects, "source"):
        results.setdefault(key_of(item), Counter())[json.dumps(item, sort_keys=True)] += 1
    return results


def attributes(old: bytes | None) -> bytes:
    """`.gitattributes` with the lines that mark generated files; what is there otherwise stays."""
    text = old or b""
    there = {line.strip() for line in text.split(b"\n")}
    missing = [line.encode() for line in _GENERATED if line.encode() not in there]
    if not missing:
        return text
    separator = b"" if not text or text.endswith(b"\n") else b"\n"
    return text + separator + b"".join(line + b"\n" for line in missing)


def root_data(dry_url: str, commit: DryCommit) -> dict[str, Any]:
    """The metadata of a branch, by its keys; empty values are left out."""
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
    """The metadata of an output path beyond those of the branch, or in their place.

    Args:
        pins: its reference counts more than that of the dry commit.
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
    """The dry source with the options that stand in the Application, as they would be read from it."""
    revision = {"targetRevision": hydration.dry_revision or "HEAD"}
    if hydration.catalog:
        return {**revision, "catalog": hydration.catalog.cluster}
    options = {name: hydration.settings[name] for name in OPTIONS if name in hydration.settings}
    return {**revision, "path": hydration.dry_path, "options": options}


def recorded_source(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The Application that metadata of an output path record, in a form that can be compared; `options` are absent
    in those of older versions.
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
"""The keys of `hydrator.metadata`, in their order."""


def metadata(data: Mapping[str, Any]) -> bytes:
    """`hydrator.metadata`: JSON with its keys in a fixed order."""
    in_order = {key: data[key] for key in KEYS if key in data}
    return (json.dumps(in_order, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def read_metadata(content: bytes | None) -> dict[str, Any]:
    """Read `hydrator.metadata`; empty if it is absent or no JSON object."""
    try:
        data = json.loads(content or b"")
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def path_files(output: PathOutput, root: Mapping[str, Any]) -> dict[str, bytes]:
    """The files of an output path by their paths in the branch."""
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
    """The name of a branch, if it is one that may be written to.

    Raises:
        PolicyError: CMD-HYD-008, it is none.
    """
    parts = branch.split("/")
    refused = not branch or len(branch) > _LONGEST_BRANCH or _NO_BRANCH.search(branch)
    if refused or any(part.startswith(".") or part.endswith(".lock") for part in parts):
        raise PolicyError(
            "CMD-HYD-008",
            f"{printable(branch[:_LONGEST_BRANCH])!r} is not the name of a branch",
            hint="name a branch as `git branch` takes it, without refs/heads/",
            locations=[place],
        )
    return branch


def output_path(path: str, place: Location) -> str:
    """An output path in its normal form: relative, without `.` and empty parts.

    Raises:
        PolicyError: CMD-HYD-007, it is the root, has the part `..`, or has a part that cannot be a folder everywhere.
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
    """The reason why a part of a path cannot be a folder; empty if it can."""
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
