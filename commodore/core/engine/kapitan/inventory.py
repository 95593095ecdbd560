"""Kapitan's view of the inventory, built from rendered nodes, each target when it is first read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, get_args

from kapitan.inventory import Inventory, InventoryTarget
from kapitan.inventory.model.input_types import CompileInputTypeConfig
from kapitan.utils import normalise_join_path
from pydantic import ValidationError

from commodore.base.errors import CommodoreError, Findings, InputError, Setting, did_you_mean
from commodore.core.engine.inventory_transfer import WrittenNodes
from commodore.core.engine.tasks import BatchRun

_UNIONS = ("compile", "dependencies")
_RECENT = 16
"""Number of targets whose views are cached. A view is a copy, so it does not share memory with others."""


class _Targets(Mapping[str, Any]):
    """Every target's validated model, read on first access."""

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
    """Return Kapitan's model of a target, assigned field by field as its back-ends do."""
    try:
        target = InventoryTarget(name=name, path=f"{name}.yml")
        for part in ("parameters", "classes", "applications", "exports"):
            if part in node:
                setattr(target, part, node[part])
    except ValidationError as error:
        raise Findings([_explain(name, detail) for detail in error.errors()]) from error
    return target


def _explain(target: str, detail: Mapping[str, Any]) -> CommodoreError:
    place = detail["loc"]
    # without pydantic's own name of a union's member, which follows an index
    keys = [
        part
        for position, part in enumerate(place)
        if position < 2
        or isinstance(part, int)
        or not (isinstance(place[position - 1], int) and place[position - 2] in _UNIONS)
    ]
    path = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).removeprefix(".")
    message, hint = _meaning(detail)
    if detail["type"] == "union_tag_invalid":
        keys.append(_discriminator(detail))  # its value is wrong, and has a line of its own
    return InputError(
        "CMD-ENG-008",
        f"instance {target!r}: {path}: {message}",
        hint=hint,
        locations=[Setting(f"{target}: {path}", path=tuple(keys[1:]), target=target)],
    )


_EXPECTED = {
    "list_type": "a list",
    "dict_type": "a map",
    "model_type": "a map",
    "model_attributes_type": "a map",
    "string_type": "a text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
}


def _meaning(detail: Mapping[str, Any]) -> tuple[str, str]:
    """Return the message and the hint for an invalid field."""
    kind, given = str(detail["type"]), detail.get("input")
    fields = "the fields of compile entries, dependencies and secrets are Kapitan's; a misspelt one is an error"
    if kind == "extra_forbidden":
        return "unknown field", did_you_mean(str(detail["loc"][-1]), _FIELDS.get(detail["loc"][-2], ())) or fields
    if kind == "missing":
        return "the field is missing", fields
    if kind == "union_tag_not_found":
        return f"{_discriminator(detail)} is missing", "it determines the entry's other fields"
    if kind == "union_tag_invalid":  # pydantic names the members of Python's enum
        context = detail["ctx"]
        known = re.findall(r"'([\w.-]+)'(?=>|,|$)", context["expected_tags"])
        return f"there is no {_discriminator(detail)} {context['tag']!r}", _choice(context["tag"], known)
    if kind in ("enum", "literal_error"):
        known = re.findall(r"'([^']*)'", detail["ctx"]["expected"])
        return f"there is no {detail['loc'][-1]} {given!r}", _choice(given, known)
    if kind in _EXPECTED:
        return f"it is {_named(given)}, not {_EXPECTED[kind]}", ""
    message = str(detail["msg"])
    return f"{message[:1].lower()}{message[1:]}", fields


# Of compile entries, by their input type.
_FIELDS: dict[Any, list[str]] = {
    model.model_fields["input_type"].default.value: list(model.model_fields)
    for model in get_args(get_args(CompileInputTypeConfig)[0])
}


def _discriminator(detail: Mapping[str, Any]) -> str:
    return str(detail["ctx"]["discriminator"]).strip("'")


def _choice(given: object, known: Sequence[str]) -> str:
    near = did_you_mean(str(given), known)
    return f"{near} It is one of {', '.join(known)}" if near else f"it is one of {', '.join(known)}"


def _named(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        return "a map"
    return "a list" if isinstance(value, list) else f"{'the text ' if isinstance(value, str) else ''}{value!r}"


class RenderedInventory(Inventory):  # type: ignore[misc]
    """The inventory that Kapitan's inputs access as `cached.inv`. Reads lazily."""

    def __init__(self, run: BatchRun) -> None:
        # Kapitan's own constructor would look for target files and render them.
        self.targets = _Targets(run.targets)
        self.initialised = True
        self._run = run
        self._views = lru_cache(_RECENT)(self._view)
        self._plain_views = lru_cache(_RECENT)(self._plain_view)

    def render_targets(self, targets: object = None, ignore_class_not_found: bool = False) -> None:
        """Do nothing: the targets are rendered already."""

    @property
    def nodes(self) -> Mapping[str, Mapping[str, Any]]:
        """Return all targets' nodes as reclass-rs rendered them, read on first access."""
        return self.targets.nodes

    def node(self, name: str) -> dict[str, Any]:
        """Return a target's node as reclass-rs rendered it."""
        return self.targets.node(name)

    @cached_property
    def inventory(self) -> dict[str, Any]:
        """Return all targets as templates see them, for `inventory_global`."""
        return {name: self.plain_view(name) for name in self.targets}

    def __getitem__(self, name: str) -> Any:
        return self.view(name)

    def is_fetched(self, name: str) -> bool:
        """Return True if this run fetches a target's dependencies."""
        kapitan = self.targets[name].parameters.kapitan
        dependencies = (kapitan.dependencies or []) if kapitan is not None else []
        return name in self._run.jobs and (
            self._run.request.fetch or any(dependency.force_fetch for dependency in dependencies)
        )

    def names(self) -> list[str]:
        """Return the names of all targets."""
        return list(self.targets)

    def plain_view(self, name: str) -> dict[str, Any]:
        """Return a target as in `inventory_global`."""
        return self._plain_views(name)

    def _plain_view(self, name: str) -> dict[str, Any]:
        view: dict[str, Any] = self.targets[name].model_dump(by_alias=True)
        return view

    def view(self, name: str) -> dict[str, Any]:
        """Return a target as the Jsonnet function `inventory` returns it.

        Kapitan completes the settings of compiled targets before it compiles: the full path, and the output paths of
        fetched dependencies.

        Raises:
            InputError: unknown target.
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
