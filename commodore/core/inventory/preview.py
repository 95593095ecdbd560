"""Preview of a hierarchy without a cluster: rendered from local folders for a fake cluster, in a temporary folder.

Nothing is written into the users' folders: generated files and copies of values files are in the temporary inventory,
and only whole folders are links.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, Findings, InputError, UsageError
from commodore.base.events import Event, Noted, Warned
from commodore.base.files.staging import temporary_folder
from commodore.base.files.workspace import Workspace, guard_disk, link_relative, write_atomically
from commodore.base.names import RESERVED_CLASSES, check_instance_name, check_name
from commodore.base.yaml import load
from commodore.core.inventory.hierarchy import (
    ClassLinks,
    cluster_parameters,
    link_classes,
    write_class,
    write_cluster_params,
    write_targets,
)
from commodore.core.inventory.render import Node, render_node
from commodore.core.inventory.targets import Target

_NODE = "global"
_FAKE_FACTS = {
    "distribution": "x-fake-distribution",
    "cloud": "x-fake-cloud",
    "region": "x-fake-region",
    "lieutenant-instance": "lieutenant-prod",
}
_TENANT, _CLUSTER = "t-foo", "c-bar"
_CLASS_NAME = re.compile(r"[^\s.~$\\][^$\\]*")
_MISSING = "reclass: ignore missing class "


@dataclass(frozen=True, slots=True)
class PreviewSources:
    """Sources of a preview: folders of configuration, values files (later ones override), folders of components."""

    global_config: Path
    tenant_config: Path | None = None
    values: tuple[Path, ...] = ()
    components: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Preview:
    """An inventory and a target to inspect.

    Attributes:
        inventory: the folder with `classes/` and `targets/`.
        node: the target to render.
        originals: files and folders of the inventory -> those of the user.
        generated: class files of the inventory without a file of the user -> their descriptions.
    """

    inventory: Path
    node: str
    originals: Mapping[Path, Path]
    generated: Mapping[Path, str]

    def original(self, path: Path) -> Path | None:
        """Return the user's own file for a file of the inventory; None if it was generated."""
        if path in self.generated:
            return None
        for place in (path, *path.parents):
            if place in self.originals:
                return self.originals[place] / path.relative_to(place)
        return path

    def render(self, context: Context, *, ignore_missing_classes: bool = False) -> Node:
        """Render the target. Ignored missing classes are announced.

        Raises:
            InputError: the hierarchy is invalid; the error names the user's own files.
        """
        try:
            return render_node(
                self.inventory,
                self.node,
                context.with_announce(lambda event: context.announce(_promoted(event))),
                ignore_missing_classes=ignore_missing_classes,
            )
        except CommodoreError as error:
            raise self.explain(error) from error

    def explain(self, error: CommodoreError) -> CommodoreError:
        """Return the error with the user's own files in place of those of the inventory."""
        if isinstance(error, Findings):
            return Findings(self.explain(cause) for cause in error.errors)
        return type(error)(
            error.code,
            self._own_paths(error.message),
            hint=self._own_paths(error.hint),
            locations=[replace(location, place=self._own_paths(location.place)) for location in error.locations],
        )

    def _own_paths(self, text: str) -> str:
        names: dict[Path, object] = {**self.originals, **self.generated}
        for place in sorted(names, key=lambda path: len(str(path)), reverse=True):
            text = text.replace(str(place), str(names[place]))
        return text


@contextlib.contextmanager
def open_preview(sources: PreviewSources, context: Context) -> Iterator[Preview]:
    """Make a temporary inventory for a fake cluster, which is always removed at the end.

    The target includes the fake facts, the defaults of the components sorted by name, the values files in the given
    order, and `global.commodore`. The ids of tenant and cluster are those of the values files.

    Raises:
        InputError: a values file is invalid (CMD-INV-042, 049, CMD-YAML-001), a folder is not a component's
            (CMD-INV-044), or a name is invalid.
        UsageError: CMD-INV-045, two components have the same name.
        EnvironmentFault: the operating system refused.
    """
    values = [_read_values(path, context) for path in sources.values]
    components = _find_components(sources.components, context)
    with temporary_folder() as folder:
        yield _build(Workspace(folder), sources, values, components, context)


@dataclass(frozen=True, slots=True)
class _Values:
    path: Path
    content: bytes
    cluster: Mapping[str, Any]


def _read_values(path: Path, context: Context) -> _Values:
    with guard_disk(path):
        content = path.read_bytes()
    document = load(content, place=str(path))
    if document is None:
        context.announce(
            Warned("CMD-INV-043", f"the values file {path} is empty", hint="it is used, but changes nothing")
        )
        return _Values(path, b"{}\n", {})
    if not isinstance(document, dict):
        raise InputError(
            "CMD-INV-042",
            f"the values file {path} is not a class: it must be a mapping",
            hint="a class is a mapping with `classes`, `applications` and `parameters`; leave out empty keys",
            locations=[str(path)],
        )
    parameters = document.get("parameters")
    cluster = parameters.get("cluster") if isinstance(parameters, dict) else None
    return _Values(path, content, cluster if isinstance(cluster, dict) else {})


def _find_components(folders: Sequence[Path], context: Context) -> list[ClassLinks]:
    from commodore.core.sources.git import find_root  # most previews need no git

    components: dict[str, ClassLinks] = {}
    for folder in folders:
        directory = folder.resolve()
        name = check_instance_name(_component_name(directory), "component")
        if not (directory / "class" / "defaults.yml").is_file():
            raise InputError(
                "CMD-INV-044",
                f"{folder} is not a component with defaults: it has no class/defaults.yml",
                hint="name the folder with the component's `class` folder",
                locations=[str(directory / "class" / "defaults.yml")],
            )
        if name in components:
            raise UsageError(
                "CMD-INV-045",
                f"{components[name].directory} and {directory} are both component {name!r}",
                hint="name one of them",
            )
        components[name] = ClassLinks(name, name, directory, find_root(directory, context) or directory)
    return list(components.values())


def _component_name(directory: Path) -> str:
    """Return the name of the only class besides the defaults; the folder of a working copy may have another name."""
    classes = [path.stem for path in (directory / "class").glob("*.yml") if path.name != "defaults.yml"]
    return classes[0] if len(classes) == 1 else directory.name.removeprefix("component-")


def _build(
    workspace: Workspace,
    sources: PreviewSources,
    values: Sequence[_Values],
    components: Sequence[ClassLinks],
    context: Context,
) -> Preview:
    (tenant, place_of_tenant), (cluster, _) = _id(values, "tenant", _TENANT), _id(values, "name", _CLUSTER)
    _warn_if_unusual(sources.global_config, context)
    with_defaults = link_classes(workspace, components)
    originals = {
        workspace.component_classes / f"{component.instance}.yml": component.component_class for component in components
    }
    originals |= {
        workspace.defaults_classes / f"{component.instance}.yml": component.defaults_class for component in components
    }
    originals[workspace.global_config] = sources.global_config
    if sources.tenant_config is not None:
        place = workspace.tenant_config(_check_tenant(tenant, place_of_tenant))
        originals[place] = sources.tenant_config
        link_relative(place, sources.tenant_config.resolve())
    link_relative(workspace.global_config, sources.global_config.resolve())
    write_cluster_params(workspace, _fake_cluster(tenant, cluster))
    generated = {
        workspace.cluster_params: "the fake facts (class params.cluster)",
        workspace.target(_NODE): "the fake target",
    }
    if sources.tenant_config is None and (placeholder := _placeholder(workspace, tenant, cluster)) is not None:
        generated[placeholder] = "the fake cluster's empty class"
    classes = []
    for file in values:
        classes.append(_free_class(workspace.classes, file.path.stem))
        originals[workspace.classes / f"{classes[-1]}.yml"] = file.path
        write_atomically(workspace.classes / f"{classes[-1]}.yml", file.content)
    defaults = [f"defaults.{name}" for name in with_defaults]
    target = Target(_NODE, ("params.cluster", *defaults, *classes, "global.commodore"), {"_instance": _NODE})
    write_targets(workspace, [target])
    return Preview(workspace.inventory, _NODE, originals, generated)


def _check_tenant(tenant: Any, places: Sequence[str]) -> str:
    try:
        return check_name(tenant, "tenant", reserved=RESERVED_CLASSES)
    except InputError as error:
        raise error.about(at=places) from None


def _warn_if_unusual(folder: Path, context: Context) -> None:
    if not any((folder / name).is_file() for name in ("commodore.yml", "commodore.yaml")):
        message = f"{folder} has no commodore.yml, with which global defaults begin"
        context.announce(Warned("CMD-INV-048", message, hint="check that it is the right folder"))


def _id(values: Sequence[_Values], key: str, otherwise: str) -> tuple[Any, list[str]]:
    """Return an id of the last values file that sets it, and that file."""
    for file in reversed(values):
        given = file.cluster.get(key)
        if isinstance(given, (dict, list)):
            kind = "mapping" if isinstance(given, dict) else "list"
            raise InputError(
                "CMD-INV-049",
                f"parameters.cluster.{key} in {file.path} must be a text, not a {kind}",
                hint="it is the id of the cluster or of its tenant",
                locations=[str(file.path)],
            )
        if given is not None:
            return given, [str(file.path)]
    return otherwise, []


def _fake_cluster(tenant: Any, cluster: Any) -> Mapping[str, Any]:
    """Return the content of the facts class of a fake cluster."""
    return {
        "cluster": cluster_parameters(
            name=cluster,
            display_name="Foo Inc. Bar cluster",
            catalog_url="not-a-real-repo",
            tenant=tenant,
            tenant_display_name="Foo Inc.",
        ),
        "facts": _FAKE_FACTS,
        "dynamic_facts": {},
    }


def _placeholder(workspace: Workspace, tenant: Any, cluster: Any) -> Path | None:
    """Write the class that the hierarchy includes for the cluster, so that it renders without a tenant's folder."""
    try:
        names = check_name(tenant, "tenant", reserved=RESERVED_CLASSES), check_name(cluster, "cluster")
    except InputError:  # no class can have that name, so rendering reports it if it is included
        return None
    place = workspace.tenant_config(names[0]) / f"{names[1]}.yml"
    write_class(place, {})
    return place


def _free_class(classes: Path, stem: str) -> str:
    """Return the class name of a values file: its stem, unless it is invalid or taken."""
    base = stem if _CLASS_NAME.fullmatch(stem) else "values"
    name, number = base, 1
    while _is_taken(classes, name):
        number += 1
        name = f"{base}-{number}"
    return name


def _is_taken(classes: Path, name: str) -> bool:
    parts = Path(*name.split("."))
    places = (Path(name), parts, parts / "init")
    return any(os.path.lexists(classes / f"{place}{suffix}") for place in places for suffix in (".yml", ".yaml"))


def _promoted(event: Event) -> Event:
    """Raise the level of notes about ignored classes: in a preview their names may be misspelt."""
    if isinstance(event, Noted) and event.message.startswith(_MISSING):
        return Noted(event.message.removeprefix("reclass: "))
    return event
