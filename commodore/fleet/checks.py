"""Check merged values and the expressions in them, before and after rendering with helm."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from commodore.base.diagnostics import Diagnostics
from commodore.base.errors import CommodoreError, InputError, Location, did_you_mean
from commodore.base.events import Warned
from commodore.base.printable import counted, some_of
from commodore.base.yaml import load
from commodore.fleet.cells import CellValues
from commodore.fleet.chart_files import Chart
from commodore.fleet.findings import at, cells_in_words, dotted, shown
from commodore.fleet.merging import leaves
from commodore.fleet.paths import key_text
from commodore.fleet.rendering import names_twice
from commodore.fleet.repository.config import in_path
from commodore.fleet.repository.model import APPLICATIONS, APPLICATIONSETS, SECTIONS, Fleet, Layer, TypeConfig
from commodore.fleet.repository.schema import static_schema

_SAFE_INTEGER = 2**53
# Characters that helm's YAML writer refuses; its function toYaml returns an empty text then, without an error.
_UNWRITABLE = re.compile("[\x7f-\x84\x86-\x9f\ufffe\uffff]")
_LITERAL = re.compile(r"\{\{-?\s*`.*?`\s*-?\}\}", re.DOTALL)
_ANY = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_ALL_VALUES = re.compile(rb"\.Values(?![.\w])(?! *\")")
_SINGLE_QUOTES = re.compile(rb"'\{\{[^}]*\}\}|\{\{[^}]*\bsquote\b[^}]*\}\}")
# The files of resources whose names YAML reads as texts, with and without quotes; `True` is not among them.
_PLAIN_NAME = re.compile(r"(?!True\.yaml$)[A-Za-z]")
_QUOTING = re.compile(r"\|\s*(toJson|quote|squote)\s*-?\}\}")


def check_values(fleet: Fleet, chart: Chart, cells: Sequence[CellValues], report: Diagnostics) -> None:
    """Check the merged items of all cells, and all files for values that helm or the template would not accept."""
    templates = _Templates(chart)
    report.add(*_lacking(fleet, cells, templates))
    in_quotes = any(_puts_in_quotes(text) for text in chart.templates.values())
    for kind in fleet.types:
        for layer in layers_of(kind):
            report.add(*_unread_sections(layer, templates), *_unknown_keys(layer))
            if in_quotes:
                report.add(*_broken_quotes(layer))
        for layer in (*_defaults_of(kind), *layers_of(kind)):
            report.add(*_lost_in_helm(layer))


def layers_of(kind: TypeConfig) -> Iterator[Layer]:
    """Yield all values, overrides and patches of a type."""
    for app in kind.apps:
        yield from (app.base, *app.overrides.values(), *app.flat.values())
        yield from (file.layer for patch in app.patches for file in patch.files)


def _defaults_of(kind: TypeConfig) -> Iterator[Layer]:
    for layers in kind.defaults.values():
        yield from layers


def _lacking(fleet: Fleet, cells: Sequence[CellValues], templates: _Templates) -> Iterator[CommodoreError | Warned]:
    places: dict[tuple[str, str, str, str], list[str]] = {}
    known: dict[int, list[tuple[str, str, str, str]]] = {}
    items: dict[int, list[str]] = {}
    needed = [part for part in ("project", "destination", "source") if templates.need(part)]
    for cell in cells:
        if id(cell.values) not in known:
            wrong = _wrong_items(cell, fleet.choices.output == "manifests", needed)
            known[id(cell.values)] = [*wrong, *_same_keys(cell, items)]
        for key in known[id(cell.values)]:
            places.setdefault(key, []).append(in_path(cell.cell))
    for (code, kind, section, what), names in places.items():
        name = what.partition(" ")[0]
        place = _definition(fleet, kind, section, name)
        message = f"{what} in {cells_in_words(names)}"
        if code == "CMD-FLT-017":
            hint = "add it to values.yaml, or to the defaults"
            yield InputError("CMD-FLT-017", message, hint=hint, locations=place)
        elif code == "CMD-FLT-018":
            yield InputError("CMD-FLT-018", message, hint="keep one of them", locations=place)
        elif code == "CMD-FLT-057":
            yield InputError("CMD-FLT-057", message, hint="rename one of them", locations=place)
        elif code == "CMD-FLT-062":
            yield InputError("CMD-FLT-062", message, hint="write the key in one way everywhere", locations=place)
        else:
            where = f" ({at(place[0])})" if place else ""
            yield Warned("CMD-FLT-026", message + where, "give the name of a cluster, or the URL of its server")


def _wrong_items(cell: CellValues, resources: bool, needed: Sequence[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield code, type, section, and name with the error."""
    for name, item in cell.values.get(APPLICATIONS, {}).items():
        if not isinstance(item, dict):
            continue
        key = (cell.type, APPLICATIONS)
        for part in needed:
            if not item.get(part) and not (part == "source" and item.get("sources")):
                yield "CMD-FLT-017", *key, f"{name} has no {part}"
        if item.get("source") and item.get("sources"):
            yield "CMD-FLT-018", *key, f"{name} has both source and sources"
        destination = item.get("destination")
        if isinstance(destination, dict) and destination:
            given = [part for part in ("name", "server") if destination.get(part)]
            if len(given) != 1:
                yield (
                    "CMD-FLT-026",
                    *key,
                    f"{name} has a destination with {' and '.join(given) or 'neither name nor server'}",
                )
    for name, (first, second) in names_twice(cell.values) if resources else ():
        yield (
            "CMD-FLT-057",
            cell.type,
            second,
            f"{name} stands in {first} and in {second}: two resources would have one name,",
        )


def _same_keys(cell: CellValues, known: dict[int, list[str]]) -> Iterator[tuple[str, str, str, str]]:
    """Yield keys of a map that are the same for helm, which keeps any of them: 1 and "1".

    Args:
        known: the results of items, which cells share.
    """
    for section, items in cell.values.items():
        for name, item in items.items():
            if id(item) not in known:
                known[id(item)] = [dotted(path) for path in _twice(item)]
            for path in known[id(item)]:
                what = f"{name} has the key {path} as a text and as something else, which are one for helm,"
                yield "CMD-FLT-062", cell.type, section, what


def _twice(value: Any, path: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    if isinstance(value, dict):
        texts = [key_text(key) for key in value]
        if len(set(texts)) < len(texts):
            yield from ((*path, text) for text in sorted(set(texts)) if texts.count(text) > 1)
        for key, inner in value.items():
            yield from _twice(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _twice(inner, (*path, number))


def _definition(fleet: Fleet, kind: str, section: str, name: str) -> list[Location]:
    layers = (layer for type_ in fleet.types if type_.name == kind for layer in layers_of(type_))
    definition = next((layer for layer in layers if name in layer.values.get(section, {})), None)
    return [definition.at((section, name))] if definition else []


class _Templates:
    """The names that the templates of a chart refer to."""

    def __init__(self, chart: Chart) -> None:
        self._text = b"\n".join(
            text
            for path, text in chart.files.items()
            if path.startswith(("templates/", "charts/")) or path in ("Chart.yaml", "requirements.yaml")
        )
        self._own = chart.own
        self._all_at_once = any(_ALL_VALUES.search(template) for template in chart.templates.values())
        self.fixed = b".Values" not in self._text
        self._known: dict[str, bool] = {}

    def read_section(self, section: str) -> bool:
        """Return True if a section is read: by name, as the values of a dependency, or with all values at once."""
        if section not in self._known:
            dependency = rb"^[ -]+(?:name|alias): *[\"']?" + re.escape(section.encode()) + rb"(?![\w-])"
            is_read = self._names(section) or re.search(dependency, self._text, re.MULTILINE)
            self._known[section] = self._all_at_once or bool(is_read)
        return self._known[section]

    def need(self, field: str) -> bool:
        """Return True if an Application needs a field: own templates without a reference to it can do without."""
        return not self._own or self._names(field)

    def _names(self, name: str) -> bool:
        return bool(re.search(rb"[.\"`']" + re.escape(name.encode()) + rb"(?![\w-])", self._text))


def _unread_sections(layer: Layer, templates: _Templates) -> Iterator[CommodoreError | Warned]:
    """Yield sections that the chart does not read: their items have no effect."""
    for section in (section for section in layer.values if not templates.read_section(section)):
        location = layer.at((section,))
        message = f"{at(location)}: no template reads the section {shown(section)}"
        hint = did_you_mean(section, SECTIONS) if section not in SECTIONS else ""
        if templates.fixed:  # the chart renders the same for all values, hardly by mistake
            yield Warned("CMD-FLT-019", message, hint or "let a template read it")
        else:
            yield InputError(
                "CMD-FLT-064",
                f"{message}: nothing would come of its {counted(len(layer.values[section]), 'item')}",
                hint=hint or "remove it, or let a template read it",
                locations=[location],
            )


def _unknown_keys(layer: Layer) -> Iterator[Warned]:
    definitions = static_schema("values")["$defs"]
    for section, definition in ((APPLICATIONS, "application"), (APPLICATIONSETS, "applicationset")):
        known = definitions[definition]["properties"]
        for name, item in layer.values.get(section, {}).items():
            for key in item if isinstance(item, dict) else ():
                if key not in known:
                    place = at(layer.at((section, name, key)))
                    yield Warned(
                        "CMD-FLT-019",
                        f"{place}: the key {shown(key)} is not one that the template writes",
                        did_you_mean(key, known),
                    )


def _lost_in_helm(layer: Layer) -> Iterator[CommodoreError | Warned]:
    """Yield numbers and texts that helm changes."""
    for path, value in _scalars(layer.values):
        if isinstance(value, str):
            if match := _UNWRITABLE.search(value):
                location = layer.at(path)
                yield InputError(
                    "CMD-FLT-061",
                    f"{at(location)}: the text has the character U+{ord(match[0]):04X}, with which helm's toYaml "
                    "leaves out the whole field",
                    hint="remove the character",
                    locations=[location],
                )
        elif isinstance(value, int) and not isinstance(value, bool) and abs(value) > _SAFE_INTEGER:
            yield Warned(
                "CMD-FLT-054",
                f"the number {shown(value)} at {at(layer.at(path))} loses digits in helm",
                "write it as a text",
            )


def _puts_in_quotes(template: bytes) -> bool:
    """Return True if a template of ApplicationSets puts a text into single quotes without doubling its apostrophes."""
    expressions = (
        [match[0] for match in _SINGLE_QUOTES.finditer(template)] if b"applicationset" in template.lower() else []
    )
    return any(b"replace" not in expression for expression in expressions)


def _broken_quotes(layer: Layer) -> Iterator[CommodoreError]:
    """Yield texts of ApplicationSets that a chart puts into single quotes unescaped."""
    for name, item in layer.values.get(APPLICATIONSETS, {}).items():
        template = item.get("template") if isinstance(item, dict) else None
        for path, value in _quoted_fields(template) if isinstance(template, dict) else ():
            if isinstance(value, str) and "'" in value.replace("''", ""):
                location = layer.at((APPLICATIONSETS, name, "template", *path))
                yield InputError(
                    "CMD-FLT-028",
                    f"{at(location)}: an apostrophe in {path[-1]} ends the text that the chart puts into single quotes",
                    hint="double the apostrophe, or write it without one",
                    locations=[location],
                )


def _quoted_fields(template: Mapping[str, Any]) -> Iterator[tuple[tuple[object, ...], Any]]:
    metadata: Any = template.get("metadata")
    spec: Any = template.get("spec")
    for path, value in leaves(metadata if isinstance(metadata, dict) else {}):
        if path and path[0] in ("annotations", "name", "namespace"):
            yield ("metadata", *path), value
    yield ("spec", "project"), spec.get("project") if isinstance(spec, dict) else None


def check_names(rendered: Iterable[Mapping[str, bytes]], report: Diagnostics) -> None:
    """Report resources whose names are not texts: a chart has written the names without quotes.

    Args:
        rendered: the resources of cells, by file.
    """
    texts = {path: text for files in rendered for path, text in files.items() if not _PLAIN_NAME.match(path)}
    unquoted = sorted(
        path for path, text in texts.items() if not isinstance(load(text, place=path)["metadata"]["name"], str)
    )
    if unquoted:
        report.add(
            Warned(
                "CMD-FLT-063",
                f"names of resources are no texts, which Kubernetes refuses: {some_of(unquoted)}",
                "let the chart put names in quotes: name: {{ $name | quote }}",
            )
        )


# expressions


def check_expressions(
    fleet: Fleet, chart: Chart, report: Diagnostics, rendered: Iterable[Mapping[str, bytes]], proofs: Iterable[Any]
) -> None:
    """Report expressions without the apparent effect.

    Args:
        rendered: the resources of cells, in style manifests.
        proofs: the objects of charts for a fake cluster, in style charts.
    """
    places = _Found()
    if fleet.choices.output == "manifests":
        inside, eaten = _left_in_resources(rendered)
        for layer, path, text in _all_texts(fleet):
            places.inside += [layer.at(path)] if any(expression in text for expression in inside) else []
            places.eaten += [layer.at(path)] if any(expression in text for expression in eaten) else []
    else:
        left = _unresolved(fleet, proofs)
        texts = [text.decode("utf-8", "replace") for text in chart.templates.values()]
        resolving = any(re.search(r"\btpl\b", text) for text in texts)
        into_yaml = any(re.search(r"\btpl\s*\(\s*toYaml\b", text) for text in texts)
        for layer, path, text in _all_texts(fleet):
            own = _expressions(text)
            if any(expression in left for expression in own):
                places.stays.append(layer.at(path))
            elif into_yaml and own:
                places.inside.append(layer.at(path))
            elif resolving and path[:1] == (APPLICATIONSETS,) and any(_is_consumed(expression) for expression in own):
                places.eaten.append(layer.at(path))
    report.add(*places.in_words())


@dataclass(slots=True)
class _Found:
    """Places of expressions, by effect."""

    stays: list[Location] = field(default_factory=list)
    inside: list[Location] = field(default_factory=list)
    eaten: list[Location] = field(default_factory=list)

    def in_words(self) -> Iterator[Warned]:
        if self.stays:
            yield Warned(
                "CMD-FLT-051",
                f"expressions stay as they are, the template does not resolve them: {_places(self.stays)}",
                "let the template resolve each text with tpl, as the built-in one does",
            )
        if self.inside:
            yield Warned(
                "CMD-FLT-052",
                "expressions are resolved inside YAML, a cluster's value could change the object: "
                + _places(self.inside),
                "put '| toJson' at their ends, or resolve text by text, as the built-in template does",
            )
        if self.eaten:
            yield Warned(
                "CMD-FLT-053",
                f"placeholders of ApplicationSets are consumed by Argo CD's own pass: {_places(self.eaten)}",
                "escape them once more: {{`…`}}",
            )


def _places(locations: Sequence[Location]) -> str:
    return some_of([str(location) for location in dict.fromkeys(locations)])


def _all_texts(fleet: Fleet) -> Iterator[tuple[Layer, tuple[object, ...], str]]:
    """Yield all texts with expressions in defaults, values, overrides and patches."""
    for kind in fleet.types:
        for layer in (*_defaults_of(kind), *layers_of(kind)):
            for path, text in _scalars(layer.values):
                if isinstance(text, str) and "{{" in text:
                    yield layer, path, text


def _scalars(value: Any, path: tuple[object, ...] = ()) -> Iterator[tuple[tuple[object, ...], Any]]:
    """Yield all keys, and all values that are neither maps nor lists, with their paths."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key), key
            yield from _scalars(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _scalars(inner, (*path, number))
    else:
        yield path, value


def _unresolved(fleet: Fleet, proofs: Iterable[Any]) -> set[str]:
    """Return the expressions that remain in the objects of charts, without the ones that the fleet's texts escape in
    the same field for the deployed application.
    """
    left = {
        (expression, path[-1])
        for proof in proofs
        for path, text in _scalars(proof)
        if isinstance(text, str)
        for expression in _ANY.findall(text)
        if ".Values." in expression
    }
    escaped = {
        (expression, path[-1])
        for _, path, text in _all_texts(fleet)
        for literal in _LITERAL.findall(text)
        for expression in _ANY.findall(literal[2:-2])
    }
    return {expression for expression, _ in left - escaped}


def _expressions(text: str) -> list[str]:
    """Return the expressions that a pass of helm resolves in a text, without literals."""
    expressions: list[str] = _ANY.findall(_LITERAL.sub("", text))
    return expressions


def _is_consumed(expression: str) -> bool:
    return ".Values." not in expression and "(" not in expression


def _left_in_resources(rendered: Iterable[Mapping[str, bytes]]) -> tuple[set[str], set[str]]:
    """Return the expressions in resources that a cluster's value could break out of, and those of ApplicationSets that
    Argo CD would resolve itself.
    """
    inside: set[str] = set()
    eaten: set[str] = set()
    for content in {text for files in rendered for text in files.values() if b"{{" in text}:
        for expression in _expressions(content.decode("utf-8", "replace")):
            if ".Values." in expression and not _QUOTING.search(expression):
                inside.add(expression)
            elif ".Values." not in expression and b"kind: ApplicationSet" in content:
                eaten.add(expression)
    return inside, eaten
