"""Read objects from files, as written by `kubectl get -o yaml`, for plans without a cluster."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.errors import CommodoreError, InputError
from commodore.base.files.tree import files
from commodore.base.limits import Limits
from commodore.base.yaml.kube_yaml import read_documents
from commodore.observe.kargo import KargoObject, UnreadableError, read_object

_SEPARATOR = re.compile(rb"^---(?=\s|$)", re.MULTILINE)
_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_KINDS = frozenset({"Application", "Stage", "Freight", "Warehouse", "Promotion"})


@dataclass(frozen=True, slots=True)
class ObjectText:
    """A text with objects, and its name for messages."""

    place: str
    text: bytes


@dataclass(frozen=True, slots=True)
class GivenObjects:
    """The result of reading: the objects, the errors of others, and the kinds with unreadable objects."""

    objects: tuple[KargoObject, ...]
    findings: tuple[CommodoreError, ...]
    unreadable: frozenset[str]


def read_files(paths: Iterable[Path], limits: Limits) -> list[ObjectText]:
    """Read files, and folders with all YAML and JSON files in them, each file once. Pipes and devices in folders are
    ignored.

    Raises:
        InputError: CMD-OBS-002, a file or folder cannot be read, or a file is larger than `Limits.observed_bytes`.
    """
    sources: dict[Path, ObjectText] = {}
    for path in paths:
        try:
            inside = [file for _, file in files(path, links=True) if file.suffix in _SUFFIXES and _is_plain(file)]
            for file in inside if path.is_dir() else [path]:
                sources.setdefault(file.resolve(), ObjectText(str(file), _read(file, limits)))
        except OSError as error:
            raise _unreadable(str(path), error.strerror or str(error)) from error
    return list(sources.values())


def _is_plain(file: Path) -> bool:
    """Return True for a file, or a dangling link, which the read reports; reading anything else may block."""
    return file.is_file() or not file.exists()


def _read(file: Path, limits: Limits) -> bytes:
    with file.open("rb") as stream:
        text = stream.read(limits.observed_bytes + 1)
    if len(text) > limits.observed_bytes:
        raise _unreadable(str(file), f"the file is larger than {limits.observed_bytes} bytes")
    return text


def read_objects(sources: Sequence[ObjectText]) -> GivenObjects:
    """Parse the objects of the five kinds. Other kinds are ignored.

    Raises:
        InputError: CMD-OBS-001, no such objects.
    """
    objects: dict[tuple[str, str], tuple[KargoObject, str]] = {}
    findings: list[CommodoreError] = []
    unreadable: set[str] = set()
    for place, value in _documents(sources, findings):
        try:
            read = read_object(value)
        except UnreadableError as error:
            findings.append(_unreadable(place, f"{_named(value)}: {error}"))
            unreadable.add(str(value.get("kind")))
            continue
        if read is None:
            if "apiVersion" not in value or "kind" not in value:
                findings.append(_unreadable(place, "it has no apiVersion and kind"))
            continue
        parsed, problems = read
        findings += [_unreadable(place, f"{_named(value)}: {problem}") for problem in problems]
        key = (type(parsed).__name__, str(parsed.meta))
        if key in objects:
            findings.append(_duplicate(key, [objects[key][1], place]))
        else:
            objects[key] = (parsed, place)
    if not objects and not findings:
        raise InputError(
            "CMD-OBS-001",
            "there is no object of Kargo or Argo CD in the input",
            hint="give what 'kubectl get applications,stages,freights,warehouses,promotions -A -o yaml' writes",
        )
    return GivenObjects(
        tuple(parsed for parsed, _ in objects.values()), tuple(findings), frozenset(unreadable & _KINDS)
    )


def _documents(
    sources: Sequence[ObjectText], findings: list[CommodoreError]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each object with its place; lists are split into their items."""
    for source in sources:
        try:
            documents = _load(source)
        except CommodoreError as error:
            parts = _SEPARATOR.split(source.text)
            if len(parts) == 1:
                findings.append(_unreadable(source.place, error.message))
                continue
            documents = [document for part in parts for document in _load_part(source.place, part, findings)]
        for number, document in enumerate(documents, start=1):
            place = f"{source.place} (document {number})" if len(documents) > 1 else source.place
            if document is not None:
                yield from _taken_apart(place, document, findings)


def _load(source: ObjectText) -> list[Any]:
    if source.text.lstrip().startswith(b"{"):
        try:
            return list(_json_documents(source.text.decode()))
        except (ValueError, RecursionError):
            pass  # YAML that begins like JSON
    return list(read_documents(source.text, place=source.place))


def _load_part(place: str, text: bytes, findings: list[CommodoreError]) -> list[Any]:
    """Parse a document of a stream that is unreadable as a whole; None for the unreadable document."""
    try:
        return list(read_documents(text, place=place)) or [None]
    except CommodoreError as error:
        findings.append(_unreadable(place, error.message))
        return [None]


def _json_documents(text: str) -> Iterator[Any]:
    """Yield consecutive JSON texts."""
    decoder = json.JSONDecoder()
    position = _space_after(text, 0)
    while position < len(text):
        document, position = decoder.raw_decode(text, position)
        position = _space_after(text, position)
        yield document


def _space_after(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _taken_apart(place: str, document: Any, findings: list[CommodoreError]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(document, Mapping):
        findings.append(_unreadable(place, "it must be an object"))
        return
    items = document.get("items")
    if not str(document.get("kind", "")).endswith("List") or items is None:
        yield place, document
        return
    if not isinstance(items, list):
        findings.append(_unreadable(place, "its items must be a list"))
        return
    for number, item in enumerate(items, start=1):
        at = f"{place} (item {number})"
        if isinstance(item, Mapping):
            # Lists of one kind leave the kind of their items out.
            kind = str(document["kind"]).removesuffix("List")
            defaults = {"apiVersion": document.get("apiVersion"), "kind": kind} if kind else {}
            yield at, {**defaults, **item}
        else:
            findings.append(_unreadable(at, "it must be an object"))


def _named(value: Mapping[str, Any]) -> str:
    meta = value.get("metadata")
    name = meta.get("name", "") if isinstance(meta, Mapping) else ""
    return f"{value.get('kind')} {str(name)[:253]}".rstrip()


def _unreadable(place: str, why: str) -> InputError:
    return InputError(
        "CMD-OBS-002",
        f"an object cannot be read: {why}",
        hint="fix it, or leave it out of the input",
        locations=[place],
    )


def _duplicate(key: tuple[str, str], places: list[str]) -> InputError:
    kind, name = key
    return InputError(
        "CMD-OBS-003",
        f"{kind} {name} is there twice: the first one counts",
        hint="give each object once",
        locations=places,
    )
