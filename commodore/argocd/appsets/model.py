"""ApplicationSets as written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.argocd.appsets.schema import GENERATORS, SELECTOR, TEMPLATE, typed
from commodore.argocd.configuration import read_file
from commodore.argocd.model.fields import Fields
from commodore.base.errors import InputError, Location, did_you_mean
from commodore.base.limits import Limits
from commodore.base.yaml.kube_yaml import read_placed_documents


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of `generators`: its generators in the order in which they run, and a selector of their results.

    Attributes:
        path: its path in the ApplicationSet.
        several: pairs of a generator's kind and its fields.
    """

    path: str
    several: tuple[tuple[str, Mapping[str, Any]], ...]
    selector: Mapping[str, Any] | None
    place: Location


@dataclass(frozen=True, slots=True)
class ApplicationSet:
    """An ApplicationSet.

    Attributes:
        missing: the option `missingkey` of Go templates: `default`, `invalid`, `zero` or `error`.
        patch: the text of `templatePatch`; empty if it is not set.
        preserves: True if its Applications get no finalizer.
        idle: fields that have an effect only in a running Argo CD.
    """

    name: str
    namespace: str
    entries: tuple[Entry, ...]
    template: Mapping[str, Any]
    go: bool
    missing: str
    patch: str
    preserves: bool
    idle: tuple[str, ...]
    place: Location


def read_set(value: Any, place: Location) -> ApplicationSet:
    """Read an ApplicationSet from its object.

    Raises:
        InputError: CMD-ARGO-103, a field is missing or has the wrong type; CMD-ARGO-201, an entry of its generators
            has no known generator.
    """
    fields = Fields.of(value, "", place)
    metadata, spec = fields.fields("metadata"), fields.fields("spec")
    policy = spec.fields("syncPolicy")
    idle = [key for key in ("strategy", "preservedFields", "ignoreApplicationDifferences") if key in spec]
    idle += ["syncPolicy.applicationsSync"] if "applicationsSync" in policy else []
    return ApplicationSet(
        name=metadata.required("name"),
        namespace=metadata.text("namespace"),
        entries=tuple(read_entry(entry.data, entry.path, place) for entry in spec.items("generators")),
        template=read_template(spec.raw("template") or {}, "spec.template", place),
        go=spec.flag("goTemplate"),
        missing=_missing(spec.texts("goTemplateOptions"), place),
        patch=spec.text("templatePatch"),
        preserves=policy.flag("preserveResourcesOnDeletion"),
        idle=tuple(idle),
        place=place,
    )


def read_template(value: Any, path: str, place: Location) -> Mapping[str, Any]:
    """Read a template of Applications, with the fields of its type only."""
    template: Mapping[str, Any] = typed(value, TEMPLATE, path, place)
    return template


def read_entry(value: Any, path: str, place: Location) -> Entry:
    """Read an entry of `generators`, at any depth.

    Raises:
        InputError: CMD-ARGO-103, a field has the wrong type; CMD-ARGO-201, it has no known generator.
    """
    fields = Fields.of(value, path, place)
    several = tuple(
        (kind, typed(fields.raw(kind), schema, f"{path}.{kind}", place))
        for kind, schema in GENERATORS.items()
        if kind in fields
    )
    if not several:
        names = [key for key in fields.data if key != "selector"]
        hint = did_you_mean(names[0], GENERATORS) if names else ""
        raise InputError(
            "CMD-ARGO-201",
            f"{path} has no known generator: {', '.join(map(str, names)) or 'it is empty'}",
            hint=hint or f"generators are {', '.join(GENERATORS)}",
            locations=[place],
        )
    selector = typed(fields.raw("selector"), SELECTOR, f"{path}.selector", place)
    return Entry(path, several, selector, place)


def _missing(options: tuple[str, ...], place: Location) -> str:
    missing = "default"
    for option in options:
        key, _, value = option.partition("=")
        if key != "missingkey" or value not in ("default", "invalid", "zero", "error"):
            raise InputError(
                "CMD-ARGO-103",
                f"spec.goTemplateOptions: unknown option {option!r}",
                hint="write missingkey=default, missingkey=zero or missingkey=error",
                locations=[place],
            )
        missing = value
    return missing


def read_sets(files: Iterable[Path], limits: Limits) -> list[ApplicationSet]:
    """Read the ApplicationSets of files, in their order.

    Raises:
        InputError: CMD-ARGO-101, a file cannot be read; CMD-ARGO-103 and others, an ApplicationSet is invalid or an
            object is of another kind.
    """
    sets = []
    for file in files:
        for value, line in read_placed_documents(read_file(file, limits), place=str(file)):
            place = Location(str(file), line)
            kind = Fields.of(value, "", place).text("kind")
            if kind != "ApplicationSet":
                raise InputError(
                    "CMD-ARGO-103",
                    f"{kind or 'an object without kind'} is not an ApplicationSet",
                    hint="the file holds ApplicationSets of argoproj.io",
                    locations=[place],
                )
            sets.append(read_set(value, place))
    return sets
