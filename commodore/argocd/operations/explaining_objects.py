"""Explaining an object of an Application, or a field of it, by its values after each stage."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commodore.argocd.normalising.paths import checked_pointer
from commodore.argocd.rendering import Rendered
from commodore.base.documents import ABSENT, Absent
from commodore.base.errors import InputError, did_you_mean
from commodore.base.kubernetes import ObjectKey, key_of
from commodore.core.review import Masks, field_changes, mask_object, path_text

Stages = Sequence[tuple[str, Sequence[Rendered]]]


@dataclass(frozen=True, slots=True)
class SourcedObject:
    """An object.

    Attributes:
        source: the number of its source, from 1.
        origin: its file or template; empty if it is unknown.
    """

    source: int
    origin: str
    group: str
    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class ObjectStage:
    """An object after a stage.

    Attributes:
        stage: `rendered`, `tracked`, or `desired`.
        changes: the differences from the previous stage, in words; left out if a pointer is given.
        present: with a pointer, true if it has a value.
        value: with a pointer, the value; null if it is not present.
    """

    stage: str
    changes: Sequence[str] | Absent = ABSENT
    present: bool | Absent = ABSENT
    value: Any | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class ExplainedObject(SourcedObject):
    """An object after each stage, without secrets.

    Attributes:
        pointer: the JSON pointer; empty for the whole object.
    """

    pointer: str
    stages: Sequence[ObjectStage]


def explain_object(stages: Stages, text: str) -> ExplainedObject:
    """Explain an object after each stage, without secrets.

    Args:
        stages: the names of the stages with the objects after each; the last as Argo CD compares them.
        text: `KIND/NAME` or `KIND/NAMESPACE/NAME`, optionally with `/` and a JSON pointer.

    Raises:
        InputError: CMD-ARGO-029, the object does not exist, or has no value at the pointer in any stage.
    """
    match = _find(stages[-1][1], text)
    if match is None:
        names = sorted({_name(key_of(rendered.data)) for rendered in stages[-1][1]})
        raise InputError(
            "CMD-ARGO-029",
            f"the Application has no object {text!r}",
            hint=did_you_mean(text, names) or "write it as KIND/NAME or KIND/NAMESPACE/NAME",
        )
    rendered, pointer = match
    key = key_of(rendered.data)
    masks = Masks()
    versions = [(name, _version(objects, rendered, masks)) for name, objects in stages]
    if pointer:
        values = [(name, _at(version, pointer)) for name, version in versions]
        if all(value is ABSENT for _, value in values):
            raise InputError(
                "CMD-ARGO-029",
                f"{_name(key)} has no value at {pointer}",
                hint="a pointer is a path such as /spec/replicas",
            )
        shown = [
            ObjectStage(name, ABSENT, value is not ABSENT, None if value is ABSENT else value) for name, value in values
        ]
    else:
        shown = [
            ObjectStage(name, _changes(versions[number - 1][1] if number else None, version))
            for number, (name, version) in enumerate(versions)
        ]
    return ExplainedObject(rendered.source, rendered.origin, *key, pointer, shown)


def _find(objects: Sequence[Rendered], text: str) -> tuple[Rendered, str] | None:
    """Return the object with the longest name that a text begins with, and the pointer after it."""
    fits: dict[int, tuple[Rendered, str]] = {}
    for rendered in objects:
        key = key_of(rendered.data)
        for name in {_name(key), f"{key.kind}/{key.name}"}:
            if text == name or text.startswith(f"{name}/"):
                fits[len(name)] = rendered, text[len(name) :].rstrip("/")
    return fits[max(fits)] if fits else None


def _name(key: ObjectKey) -> str:
    return "/".join(filter(None, (key.kind, key.namespace, key.name)))


def _version(objects: Sequence[Rendered], rendered: Rendered, masks: Masks) -> Mapping[str, Any] | None:
    """Return the object after a stage, where it may have no namespace yet; of several objects the last."""
    key = key_of(rendered.data)
    same = [
        earlier
        for earlier in objects
        if earlier.source == rendered.source
        and key_of(earlier.data)._replace(namespace="") == key._replace(namespace="")
        and key_of(earlier.data).namespace in ("", key.namespace)
    ]
    return mask_object(copy.deepcopy(same[-1].data), masks) if same else None


def _changes(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> list[str]:
    if before is None or after is None:
        return []
    return [f"{change.kind} {path_text(change.path)}" for change in field_changes(before, after)]


def _at(value: Any, pointer: str) -> Any:
    for step in checked_pointer(pointer):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return ABSENT
    return value
