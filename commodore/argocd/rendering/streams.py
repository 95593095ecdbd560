"""The objects in the output of a program, or in a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from commodore.argocd.rendering.model import Rendered
from commodore.base.errors import InputError, Location
from commodore.base.yaml.kube_yaml import read_documents

_SEPARATOR = re.compile(r"^---(?:[ \t].*)?$\n?", re.MULTILINE)
_ORIGIN = re.compile(r"\s*# Source: ([^\n]+)")


def decoded(content: bytes, place: str) -> str:
    """Decode UTF-8 or, with a byte order mark, UTF-16.

    Raises:
        InputError: CMD-ARGO-401, it is neither.
    """
    try:
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            return content.decode("utf-16")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            "CMD-ARGO-401", f"{place} is not text", hint="manifests are UTF-8", locations=[Location(place)]
        ) from error


def objects_of_stream(text: str, place: str) -> Iterator[Rendered]:
    """Yield the objects of a YAML stream. `# Source:` comments of helm give their origins.

    Raises:
        InputError: CMD-YAML-001, it is invalid YAML, with the line in the whole stream; CMD-ARGO-417, a document is not
            an object.
    """
    start, line = 0, 0
    bounds = [*((match.start(), match.end()) for match in _SEPARATOR.finditer(text)), (len(text), len(text))]
    for end, following in bounds:
        piece = text[start:end]
        origin = _ORIGIN.match(piece)
        for value in _documents(piece, place, line):
            yield Rendered(checked_object(value, place, line + 1), origin[1].strip() if origin else "")
        line += text.count("\n", start, following)
        start = following


def _documents(piece: str, place: str, line: int) -> Iterator[Any]:
    if not piece.strip():
        return
    try:
        yield from read_documents(piece, place=place)
    except InputError as error:
        places = [
            Location(location.place, (location.line or 1) + line, location.column) for location in error.locations
        ]
        raise InputError(error.code, error.message, hint=error.hint, locations=places) from error


def checked_object(value: Any, place: str, line: int | None = None) -> dict[str, Any]:
    """Check that a value is an object with a kind, and return it.

    Raises:
        InputError: CMD-ARGO-417, it is not.
    """
    if isinstance(value, dict) and isinstance(value.get("kind"), str) and value["kind"]:
        return value
    what = "has no kind" if isinstance(value, dict) else "must be a mapping"
    raise InputError(
        "CMD-ARGO-417",
        f"a document of {place} {what}",
        hint="every document is a Kubernetes object",
        locations=[Location(place, line)],
    )
