"""`resource.customizations` of `argocd-cm`, in a single key and in split keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from commodore.argocd.model.fields import Fields
from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import InputError, Location, did_you_mean
from commodore.base.yaml.kube_yaml import read_documents

PREFIX = "resource.customizations"
TYPES = ("health", "useOpenLibs", "actions", "ignoreDifferences", "ignoreResourceUpdates", "knownTypeFields")


@dataclass(frozen=True, slots=True)
class IgnoredFields:
    """Rules for fields that comparisons ignore: JSON pointers, jq expressions, field managers.

    Attributes:
        place: the place of the rules, which equality ignores.
    """

    pointers: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()
    managers: tuple[str, ...] = ()
    place: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ResourceOverride:
    """The customisation of a kind of objects.

    Attributes:
        known_types: pairs of the path of a field, with dots, and the name of its type.
        health: a Lua script; empty for the built-in health check.
    """

    ignored: IgnoredFields = IgnoredFields()
    known_types: tuple[tuple[str, str], ...] = ()
    health: str = ""
    use_open_libs: bool = False


def read_ignored(fields: Fields) -> IgnoredFields:
    """Read the rules of a map with `jsonPointers`, `jqPathExpressions` and `managedFieldsManagers`.

    Raises:
        InputError: CMD-ARGO-103, a field has a wrong type.
    """
    return IgnoredFields(
        fields.texts("jsonPointers"),
        fields.texts("jqPathExpressions"),
        fields.texts("managedFieldsManagers"),
        fields.place,
    )


def read_overrides(config: Mapping[str, tuple[str, Location]], diagnostics: Diagnostics) -> dict[str, ResourceOverride]:
    """Read all customisations of `argocd-cm`, by `group/Kind` or `Kind`; split keys take precedence.

    Args:
        config: values of `argocd-cm` by key, with their places.
        diagnostics: collects unknown keys (CMD-ARGO-127) and values that cannot be read.
    """
    overrides: dict[str, ResourceOverride] = {}
    for name, kind, value, place in _parts(config, diagnostics):
        try:
            overrides[name] = _with(overrides.get(name, ResourceOverride()), kind, value, place)
        except InputError as error:
            diagnostics.take(error.about(f"{PREFIX} of {name}"))
    return overrides


def _parts(
    config: Mapping[str, tuple[str, Location]], diagnostics: Diagnostics
) -> Iterator[tuple[str, str, Any, Location]]:
    """Yield name, type, value and place of every customisation, those of the single key first."""
    whole, place = config.get(PREFIX, ("", Location("argocd-cm")))
    try:
        for document in read_documents(whole, place=PREFIX):
            for name, parts in Fields.of(document, PREFIX, place).data.items():
                for kind, value in Fields.of(parts, f"{PREFIX}.{name}", place).data.items():
                    yield name, kind.replace("health.lua", "health"), value, place
    except InputError as error:
        diagnostics.take(error)
    for key in sorted(config):
        if not key.startswith(f"{PREFIX}."):
            continue
        kind, _, name = key.removeprefix(f"{PREFIX}.").partition(".")
        value, place = config[key]
        if kind not in TYPES or not name:
            diagnostics.add(
                Diagnostic(
                    "CMD-ARGO-127",
                    f"unknown customisation {key}",
                    "warning",
                    hint=did_you_mean(kind, TYPES) or f"the second part is one of {', '.join(TYPES)}",
                    locations=(place,),
                )
            )
            continue
        yield _group_kind(name), kind, value, place


def _group_kind(name: str) -> str:
    if name == "all":
        return "*/*"
    group, separator, kind = name.rpartition("_")
    return f"{group}/{kind}" if separator else kind


def _with(override: ResourceOverride, kind: str, value: Any, place: Location) -> ResourceOverride:
    if kind == "ignoreDifferences":
        return replace(override, ignored=read_ignored(Fields.of(_data(value, kind), kind, place)))
    if kind == "knownTypeFields":
        listed = Fields.of({kind: _data(value, kind)}, "", place)
        types = tuple((entry.required("field"), entry.required("type")) for entry in listed.items(kind))
        return replace(override, known_types=types)
    if kind == "health":
        return replace(override, health=str(value))
    if kind == "useOpenLibs":
        return replace(override, use_open_libs=str(value).lower() == "true")
    return override


def _data(value: Any, kind: str) -> Any:
    """Return the data of a value that is YAML text, or data."""
    if not isinstance(value, str):
        return value
    return next(read_documents(value, place=kind), {} if kind != "knownTypeFields" else [])
