"""Schemas of charts' values with external references: helm would fetch those, or read any file of the machine."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from commodore.base.files.tree import walk

_SCHEMA = "values.schema.json"
_STANDARD = ("http://json-schema.org/", "https://json-schema.org/")
_PACKED = (".tgz", ".tar.gz")
_LARGEST = 16 << 20
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def refers_elsewhere(chart: Path) -> bool:
    """Return True if a schema of a chart, or of one of its dependencies, refers to other documents.

    Args:
        chart: the chart's folder, with its dependencies.
    """
    return any(map(_leads_away, _schemas(chart)))


def copy_without_schemas(chart: Path, target: Path) -> None:
    """Copy a chart without the values schemas of it and its dependencies, so that helm does not validate values.

    This is the effect of `--skip-schema-validation`, which helm has since 3.16 only.

    Args:
        target: the folder to make.

    Raises:
        OSError: a file cannot be read or written.
        tarfile.TarError: a packed chart is damaged.
    """
    shutil.copytree(chart, target, ignore=lambda _, names: [name for name in names if _is_schema(name)])
    for name, entry in walk(target):
        if "charts" in name.split("/") and name.endswith(_PACKED) and entry.is_file():
            packed = Path(entry.path)
            packed.write_bytes(_repacked(packed.read_bytes()))


def _repacked(content: bytes) -> bytes:
    result = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(content), mode="r:*") as old,
        tarfile.open(fileobj=result, mode="w:gz") as new,
    ):
        for member in old:
            file = None if _is_schema(member.name) else old.extractfile(member) if member.isfile() else None
            if file is None:
                continue  # a folder, a link or the schema; helm reads plain files only
            text = file.read()
            text = _repacked(text) if member.name.endswith(_PACKED) else text
            member.size = len(text)
            new.addfile(member, io.BytesIO(text))
    return result.getvalue()


def _is_schema(name: str) -> bool:
    """Return True for a schema of values. Helm reads a backslash in the name of a packed file as a slash."""
    return name.replace("\\", "/").rpartition("/")[2] == _SCHEMA


def _schemas(chart: Path) -> Iterator[bytes | None]:
    """Yield the schemas; None for an unreadable one."""
    for name, entry in walk(chart, follow=True):
        try:
            if entry.is_dir():
                continue
            if _is_schema(entry.name):
                yield Path(entry.path).read_bytes() if entry.stat().st_size <= _LARGEST else None
            elif "charts" in name.split("/") and name.endswith(_PACKED):
                yield from _packed(Path(entry.path))
        except (OSError, tarfile.TarError, EOFError):
            yield None


def _packed(path: Path) -> Iterator[bytes | None]:
    with tarfile.open(path, "r:*") as members:
        for member in members:
            if member.name.endswith(_PACKED):
                yield None
            elif _is_schema(member.name) and (content := members.extractfile(member)) is not None:
                yield content.read() if member.size <= _LARGEST else None


def _leads_away(content: bytes | None) -> bool:
    if content is None:
        return True
    try:
        return any(_references(json.loads(content.decode("utf-8", "replace"))))
    except ValueError:
        return b"$" in content or b"\\u" in content  # helm parses it differently, or rejects it
    except RecursionError:
        return True


def _references(value: Any) -> Iterator[str]:
    """Yield the references to other documents."""
    if isinstance(value, list):
        for item in value:
            yield from _references(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str) and (
                (key in _REFERENCES and not item.startswith("#"))
                or (key == "$schema" and not item.startswith(_STANDARD))
            ):
                yield item
            else:
                yield from _references(item)
