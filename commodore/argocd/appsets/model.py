"""ApplicationSets as they are written."""

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
    """One entry of `generators`: its generators in the order in which they run, and what selects among their results.

    Attributes:
        path: where it is in the ApplicationSet.
        several: pairs of a generator's kind and its fields.
    """

    path: str
    several: tuple[tuple[str, Mapping[str, Any]], ...]
    selector: Mapping[str, Any] | None
    place: Location


@dataclass(frozen=True, slots=True)
class ApplicationSet:
    """One ApplicationSet.

    Attributes:
        missing: what a missing key of a Go template does: `default`, `invalid`, `zero` or `error`.
        patch: the text of `templatePatch`; empty if there is none.
        preserves: whether its Applications get no finalizer.
        idle: fields that say something only to a running Argo CD.
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
    """An ApplicationSet from its object.

    Raises:
        InputError: CMD-ARGO-103, a field is missing or has the wrong type; CMD-ARGO-201, an entry of its generators
            names none that is known.
    """
    fields = Fields.of(value, "", place)
    metadata, spec = fields.fields("metadata"), fields.fields("spec")
    policy = spec.fields("syncPolicy")
    idle = [key for key in ("strategy", "preservedFields", "ignoreApplicationDifferences") if key in spec]
    idle += ["syncPolicy.applicationsSync"] if "applicationsSync" in policy else []
    return ApplicationSet(
        name=metadata.required("name"),
        namespace=metadata.text("namespace"),
        entries=tuple(read_entry(one.data, one.path, place) for one in spec.items("generators")),
        template=read_template(spec.raw("template") or {}, "spec.template", place),
        go=spec.flag("goTemplate"),
        missing=_missing(spec.texts("goTemplateOptions"), place),
        patch=spec.text("templatePatch"),
        preserves=policy.flag("preserveResourcesOnDeletion"),
        idle=tuple(idle),
        place=place,
    )


def read_template(value: Any, path: str, place: Location) -> Mapping[str, Any]:
    """A template of Applications, as its type holds it."""
    found: Mapping[str, Any] = typed(value, TEMPLATE, path, place)
    return found


def read_entry(value: Any, path: str, place: Location) -> Entry:
    """One entry of `generators`, at any depth.

    Raises:
        InputError: CMD-ARGO-103, a field has the wrong type; CMD-ARGO-201, it names no generator that is known.
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
            f"{path} names no generator that is known: {', '.join(map(str, names)) or 'it is empty'}",
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
                f"spec.goTemplateOptions: {option!r} is no option of templates",
                hint="write missingkey=default, missingkey=zero or missingkey=error",
                locations=[place],
            )
        missing = value
    return missing


def read_sets(files: Iterable[Path], limits: Limits) -> list[ApplicationSet]:
    """The ApplicationSets of files, in their order.

    Raises:
        InputError: CMD-ARGO-101, a file cannot be read; CMD-ARGO-103 and others, a set is wrong or another object is
            among them.
    """
    found = []
    for file in files:
        for value, line in read_placed_documents(read_file(file, limits), place=str(file)):
            place = Location(str(file), line)
            kind = Fields.of(value, "", place).text("kind")
            if kind != "ApplicationSet":
                raise InputError(
                    "CMD-ARGO-103",
                    f"{kind or 'an object without kind'} is no ApplicationSet",
                    hint="the file holds ApplicationSets of argoproj.io",
                    locations=[place],
                )
            found.append(read_set(value, place))
    return found
