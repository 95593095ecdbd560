"""Read YAML as Kubernetes and Argo CD do: scalars of YAML 1.1 and 1.2 mixed, all converted to JSON.

`yes` is true, `012` is ten, `1e3` a number, a date is text, and keys are always text. Catalogs are read by `yaml_in`,
as by Kapitan.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from commodore.base.errors import InputError, Location
from commodore.base.yaml.kube_scalars import Problem, whole

_PARTS = re.compile(r"[^.\[\]]+")  # the parts of a field's path


def read_documents(text: str | bytes, *, place: str, problems: list[Problem] | None = None) -> Iterator[Any]:
    """Yield the documents of a YAML stream as JSON values, without empty ones.

    The documents before an error are yielded before it is raised.

    Args:
        text: the stream; bytes are UTF-8, or UTF-16 with a byte order mark.
        place: the name of the stream in errors.
        problems: collects duplicate keys, of which the last one counts.

    Raises:
        InputError: CMD-YAML-001, the text is not valid YAML, or has a value that JSON cannot represent; CMD-YAML-003,
            nested too deeply; CMD-YAML-004, too many values after resolving aliases.
    """
    from commodore.base.yaml._kube_loader import documents

    for value, _ in documents(text, place, problems):
        if value is not None:
            yield value


def read_placed_documents(
    text: str | bytes, *, place: str, problems: list[Problem] | None = None
) -> Iterator[tuple[Any, int]]:
    """Like `read_documents`, each document with its first line."""
    from commodore.base.yaml._kube_loader import documents

    for value, line in documents(text, place, problems):
        if value is not None:
            yield value, line


@dataclass(frozen=True, slots=True)
class DocumentLocation(Location):
    """A document of a YAML stream, with lines for its fields.

    Args:
        content: the whole stream.
        start: the base of field paths.
    """

    content: bytes = field(default=b"", repr=False, compare=False)
    start: str = ""

    def at(self, path: str = "") -> Location:
        """Return the location of a field such as `spec.sources[0].path`, or of its nearest existing parent."""
        from commodore.base.yaml._kube_loader import field_line

        parts = _PARTS.findall(f"{self.start}.{path}")
        return Location(self.place, field_line(self.content, self.line, parts) or self.line)

    def below(self, path: str) -> Location:
        """Return the same document with another base of field paths."""
        return replace(self, start=path)


def read_json(text: str | bytes, *, place: str) -> Any:
    """Return the value of a JSON text. Whole numbers written with a fraction become integers.

    Raises:
        InputError: CMD-YAML-001, it is not valid JSON.
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
            hint="numbers must be finite, and values must not be nested too deeply",
            locations=[place],
        ) from error


def write_documents(documents: Sequence[object]) -> str:
    """Write JSON values as a YAML stream with `---` between them; empty for no values. Readers of other YAML versions
    agree.
    """
    from commodore.base.yaml._kube_emitter import KubeEmitter

    return KubeEmitter().dump_stream(documents)


def _number(text: str) -> int | float:
    return whole(float(text))


def _no_constant(name: str) -> Any:
    raise ValueError(f"JSON has no {name}")
