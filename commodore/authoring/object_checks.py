"""What golden trees cannot tell: they say that nothing has changed, not that it is right."""

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
    """Look for objects that are there twice (CMD-TEST-020), that need a namespace and have none (CMD-TEST-021), or
    whose version of the API is gone (CMD-TEST-022).

    Args:
        tree: rendered files, content by path; files that cannot be read as objects are passed over.
    """
    objects = [one for path, content in tree.items() if path.endswith(_SUFFIXES) for one in _read(path, content)]
    return (*_duplicates(objects), *_homeless(objects), *_removed(objects))


def check_references(
    parameters: Mapping[str, Any], instance: str, key: str, folder: Path, tree: Mapping[str, bytes], context: Context
) -> tuple[Diagnostic, ...]:
    """Look for secret references of an instance's parameters that do not arrive in its output (CMD-TEST-023), that are
    malformed, or that arrive in a form in which nothing can replace them (CMD-REF-...).

    Args:
        parameters: of the instance's target.
        instance: the target's name.
        key: the parameter that holds the component's own parameters.
        folder: what was rendered; a reference stands there as it is or as its path.
        tree: the same, content by path.
    """
    found = Diagnostics()

    def on_event(event: Event) -> None:
        if isinstance(event, Warned):
            found.add(event)

    try:
        references = refs.find_references(parameters, context.with_announce(on_event), target=instance, only_keys={key})
    except CommodoreError as error:
        found.add(error)
        return tuple(found.added())
    refs.check_output(folder, references, context.with_announce(on_event))
    first = {reference.path: reference for reference in reversed(references)}
    contents = list(tree.values())
    for path, reference in sorted(first.items()):
        wanted = [path.encode(), *_encoded(reference.tag)]
        if not any(text in content for text in wanted for content in contents):
            found.add(
                Diagnostic(
                    "CMD-TEST-023",
                    f"{reference.tag!r} of {reference.place} does not occur in the output",
                    "warning",
                    hint="ignore this if the case does not use the parameter; otherwise the component drops it",
                )
            )
    return tuple(found.added())


def _encoded(tag: str) -> Iterator[bytes]:
    """The characters of base64 text that stand for a tag, at each offset it can have there."""
    for offset in range(3):
        text = base64.b64encode(b"\0" * offset + tag.encode())
        start, end = -(-offset * 8 // 6), (offset + len(tag.encode())) * 8 // 6
        yield text[start:end]


def _read(path: str, content: bytes) -> list[_Object]:
    """The objects of a file. Of the block style that all rendered manifests have only the lines that say who an object
    is are read; what they do not tell is read whole.
    """
    objects: list[_Object] = []
    for text in _DOCUMENT.split(content):
        try:
            (head,) = load_all(b"".join(_identity(text)), place=path)
            whole = isinstance(head, dict) and "kind" in head and head["kind"] != "List"
            documents = [head] if whole else load_all(text, place=path)
        except (InputError, ValueError):
            documents = _read_all(path, text)
        objects += [one for document in documents for one in _flatten(document, path)]
    return objects


def _identity(text: bytes) -> Iterator[bytes]:
    wanted = False
    for line in text.splitlines(keepends=True):
        if line[:1] not in b" \t\r\n#":
            wanted = line.startswith((b"apiVersion:", b"kind:", b"metadata:"))
        if wanted:
            yield line


def _read_all(path: str, text: bytes) -> list[Any]:
    try:
        return load_all(text, place=path)
    except InputError:
        return []


def _flatten(document: Any, path: str) -> Iterator[_Object]:
    """An object, or those that a list holds."""
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
    for one in objects:
        if not one.key.name:  # generateName: the API server gives each its own
            continue
        if one.key in first:
            places = f"in {one.file}" if first[one.key] == one.file else f"in {first[one.key]} and in {one.file}"
            yield Diagnostic(
                "CMD-TEST-020",
                f"{one.key} is rendered twice, {places}",
                "warning",
                hint="one of them wins in the cluster; render it once, or give one of them another name",
            )
        first.setdefault(one.key, one.file)


def _homeless(objects: Iterable[_Object]) -> Iterator[Diagnostic]:
    for one in objects:
        if (one.key.group, one.key.kind) in NAMESPACED and not one.key.namespace:
            yield Diagnostic(
                "CMD-TEST-021",
                f"{one.key} in {one.file} has no namespace",
                "warning",
                hint="it would be created in the applier's current namespace; set metadata.namespace",
            )


def _removed(objects: Iterable[_Object]) -> Iterator[Diagnostic]:
    for one in objects:
        if removal := REMOVED.get((one.version, one.key.kind)):
            yield Diagnostic(
                "CMD-TEST-022",
                f"{one.key} in {one.file} has the apiVersion {one.version}, removed in Kubernetes {removal.removed_in}",
                "warning",
                hint=f"use {removal.successor}" if removal.successor else "it has no successor",
            )
