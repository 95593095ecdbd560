"""Read patches: plain or wrapped, definitions and placements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commodore.base.errors import CommodoreError, InputError
from commodore.fleet.findings import shown
from commodore.fleet.repository.config import Prefix
from commodore.fleet.repository.files import Document
from commodore.fleet.repository.model import APPLICATIONS, Layer, Patch, PatchFile
from commodore.fleet.repository.schema import schema_problems, static_schema

if TYPE_CHECKING:
    from commodore.fleet.repository.reader import Reader

STRATEGIES = ("replace", "append", "append-unique")


def read_patches(
    reader: Reader, kind: str, app: str, places: Sequence[tuple[Path, Prefix | None]], sections: Sequence[str]
) -> Iterator[Patch]:
    """Yield the patches of an application, by name; invalid files are reported and left out.

    Args:
        places: the files, with their prefix; None for definitions.
        sections: the known sections.
    """
    order = {prefix: number for number, prefix in enumerate(reader.config.prefixes())}
    files: dict[str, list[PatchFile]] = {}
    for path, prefix in places:
        document = reader.document(path)
        file = None
        if document is not None:
            problems, file = read_patch(document, prefix, sections)
            reader.report.add(*problems)
        if file is not None:
            files.setdefault(file.name, []).append(file)
    for name in sorted(files):
        definitions = [file for file in files[name] if file.prefix is None]
        placements = sorted((file for file in files[name] if file.prefix), key=lambda file: order[file.prefix or ()])
        pairs = zip(placements[1:], placements, strict=False)
        duplicates = [file for file, other in pairs if file.prefix == other.prefix]
        for file in (*duplicates, *definitions[1:]):
            reader.report.add(_wrong(file.layer.document, f"the patch {name!r} has two files for {path_of(file)}", ()))
        yield Patch(kind, app, name, definitions[0] if definitions else None, tuple(placements))


def path_of(file: PatchFile) -> str:
    """Return the folder of a patch's file."""
    return str(Path(file.place).parent)


def read_patch(
    document: Document, prefix: Prefix | None, sections: Sequence[str]
) -> tuple[list[CommodoreError], PatchFile | None]:
    """Convert a file to a patch; return its errors, and None if it has any."""
    name = document.path.stem
    if not isinstance(document.data, dict) or not document.data:
        return [
            _wrong(document, "the patch holds nothing" if not document.data else "the patch must be a mapping", ())
        ], None
    problems = _strategy_words(document)
    if problems:
        return problems, None
    problems = schema_problems(document, static_schema("patch"))
    if problems:
        return problems, None
    metadata: Mapping[str, Any] = document.data.get("metadata") or {}
    plain = {key: part for key, part in document.data.items() if key not in ("metadata", "patch")}
    head: tuple[object, ...] = ()
    bare: frozenset[str] = frozenset()
    if "patch" in document.data:
        wrapped = document.data["patch"] or {}
        names = [key for key in wrapped if key not in sections]
        if plain:
            return [
                _wrong(document, f"the patch has both the key 'patch' and the section {next(iter(plain))!r}", ())
            ], None
        if names and len(names) < len(wrapped):
            return [
                _wrong(
                    document, f"the patch mixes sections with the application {shown(names[0])}", ("patch", names[0])
                )
            ], None
        head, bare = ("patch",), frozenset(names)
        plain = {APPLICATIONS: dict(wrapped)} if names else dict(wrapped)
        problems = schema_problems(document, static_schema("override"), plain)
        if problems:
            return problems, None
    values = {section: items for section, items in plain.items() if items}
    if not values:
        return [_wrong(document, "the patch holds nothing", head)], None
    return [], PatchFile(name, prefix, Layer(document, values, head, bare), metadata)


def _strategy_words(document: Document) -> list[CommodoreError]:
    metadata = document.data.get("metadata")
    strategies = metadata.get("merge_strategy") if isinstance(metadata, dict) else None
    return [
        InputError(
            "CMD-FLT-035",
            f"{document.place}: the strategy {shown(word)} for {path} is not replace, append or append-unique",
            hint=f"use one of {', '.join(STRATEGIES)}",
            locations=[document.at(("metadata", "merge_strategy", path))],
        )
        for path, word in (strategies.items() if isinstance(strategies, dict) else ())
        if word not in STRATEGIES
    ]


def _wrong(document: Document, what: str, path: tuple[object, ...]) -> CommodoreError:
    return InputError(
        "CMD-FLT-030",
        f"{document.place}: {what}",
        hint="write 'metadata' and sections, or 'metadata' and 'patch'",
        locations=[document.at(path)],
    )
