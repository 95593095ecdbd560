"""Small hierarchies on disk for tests that render them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.base.errors import CommodoreError
from commodore.base.events import Event
from commodore.base.files.workspace import Workspace
from commodore.core.inventory import (
    ClassLinks,
    InstanceMeta,
    Inventory,
    Node,
    bootstrap_target,
    instance_target,
    link_classes,
    render_inventory,
    render_node,
    write_class,
    write_targets,
)
from tests.world.context import make_context

FACTS: dict[str, Any] = {"cluster": {"name": "c-x", "tenant": "t-x"}, "facts": {"cloud": "c1"}}


@dataclass
class Hierarchy:
    """A workspace whose hierarchy is written by hand. `classes` are files below `inventory/classes`."""

    root: Path
    collected: list[Event] = field(default_factory=list)

    @property
    def workspace(self) -> Workspace:
        return Workspace(self.root)

    def classes(self, files: Mapping[str, str | bytes]) -> Hierarchy:
        for name, content in files.items():
            path = self.workspace.classes / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else textwrap.dedent(content).encode())
        return self

    def target(self, content: str, name: str = "cluster") -> Hierarchy:
        self.workspace.targets.mkdir(parents=True, exist_ok=True)
        self.workspace.classes.mkdir(parents=True, exist_ok=True)
        self.workspace.target(name).write_text(textwrap.dedent(content))
        return self

    def render(self, name: str = "cluster", *, ignore_missing_classes: bool = False) -> Node:
        return render_node(
            self.workspace.inventory,
            name,
            make_context(announce=self.collected.append),
            ignore_missing_classes=ignore_missing_classes,
        )

    def failure(self, name: str = "cluster") -> CommodoreError:
        """The error of rendering one target, which must be that of rendering all."""
        caught: list[CommodoreError] = []
        for attempt in (lambda: self.render(name), lambda: render_inventory(self.workspace.inventory, make_context())):
            try:
                attempt()
            except CommodoreError as error:
                caught.append(error)
        single, both = caught
        assert single.as_plain() == both.as_plain()
        return single

    def place(self, name: str, line: int | None = None, column: int | None = None) -> str:
        """A location in a class file, as errors show it."""
        path = str(self.workspace.classes / name)
        return ":".join(str(part) for part in (path, line, column) if part is not None)


def cluster(
    root: Path, instances: Mapping[str, str], defaults: Mapping[str, Mapping[str, Any]], hierarchy: Mapping[str, Any]
) -> Inventory:
    """Render a cluster as a compile would: components with defaults, and the parameters of the global class.

    Args:
        instances: instance to component.
        defaults: component to the content of `parameters` in its defaults class.
        hierarchy: `parameters` of `global.commodore`.
    """
    workspace = Workspace(root)
    links: list[ClassLinks] = []
    for name, component in sorted({**{component: component for component in instances.values()}, **instances}.items()):
        checkout = workspace.component(name)
        write_class(checkout / "class" / "defaults.yml", {"parameters": dict(defaults.get(component, {}))})
        write_class(checkout / "class" / f"{component}.yml", {})
        links.append(ClassLinks(name, component, checkout, checkout))
    link_classes(workspace, links)
    write_class(workspace.cluster_params, {"parameters": FACTS})
    write_class(workspace.global_config / "commodore.yml", {"parameters": dict(hierarchy)})
    components: Iterable[str] = sorted(set(instances.values()))
    write_targets(
        workspace,
        [
            bootstrap_target(components),
            *(
                instance_target(
                    InstanceMeta(name, component, workspace.component(name), Path("/kustomize"), "/python"), components
                )
                for name, component in instances.items()
            ),
        ],
    )
    return render_inventory(workspace.inventory, make_context())
