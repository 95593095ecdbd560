"""YAML in with the meaning that Kubernetes and Argo CD give it: scalars of YAML 1.1 and 1.2 mixed, all made JSON.

`yes` is true, `012` is ten, `1e3` a number, a date is text, and keys are text whatever they look like. Catalogs are
read by `yaml_in`, with the meaning that Kapitan gives them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from commodore.base.errors import InputError, Location
from commodore.base.yaml.kube_scalars import Problem, whole

_PARTS = re.compile(r"[^.\[\]]+")  # of the path of a field


def read_documents(text: str | bytes, *, place: str, problems: list[Problem] | None = None) -> Iterator[Any]:
    """The documents of a YAML stream one by one as JSON values, empty ones left out.

    What precedes a mistake is given before the error is raised.

    Args:
        text: the stream; bytes are UTF-8, or UTF-16 with a byte order mark.
        place: what errors call the stream.
        problems: collects keys that stand twice in one map, of which the last counts.

    Raises:
        InputError: CMD-YAML-001, the text is no YAML, or has a value that JSON has not; CMD-YAML-003, nested too
            deeply; CMD-YAML-004, aliases make too much of it.
    """
    from commodore.base.yaml._kube_loader import documents

    for value, _ in documents(text, place, problems):
        if value is not None:
            yield value


def read_placed_documents(
    text: str | bytes, *, place: str, problems: list[Problem] | None = None
) -> Iterator[tuple[Any, int]]:
    """As `read_documents`, each document with the line on which it begins."""
    from commodore.base.yaml._kube_loader import documents

    for value, line in documents(text, place, problems):
        if value is not None:
            yield value, line


@dataclass(frozen=True, slots=True)
class DocumentLocation(Location):
    """A document of a YAML stream, whose fields have lines of their own.

    Args:
        content: the whole stream.
        start: the path that paths of fields begin below.
    """

    content: bytes = field(default=b"", repr=False, compare=False)
    start: str = ""

    def at(self, path: str = "") -> Location:
        """The location of a field such as `spec.sources[0].path`; of the nearest one above it that is there."""
        from commodore.base.yaml._kube_loader import field_line

        parts = _PARTS.findall(f"{self.start}.{path}")
        return Location(self.place, field_line(self.content, self.line, parts) or self.line)

    def below(self, path: str) -> Location:
        """The same document, of which a part is meant."""
        return replace(self, start=path)


def read_json(text: str | bytes, *, place: str) -> Any:
    """The one value of a JSON text. Whole numbers written with a fraction are whole numbers.

    Raises:
        InputError: CMD-YAML-001, it is no JSON.
    """
    try:
        return json.loads(text, parse_float=_number, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise InputError(
            "CMD-YAML-001",
            f"{place} is not valid JSON: {error.msg}",
            hint="correct it there or shortly before",
            locations=[Location(place, error.lineno, error.colno)],
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(
            "CMD-YAML-001",
            f"{place} is not valid JSON: {error}",
            hint="JSON has finite numbers, and values that do not nest too deep",
            locations=[place],
        ) from error


def write_documents(documents: Sequence[object]) -> str:
    """JSON values as a YAML stream, `---` between them; an empty text for none. Other readers of YAML agree on it."""
    from commodore.base.yaml._kube_emitter import KubeEmitter

    return KubeEmitter().dump_stream(documents)


def _number(text: str) -> int | float:
    return whole(float(text))


def _no_constant(name: str) -> Any:
    raise ValueError(f"JSON has no {name}")
