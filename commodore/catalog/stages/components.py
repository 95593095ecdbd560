"""Discover components and their instances, fetch them, and link them into the hierarchy."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import commodore
from commodore.base.context import Context
from commodore.base.errors import InputError
from commodore.base.events import Warned, stage
from commodore.base.files.workspace import Workspace
from commodore.base.names import BOOTSTRAP_TARGET
from commodore.base.strictness import read_allowed
from commodore.catalog.stages.checkouts import Components, DependencyCheckout, Fetcher
from commodore.catalog.stages.rendering import render_node
from commodore.core.dependencies import Applications, DependencySpec, instance_spec, parse_applications, read_specs
from commodore.core.inventory import (
    ClassLinks,
    InstanceMeta,
    Node,
    bootstrap_target,
    instance_target,
    link_classes,
    write_targets,
)

INSTALLED = Path(commodore.__file__).resolve().parent
"""The folder of the data shipped with the package: `lib/`, `filters/`, `scripts/`."""


def fetch_components(fetcher: Fetcher) -> Components:
    """Fetch every component and instance that the hierarchy includes.

    Raises:
        CommodoreError: invalid applications or specifications, and errors of `Fetcher.fetch`.
    """
    workspace = fetcher.workspace
    with stage(fetcher.context.announce, "fetching components"):
        node = render_node(fetcher, BOOTSTRAP_TARGET)
        context = fetcher.context.allowing(read_allowed(node.parameters))
        applications = parse_applications(node.applications, context)
        bases = read_specs(node.parameters, "component", applications.components, context)
        aliases = _alias_specs(node, applications, bases, context)
        specs = [(spec, workspace.component(name)) for name, spec in {**bases, **aliases}.items()]
        checkouts = {dependency.name: dependency for dependency in fetcher.fetch(specs, "component")}
        applications = _present(applications, checkouts, context)
        return Components(
            applications=applications,
            bases={name: checkouts[name] for name in applications.components},
            instances={name: checkouts[name] for name in applications.instances},
            parameters=node.parameters,
            allowed=context.allowed,
        )


def _alias_specs(
    node: Node, applications: Applications, bases: Mapping[str, DependencySpec], context: Context
) -> dict[str, DependencySpec]:
    return {
        instance: instance_spec(node.parameters, bases[component], instance, context)
        for instance, component in applications.instances.items()
        if instance != component
    }


def _present(applications: Applications, checkouts: Mapping[str, DependencyCheckout], context: Context) -> Applications:
    """Return the applications without components whose folders are missing in local mode."""
    if len(checkouts) == len({*applications.components, *applications.instances}):
        return applications
    components = tuple(name for name in applications.components if name in checkouts)
    kept = {name: component for name, component in applications.instances.items() if component in components}
    dropped = sorted(set(applications.instances) - set(kept) - set(applications.components))
    if dropped:
        context.announce(
            Warned(
                "CMD-DEP-044",
                f"the instances {', '.join(dropped)} are left out with their components",
                hint="run once without --local to fetch them",
            )
        )
    for instance, component in kept.items():
        if instance not in checkouts:
            raise InputError(
                "CMD-DEP-045",
                f"the checkout of '{component} as {instance}' is missing in the working directory",
                hint="run once without --local to fetch it",
            )
    return Applications(applications.packages, components, kept)


def write_hierarchy(workspace: Workspace, components: Components, context: Context) -> None:
    """Link all classes and write all targets, to render the whole hierarchy."""
    dependencies = {**components.bases, **components.instances}
    links = [
        ClassLinks(
            name, components.applications.instances.get(name, name), dependency.directory, dependency.checkout.path
        )
        for name, dependency in sorted(dependencies.items())
    ]
    with_defaults = set(link_classes(workspace, links))
    for name in sorted(set(dependencies) - with_defaults):
        context.announce(
            Warned(
                "CMD-DEP-046",
                f"component {name!r} has no class/defaults.yml",
                hint="check `path` and `version` of the component; its defaults are taken as empty",
            )
        )
    defaults = [name for name in components.bases if name in with_defaults]
    python = interpreter(context)
    targets = [bootstrap_target(defaults)]
    for name, instance in components.instances.items():
        meta = InstanceMeta(name, components.component_of(name), instance.directory, kustomize_wrapper(), python)
        own = [base for base in defaults if base != meta.component or name in with_defaults]
        targets.append(instance_target(meta, own))
    write_targets(workspace, targets)


def kustomize_wrapper() -> Path:
    """Return the script that components run as `${_kustomize_wrapper}`."""
    return INSTALLED / "scripts" / "run-kustomize"


def interpreter(context: Context) -> str:
    """Return the Python interpreter that components may run as `${_python3}`."""
    if sys.executable:
        return sys.executable
    program = shutil.which("python3")
    context.announce(
        Warned(
            "CMD-DEP-047",
            f"the running Python interpreter is unknown; components get {program or 'NOT_AVAILABLE'} as `_python3`",
            hint="start commodore by its own command, or put python3 on PATH",
        )
    )
    return program or "NOT_AVAILABLE"
