"""Kapitan targets of a run: the bootstrap target and one per component instance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.names import BOOTSTRAP_TARGET, parameter_key
from commodore.base.yaml import dump


@dataclass(frozen=True, slots=True)
class Target:
    """One node of the hierarchy: the classes it includes, in merge order, and its own parameters."""

    name: str
    classes: tuple[str, ...]
    parameters: Mapping[str, Any]

    def as_yaml(self) -> bytes:
        """Return the content of the target's file."""
        return dump({"classes": list(self.classes), "parameters": dict(self.parameters)}).encode()


@dataclass(frozen=True, slots=True)
class InstanceMeta:
    """The meta-parameters of an instance in the hierarchy.

    `directory` is the component's folder in the instance's checkout, `kustomize_wrapper` and `python` are absolute
    paths of the script and interpreter that components may call.
    """

    instance: str
    component: str
    directory: Path
    kustomize_wrapper: Path
    python: str

    def parameters(self) -> dict[str, Any]:
        """Return the target's own parameters, with the pair that merges an alias over its component."""
        own: dict[str, Any] = {
            "_instance": self.instance,
            "_base_directory": _literal(str(self.directory)),
            "_kustomize_wrapper": _literal(str(self.kustomize_wrapper)),
            "_python3": _literal(self.python),
            "kapitan": {"vars": {"target": self.instance}},
        }
        if self.instance != self.component:
            alias_key = parameter_key(self.instance)
            own[alias_key] = {}
            own[parameter_key(self.component)] = f"${{{alias_key}}}"
        return own


def _literal(text: str) -> str:
    """Escape a path for reclass, which would read `${` as a reference."""
    return text.replace("${", "\\${")


def bootstrap_target(defaults: Iterable[str] = ()) -> Target:
    """Return the target `cluster`, with the defaults classes of the given components (empty during discovery)."""
    classes = ["params.cluster", *(f"defaults.{name}" for name in sorted(defaults)), "global.commodore"]
    return Target(BOOTSTRAP_TARGET, tuple(classes), {"_instance": BOOTSTRAP_TARGET})


def instance_target(meta: InstanceMeta, defaults: Iterable[str]) -> Target:
    """Return the target of an instance: the bootstrap target, with the instance's own defaults in place of its
    component's, and its component class last.
    """
    own = [meta.instance if name == meta.component else name for name in sorted(defaults)]
    classes = [
        "params.cluster",
        *(f"defaults.{name}" for name in own),
        "global.commodore",
        f"components.{meta.instance}",
    ]
    return Target(meta.instance, tuple(classes), meta.parameters())


def standalone_target(meta: InstanceMeta, values: Iterable[str]) -> Target:
    """Return the target of `component compile`: value classes override the component's class."""
    classes = ("params.cluster", f"defaults.{meta.component}", f"components.{meta.component}", *values)
    return Target(meta.instance, classes, meta.parameters())
