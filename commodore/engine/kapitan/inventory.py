"""Kapitan's view of the inventory, made from nodes that are rendered already; each target when it is first read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from kapitan.inventory import Inventory, InventoryTarget
from kapitan.utils import normalise_join_path
from pydantic import ValidationError

from commodore.engine.inventory_transfer import WrittenNodes
from commodore.engine.tasks import Run
from commodore.errors import CommodoreError, Findings, InputError, did_you_mean

_UNIONS = ("compile", "dependencies")
_RECENT = 16
"""Targets whose views are kept. A view is a copy, so that it takes as much memory as if nothing was equal in others."""


class _Targets(Mapping[str, Any]):
    """Every target's validated model, read when asked for."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = files
        self.nodes = WrittenNodes(files)
        self._models = lru_cache(_RECENT)(self._model)

    def node(self, name: str) -> dict[str, Any]:
        return self.nodes.node(name)

    def _model(self, name: str) -> Any:
        return _validate(name, self.node(name))  # KeyError for an unknown target, as a mapping does

    def __getitem__(self, name: str) -> Any:
        return self._models(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def _validate(name: str, node: Mapping[str, Any]) -> Any:
    """Kapitan's model of a target, assigned field by field as its back-ends do."""
    try:
        target = InventoryTarget(name=name, path=f"{name}.yml")
        for part in ("parameters", "classes", "applications", "exports"):
            if part in node:
                setattr(target, part, node[part])
    except ValidationError as error:
        raise Findings([_explain(name, detail) for detail in error.errors()]) from error
    return target


def _explain(target: str, detail: Mapping[str, Any]) -> CommodoreError:
    path = ""
    place = detail["loc"]
    for position, part in enumerate(place):
        if isinstance(part, int):
            path += f"[{part}]"
        elif position < 2 or not (isinstance(place[position - 1], int) and place[position - 2] in _UNIONS):
            path += f".{part}" if path else str(part)  # what is left out is pydantic's own name of a member of a union
    message = str(detail["msg"])
    hint = "the fields of compile entries, dependencies and secrets are Kapitan's; a misspelt one is an error"
    if detail["type"] == "extra_forbidden":
        message = "unknown field"
    elif detail["type"] == "union_tag_invalid":  # pydantic names the members of Python's enum
        context = detail["ctx"]
        known = re.findall(r"'([\w.-]+)'(?=>|,|$)", context["expected_tags"])
        field = str(context["discriminator"]).strip("'")
        message = f"there is no {field} {context['tag']!r}"
        hint = did_you_mean(context["tag"], known) or f"it is one of {', '.join(known)}"
    return InputError(
        "CMD-ENG-008",
        f"instance {target!r}: {path}: {message[:1].lower()}{message[1:]}",
        hint=hint,
        locations=[f"{target}: {path}"],
    )


class RenderedInventory(Inventory):  # type: ignore[misc]
    """What Kapitan's inputs ask for as `cached.inv`. Renders and reads lazily."""

    def __init__(self, run: Run) -> None:
        # Kapitan's own constructor would look for target files and render them.
        self.targets = _Targets(run.targets)
        self.initialised = True
        self._run = run
        self._views = lru_cache(_RECENT)(self._view)
        self._plain_views = lru_cache(_RECENT)(self._plain_view)

    def render_targets(self, targets: object = None, ignore_class_not_found: bool = False) -> None:
        """Nothing to do: the targets are rendered."""

    @property
    def nodes(self) -> Mapping[str, Mapping[str, Any]]:
        """All targets' nodes as reclass-rs rendered them, read when asked for."""
        return self.targets.nodes

    def node(self, name: str) -> dict[str, Any]:
        """A target's node as reclass-rs rendered it."""
        return self.targets.node(name)

    @cached_property
    def inventory(self) -> dict[str, Any]:
        """All targets as templates see them: what `inventory_global` gives."""
        return {name: self.plain_view(name) for name in self.targets}

    def __getitem__(self, name: str) -> Any:
        return self.view(name)

    def is_fetched(self, name: str) -> bool:
        """Whether this run fetches a target's dependencies."""
        kapitan = self.targets[name].parameters.kapitan
        dependencies = (kapitan.dependencies or []) if kapitan is not None else []
        return name in self._run.jobs and (
            self._run.request.fetch or any(dependency.force_fetch for dependency in dependencies)
        )

    def names(self) -> list[str]:
        """All targets."""
        return list(self.targets)

    def plain_view(self, name: str) -> dict[str, Any]:
        """A target as it is in what `inventory_global` gives."""
        return self._plain_views(name)

    def _plain_view(self, name: str) -> dict[str, Any]:
        view: dict[str, Any] = self.targets[name].model_dump(by_alias=True)
        return view

    def view(self, name: str) -> dict[str, Any]:
        """A target as the Jsonnet function `inventory` gives it.

        Kapitan completes the settings of compiled targets before it compiles: the full path, and where fetched
        dependencies are.

        Raises:
            InputError: there is no such target.
        """
        return self._views(name)

    def _view(self, name: str) -> dict[str, Any]:
        if name not in self.targets:
            raise InputError(
                "CMD-ENG-009",
                f"there is no target {name!r} in the inventory",
                hint=did_you_mean(name, self.targets),
            )
        view: dict[str, Any] = self.targets[name].model_dump(by_alias=True)
        settings = view["parameters"]["kapitan"]
        if name in self._run.jobs and settings is not None:
            settings["target_full_path"] = name.replace(".", "/")
            if self.is_fetched(name):
                for dependency in settings["dependencies"] or ():
                    output = normalise_join_path(str(self._run.request.output), dependency["output_path"])
                    dependency["output_path"] = output
        return view
