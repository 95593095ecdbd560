"""Fields of custom objects that hold values of Kubernetes' own types, which are written in one form."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from commodore.base.kubernetes.quantities import canonical_quantity
from commodore.base.values.units import canonical_go_duration

_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
BUILT_IN: dict[str, tuple[tuple[str, str], ...]] = {"argoproj.io/Rollout": (("spec.template.spec", "core/v1/PodSpec"),)}
"""Those that are known without being said, by `group/Kind`."""

_QUANTITY_TYPE, _LIST_TYPE = "core/Quantity", "core/v1/ResourceList"
_RESOURCES = (("resources.limits", _LIST_TYPE), ("resources.requests", _LIST_TYPE))
_POD = (
    *(
        (f"{containers}.{path}", kind)
        for containers in _CONTAINERS
        for path, kind in (*_RESOURCES, ("env.valueFrom.resourceFieldRef.divisor", _QUANTITY_TYPE))
    ),
    *_RESOURCES,
    ("overhead", _LIST_TYPE),
    ("volumes.emptyDir.sizeLimit", _QUANTITY_TYPE),
    ("volumes.downwardAPI.items.resourceFieldRef.divisor", _QUANTITY_TYPE),
    ("volumes.projected.sources.downwardAPI.items.resourceFieldRef.divisor", _QUANTITY_TYPE),
    *((f"volumes.ephemeral.volumeClaimTemplate.spec.{path}", kind) for path, kind in _RESOURCES),
)
_PODS = {
    "Pod": "spec",
    "PodTemplate": "template.spec",
    "ReplicationController": "spec.template.spec",
    **dict.fromkeys(
        ("apps/DaemonSet", "apps/Deployment", "apps/ReplicaSet", "apps/StatefulSet", "batch/Job"), "spec.template.spec"
    ),
    "batch/CronJob": "spec.jobTemplate.spec.template.spec",
}
_METRICS = ("containerResource", "external", "object", "pods", "resource")
_BOUNDS = ("default", "defaultRequest", "max", "maxLimitRequestRatio", "min")
_FIELDS: dict[str, tuple[tuple[str, str], ...]] = {
    "PersistentVolume": (("spec.capacity", _LIST_TYPE),),
    "PersistentVolumeClaim": tuple((f"spec.{path}", kind) for path, kind in _RESOURCES),
    "apps/StatefulSet": tuple((f"spec.volumeClaimTemplates.spec.{path}", kind) for path, kind in _RESOURCES),
    "ResourceQuota": (("spec.hard", _LIST_TYPE),),
    "LimitRange": tuple((f"spec.limits.{bound}", _LIST_TYPE) for bound in _BOUNDS),
    "autoscaling/HorizontalPodAutoscaler": tuple(
        (f"spec.metrics.{metric}.target.{value}", _QUANTITY_TYPE)
        for metric in _METRICS
        for value in ("averageValue", "value")
    ),
    "node.k8s.io/RuntimeClass": (("overhead.podFixed", _LIST_TYPE),),
}
AMOUNTS: dict[str, tuple[tuple[str, str], ...]] = {
    name: (*((f"{_PODS[name]}.{path}", kind) for path, kind in _POD if name in _PODS), *_FIELDS.get(name, ()))
    for name in (*_PODS, *(name for name in _FIELDS if name not in _PODS))
}
"""Where the objects of Kubernetes' own kinds have amounts, by `group/Kind`."""

_TYPES = Path(__file__).with_name("core-types.json")
"""How Go writes the types of core/v1, made by `scripts/known-types`, which explains it."""

_CORE = "core/v1/"


def is_known(name: str) -> bool:
    """Whether a type is one whose values have one form."""
    return _writer(name) is not None


def rewrite(data: Any, path: str, name: str) -> None:
    """Write the values of a field in the form of their type, in place. A dot walks into maps and lists.

    Values that are none of the type stay as they are. A null gets the form that the type has of nothing.
    """
    writer = _writer(name)
    if writer is not None:
        _walk(data, path.split("."), writer)


def _walk(data: Any, steps: list[str], writer: Callable[[Any], Any]) -> None:
    if isinstance(data, list):
        for item in data:
            _walk(item, steps, writer)
    elif isinstance(data, dict) and steps[0] in data:
        if len(steps) > 1:
            _walk(data[steps[0]], steps[1:], writer)
        elif isinstance(value := data[steps[0]], list):
            data[steps[0]] = [writer(item) for item in value]
        else:
            data[steps[0]] = writer(value)


def _writer(name: str) -> Callable[[Any], Any] | None:
    if name == "core/Quantity":
        return partial(_leaf, "quantity")
    if name == "meta/v1/Duration":
        return partial(_leaf, "duration")
    if name == "core/v1/ResourceList":
        return partial(_written, "{}quantity")
    kind = name.removeprefix(_CORE)
    return partial(_written, kind) if name.startswith(_CORE) and kind in _core_types() else None


@functools.cache
def _core_types() -> dict[str, dict[str, str]]:
    loaded: dict[str, dict[str, str]] = json.loads(_TYPES.read_bytes())
    return loaded


def _written(type_: str, value: Any) -> Any:
    """A value as Go writes it that reads it as a type. Fields that the type has not stay."""
    if type_.startswith("[]"):
        return [_written(type_[2:], item) for item in value] if isinstance(value, list) else value
    if type_.startswith("{}"):
        inner = type_[2:]
        return {key: _written(inner, item) for key, item in value.items()} if isinstance(value, dict) else value
    fields = _core_types().get(type_)
    return _leaf(type_, value) if fields is None else _struct(fields, value)


def _leaf(type_: str, value: Any) -> Any:
    if type_ == "quantity":
        return "0" if value is None else _or(canonical_quantity(value), value)
    return _or(canonical_go_duration(value), value) if type_ == "duration" else value


def _or(written: str | None, value: Any) -> Any:
    return value if written is None else written


def _struct(fields: Mapping[str, str], value: Any) -> Any:
    if not isinstance(value, dict | None):
        return value
    # What cannot be left out comes first, so that it is written even if the value does not have it.
    given: dict[str, Any] = {key: None for key, field in fields.items() if field.startswith("!")} | (value or {})
    result: dict[str, Any] = {}
    for key, item in given.items():
        mark, type_, empty = _field(fields.get(key, "*any"))
        if mark == "!":
            result[key] = json.loads(empty) if item is None else _written(type_, item)
        elif item is not None and (mark == "*" or item not in (False, 0, "", [], {})):
            result[key] = _written(type_, item)
    return result


def _field(text: str) -> tuple[str, str, str]:
    """The mark of a field, its type, and the text that stands for nothing."""
    type_, _, empty = text[1:].partition("=")
    return text[0], type_, empty
