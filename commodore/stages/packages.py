"""Packages, to a fixed point: a package may include others and change their versions (C3, C21)."""

from __future__ import annotations

from commodore.dependencies import DependencySpec, discover_packages, read_specs
from commodore.errors import InputError
from commodore.events import stage
from commodore.inventory import link_packages, render_node
from commodore.names import BOOTSTRAP_TARGET
from commodore.stages.checkouts import Dependency, Fetcher


def fetch_packages(fetcher: Fetcher, tenant: str) -> tuple[Dependency, ...]:
    """Fetch and link every package that the hierarchy includes, in name order.

    Args:
        tenant: the tenant's class folder, which stays.

    Raises:
        CommodoreError: unknown or incomplete packages, what `Fetcher.fetch` raises, or packages that never settle.
    """
    workspace, announce = fetcher.workspace, fetcher.announce
    settled: dict[str, DependencySpec] = {}
    packages: list[Dependency] = []
    link_packages(workspace, {}, tenant)
    with stage(announce, "fetching packages"):
        for _ in range(fetcher.limits.package_rounds):
            node = render_node(workspace.inventory, BOOTSTRAP_TARGET, ignore_missing_classes=True, announce=announce)
            specs = read_specs(node.parameters, "package", discover_packages(node.applications))
            if specs == settled:
                return tuple(packages)
            wanted = [(spec, workspace.package(name)) for name, spec in specs.items()]
            packages = fetcher.fetch(wanted, "package")
            link_packages(workspace, {package.name: package.directory for package in packages}, tenant)
            moving = sorted(name for name in {*specs, *settled} if specs.get(name) != settled.get(name))
            settled = specs
    raise InputError(
        "CMD-DEP-043",
        f"the packages {', '.join(moving)} change each other without end",
        hint="a package must not remove or re-version what makes another package include it",
    )
