"""Fetch packages until their versions are stable: a package may include others and change their versions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from commodore.base.errors import InputError
from commodore.base.events import stage
from commodore.base.names import BOOTSTRAP_TARGET
from commodore.base.strictness import read_allowed
from commodore.catalog.stages.checkouts import DependencyCheckout, Fetcher
from commodore.catalog.stages.rendering import render_node
from commodore.core.dependencies import DependencySpec, discover_packages, read_specs
from commodore.core.inventory import link_packages


def fetch_packages(
    fetcher: Fetcher, tenant: str, own: Mapping[str, Path] | None = None
) -> tuple[DependencyCheckout, ...]:
    """Fetch and link every package that the hierarchy includes, in name order.

    Args:
        tenant: the tenant's class folder, which is kept.
        own: local packages by name, which are not fetched.

    Raises:
        CommodoreError: unknown or incomplete packages, errors of `Fetcher.fetch`, or versions that never become stable.
    """
    workspace, announce = fetcher.workspace, fetcher.context.announce
    settled: dict[str, DependencySpec] = {}
    packages: list[DependencyCheckout] = []
    given = dict(own or {})
    link_packages(workspace, given, tenant)
    with stage(announce, "fetching packages"):
        for _ in range(fetcher.context.limits.package_rounds):
            node = render_node(fetcher, BOOTSTRAP_TARGET, ignore_missing_classes=True)
            allowing = fetcher.context.allowing(read_allowed(node.parameters))
            included = tuple(name for name in discover_packages(node.applications, allowing) if name not in given)
            specs = read_specs(node.parameters, "package", included, allowing)
            if specs == settled:
                return tuple(packages)
            checkouts = [(spec, workspace.package(name)) for name, spec in specs.items()]
            packages = fetcher.fetch(checkouts, "package")
            fetched = {package.name: package.directory for package in packages}
            link_packages(workspace, fetched | given, tenant)
            moving = sorted(name for name in {*specs, *settled} if specs.get(name) != settled.get(name))
            settled = specs
    raise InputError(
        "CMD-DEP-043",
        f"package discovery does not converge: the packages {', '.join(moving)} keep changing each other",
        hint="a package must not remove or change the version of a package that includes it",
    )
