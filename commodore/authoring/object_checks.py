"""Checks of rendered objects, in addition to golden trees, which only detect changes."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import CommodoreError, InputError
from commodore.base.events import Event, Warned
from commodore.base.kubernetes import ObjectKey, key_of
from commodore.base.kubernetes.facts import NAMESPACED, REMOVED
from commodore.base.yaml import load_all
from commodore.core import refs

_SUFFIXES: Final = (".yml", ".yaml", ".json")
_DOCUMENT: Final = re.compile(rb"^---(?=\s|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Object:
    key: ObjectKey
    version: str
    file: str


def check_objects(tree: Mapping[str, bytes]) -> tuple[Diagnostic, ...]:
    """Find duplicate objects (CMD-TEST-020), objects without a required namespace (CMD-TEST-021), and objects of
    removed API versions (CMD-TEST-022).

    Args:
        tree: rendered files, content by path; files that cannot be read as objects are ignored.
    """
    objects = [item for path, content in tree.items() if path.endswith(_SUFFIXES) for item in _read(path, content)]
    return (*_duplicates(objects), *_without_namespace(objects), *_removed(objects))


def check_references(
    parameters: Mapping[str, Any], instance: str, key: str, folder: Path, tree: Mapping[str, bytes], context: Context
) -> tuple[Diagnostic, ...]:
    """Find secret references of an instance's parameters that are missing in its output (CMD-TEST-023), malformed, or
    written in a form that cannot be replaced (CMD-REF-...).

    Args:
        parameters: the parameters of the instance's target.
        instance: the target's name.
        key: the key of the component's own parameters.
        folder: the output, which has references as they are or as paths.
        tree: the output, content by path.
    """
    diagnostics = Diagnostics()

    def on_event(event: Event) -> None:
        if isinstance(event, Warned):
            diagnostics.add(event)

    try:
        references = refs.find_references(parameters, context.with_announce(on_event), target=instance, only_keys={key})
    except CommodoreError as error:
        diagnostics.add(error)
        return tuple(diagnostics.added())
    refs.check_output(folder, references, context.with_announce(on_event))
    first = {reference.path: reference for reference in reversed(references)}
    contents = list(tree.values())
    for path, reference in sorted(first.items()):
        spellings = [path.encode(), *_encoded(reference.tag)]
        if not any(text in content for text in spellings for content in contents):
            diagnostics.add(
                Diagnostic(
                    "CMD-TEST-023",
                    f"{reference.tag!r} of {reference.place} does not occur in the output",
                    "warning",
                    hint="ignore this if the case does not use the parameter; otherwise the component loses it",
                )
            )
    return tuple(diagnostics.added())


def _encoded(tag: str) -> Iterator[bytes]:
    """Yield the base64 encoding of a tag, at each offset that it can have."""
    for offset in range(3):
        text = base64.b64encode(b"\0" * offset + tag.encode())
        start, end = -(-offset * 8 // 6), (offset + len(tag.encode())) * 8 // 6
        yield text[start:end]


def _read(path: str, content: bytes) -> list[_Object]:
    """Return the objects of a file. In the block style of all rendered manifests, only the lines that identify an
    object are parsed; otherwise the whole document is.
    """
    objects: list[_Object] = []
    for text in _DOCUMENT.split(content):
        try:
            (head,) = load_all(b"".join(_identity(text)), place=path)
            whole = isinstance(head, dict) and "kind" in head and head["kind"] != "List"
            documents = [head] if whole else load_all(text, place=path)
        except (InputError, ValueError):
            documents = _read_all(path, text)
        objects += [item for document in documents for item in _flatten(document, path)]
    return objects


def _identity(text: bytes) -> Iterator[bytes]:
    relevant = False
    for line in text.splitlines(keepends=True):
        if line[:1] not in b" \t\r\n#":
            relevant = line.startswith((b"apiVersion:", b"kind:", b"metadata:"))
        if relevant:
            yield line


def _read_all(path: str, text: bytes) -> list[Any]:
    try:
        return load_all(text, place=path)
    except InputError:
        return []


def _flatten(document: Any, path: str) -> Iterator[_Object]:
    """Yield an object, or the items of a list."""
    if not isinstance(document, dict):
        return
    if document.get("kind") == "List" and isinstance(document.get("items"), list):
        for item in document["items"]:
            yield from _flatten(item, path)
        return
    key, version = key_of(document), document.get("apiVersion")
    if key.kind and isinstance(version, str):
        yield _Object(key, version, path)


def _duplicates(objects: Iterable[_Object]) -> Iterator[Diagnostic]:
    first: dict[ObjectKey, str] = {}
    for item in objects:
        if not item.key.name:  # generateName: the API server generates the name
            continue
        if item.key in first:
            places = f"in {item.file}" if first[item.key] == item.file else f"in {first[item.key]} and in {item.file}"
            yield Diagnostic(
                "CMD-TEST-020",
                f"{item.key} is rendered twice, {places}",
                "warning",
                hint="only one of them is applied in the cluster; render it once, or rename one of them",
            )
        first.setdefault(item.key, item.file)


def _without_namespace(objects: Iterable[_Object]) -> Iterator[Diagnostic]:
    for item in objects:
        if (item.key.group, item.key.kind) in NAMESPACED and not item.key.namespace:
            yield Diagnostic(
                "CMD-TEST-021",
                f"{item.key} in {item.file} has no namespace",
                "warning",
                hint="it would be created in the current namespace; set metadata.namespace",
            )


def _removed(objects: Iterable[_Object]) -> Iterator[Diagnostic]:
    for item in objects:
        if removal := REMOVED.get((item.version, item.key.kind)):
            yield Diagnostic(
                "CMD-TEST-022",
                f"{item.key} in {item.file} has the apiVersion {item.version}, "
                f"removed in Kubernetes {removal.removed_in}",
                "warning",
                hint=f"use {removal.successor}" if removal.successor else "it has no successor",
            )
