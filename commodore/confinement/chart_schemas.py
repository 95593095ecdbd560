"""Schemas of charts' values that refer to what is elsewhere: helm would fetch that, or read any file of the machine."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from commodore.tree import walk

_SCHEMA = "values.schema.json"
_STANDARD = ("http://json-schema.org/", "https://json-schema.org/")
_LARGEST = 16 << 20
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def refers_elsewhere(chart: Path) -> bool:
    """Whether a schema of a chart, or of a chart in it, refers to anything but its own parts.

    Args:
        chart: the folder of the chart, with its dependencies.
    """
    return any(map(_leads_away, _schemas(chart)))


def _schemas(chart: Path) -> Iterator[bytes | None]:
    """The schemas; None for one that cannot be read."""
    for name, entry in walk(chart, follow=True):
        try:
            if entry.is_dir():
                continue
            if entry.name == _SCHEMA:
                yield Path(entry.path).read_bytes() if entry.stat().st_size <= _LARGEST else None
            elif "charts" in name.split("/") and name.endswith((".tgz", ".tar.gz")):
                yield from _packed(Path(entry.path))
        except (OSError, tarfile.TarError, EOFError):
            yield None


def _packed(path: Path) -> Iterator[bytes | None]:
    with tarfile.open(path, "r:*") as members:
        for member in members:
            if member.name.endswith((".tgz", ".tar.gz")):
                yield None
            elif member.name.rpartition("/")[2] == _SCHEMA and (content := members.extractfile(member)) is not None:
                yield content.read() if member.size <= _LARGEST else None


def _leads_away(content: bytes | None) -> bool:
    if content is None:
        return True
    try:
        return any(_references(json.loads(content.decode("utf-8", "replace"))))
    except ValueError:
        return b"$" in content or b"\\u" in content  # helm reads it otherwise, or not at all
    except RecursionError:
        return True


def _references(value: Any) -> Iterator[str]:
    """The references that are not to the schema's own parts."""
    if isinstance(value, list):
        for one in value:
            yield from _references(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            if isinstance(one, str) and (
                (key in _REFERENCES and not one.startswith("#")) or (key == "$schema" and not one.startswith(_STANDARD))
            ):
                yield one
            else:
                yield from _references(one)
