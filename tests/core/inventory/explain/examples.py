"""The hierarchy of the example world, without compiling it."""

from __future__ import annotations

from pathlib import Path

import yaml

from commodore.base.files.workspace import Workspace, link_relative
from commodore.core.inventory import (
    ClassLinks,
    InstanceMeta,
    bootstrap_target,
    instance_target,
    link_classes,
    link_packages,
    write_cluster_params,
    write_targets,
)

EXAMPLES = Path(__file__).resolve().parents[4] / "examples"
INSTANCES = {"alerts": "alerts", "ingress": "ingress", "metrics-agent": "metrics-agent", "nfs": "nfs"}
INSTANCES |= {"nfs-archive": "nfs"}


def write_example_inventory(root: Path) -> Workspace:
    """The inventory that compiling the example cluster writes. Checkouts that are missing are links to the examples."""
    workspace = Workspace(root)
    described = yaml.safe_load((EXAMPLES / "cluster.yml").read_text(encoding="utf-8"))["cluster"]
    for name, component in INSTANCES.items():
        _provide(workspace.component(name), EXAMPLES / f"component-{component}")
    _provide(workspace.global_config, EXAMPLES / "global-defaults")
    _provide(workspace.tenant_config("t-example"), EXAMPLES / "tenant-config")
    _provide(workspace.package("monitoring"), EXAMPLES / "package-monitoring")
    folders = {name: workspace.component(name).resolve() for name in INSTANCES}
    links = [ClassLinks(name, component, folders[name], folders[name]) for name, component in INSTANCES.items()]
    with_defaults = link_classes(workspace, links)
    assert len(with_defaults) == len(INSTANCES)
    link_packages(workspace, {"monitoring": workspace.package("monitoring")}, "t-example")
    names = {"name": "c-example", "display_name": "Example cluster", "catalog_url": "ssh://git@example.com/c.git"}
    cluster = {**names, "tenant": "t-example", "tenant_display_name": "Example tenant"}
    write_cluster_params(workspace, {"cluster": cluster, "facts": described["facts"], "dynamic_facts": {}})
    components = sorted(set(INSTANCES.values()))
    targets = [
        instance_target(InstanceMeta(name, component, folders[name], Path("/kustomize"), "/python"), components)
        for name, component in INSTANCES.items()
    ]
    write_targets(workspace, [bootstrap_target(components), *targets])
    return workspace


def _provide(folder: Path, example: Path) -> None:
    if not folder.exists():
        link_relative(folder, example)
