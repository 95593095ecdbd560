"""Fields of custom objects that hold values of Kubernetes' own types, which are written in one form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from commodore.argocd.normalising.quantities import canonical_duration, canonical_quantity

# Fields of the types of core/v1 that are amounts, and that are maps of amounts.
_QUANTITIES = frozenset(("sizeLimit", "divisor"))
_LISTS = frozenset(("limits", "requests", "hard", "used", "capacity", "allocatable", "overhead", "allocatedResources"))
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

_CORE = frozenset(
    (
        "Affinity",
        "Container",
        "EnvFromSource",
        "EnvVar",
        "EphemeralVolumeSource",
        "LimitRangeSpec",
        "ObjectReference",
        "PersistentVolumeClaim",
        "PersistentVolumeClaimSpec",
        "PersistentVolumeClaimTemplate",
        "PersistentVolumeSpec",
        "PodSpec",
        "PodTemplateSpec",
        "ResourceQuotaSpec",
        "ResourceRequirements",
        "SecurityContext",
        "Service",
        "ServicePort",
        "ServiceSpec",
        "Toleration",
        "Volume",
        "VolumeMount",
        "VolumeResourceRequirements",
    )
)


def is_known(name: str) -> bool:
    """Whether a type is one whose values have one form."""
    return _writer(name) is not None


def rewrite(data: Any, path: str, name: str) -> None:
    """Write the values of a field in the form of their type, in place. A dot walks into maps and lists.

    Values that are none of the type stay as they are.
    """
    writer = _writer(name)
    if writer is not None:
        _walk(data, path.split("."), writer)


def _walk(data: Any, steps: list[str], writer: Callable[[Any], Any]) -> None:
    if isinstance(data, list):
        for item in data:
            _walk(item, steps, writer)
    elif isinstance(data, dict) and data.get(steps[0]) is not None:
        if len(steps) > 1:
            _walk(data[steps[0]], steps[1:], writer)
        elif isinstance(value := data[steps[0]], list):
            data[steps[0]] = [writer(item) for item in value]
        else:
            data[steps[0]] = writer(value)


def _writer(name: str) -> Callable[[Any], Any] | None:
    if name == "core/Quantity":
        return _quantity
    if name == "meta/v1/Duration":
        return _duration
    if name == "core/v1/ResourceList":
        return _resource_list
    group, _, kind = name.rpartition("/")
    return _typed if group == "core/v1" and kind in _CORE else None


def _quantity(value: Any) -> Any:
    written = canonical_quantity(value)
    return value if written is None else written


def _duration(value: Any) -> Any:
    written = canonical_duration(value)
    return value if written is None else written


def _resource_list(value: Any) -> Any:
    return {key: _quantity(one) for key, one in value.items()} if isinstance(value, dict) else value


def _typed(value: Any) -> Any:
    """A value of a type of core/v1: amounts in their one form, nulls as absent."""
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if not isinstance(value, dict):
        return value
    result = {}
    for key, one in value.items():
        if one is None:
            continue
        if key in _LISTS and isinstance(one, dict):
            result[key] = _resource_list(one)
        elif key in _QUANTITIES or (key == "storage" and not isinstance(one, dict | list)):
            result[key] = _quantity(one)
        elif key in _CONTAINERS:
            result[key] = _containers(one)
        else:
            result[key] = _typed(one)
    return result


def _containers(value: Any) -> Any:
    """Containers always say `resources`, as Kubernetes' own type does."""
    found = _typed(value)
    if isinstance(found, list):
        return [{"resources": {}, **one} if isinstance(one, dict) else one for one in found]
    return found
