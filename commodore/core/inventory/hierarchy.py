"""The hierarchy on disk: generated classes, links to classes of dependencies, targets.

It is written in place, and only files that change, so that the next run can complete the hierarchy of a killed run.
Other files are removed, so that the result never depends on an earlier run.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.errors import CommodoreError, InputError, raise_all
from commodore.base.files.tree import walk
from commodore.base.files.workspace import (
    Workspace,
    guard_disk,
    is_inside,
    link_relative,
    make_folder,
    remove_tree,
    write_atomically,
)
from commodore.base.names import BOOTSTRAP_TARGET, RESERVED_CLASSES, check_name
from commodore.base.yaml import dump
from commodore.core.inventory.targets import Target


@dataclass(frozen=True, slots=True)
class ClassLinks:
    """The class files of one instance: `directory` is the component's folder in the instance's checkout."""

    instance: str
    component: str
    directory: Path
    checkout: Path

    @property
    def component_class(self) -> Path:
        return self.directory / "class" / f"{self.component}.yml"

    @property
    def defaults_class(self) -> Path:
        return self.directory / "class" / "defaults.yml"


def cluster_parameters(
    *, name: str, display_name: str, catalog_url: str, tenant: str, tenant_display_name: str
) -> dict[str, Any]:
    """Return the `cluster` parameters of the facts class."""
    return {
        "name": name,
        "display_name": display_name,
        "catalog_url": catalog_url,
        "tenant": tenant,
        "tenant_display_name": tenant_display_name,
    }


def write_class(path: Path, content: Mapping[str, Any]) -> None:
    """Write a generated class file, unless it has this content already."""
    write_atomically(path, dump(dict(content)).encode())


def write_cluster_params(workspace: Workspace, parameters: Mapping[str, Any]) -> None:
    """Write the facts class `params.cluster`; its parameters are `cluster`, `facts`, `dynamic_facts` and
    other given ones.
    """
    content = dump({"parameters": dict(parameters)}).encode()
    write_atomically(workspace.cluster_params, content, root=workspace.root)


def write_targets(workspace: Workspace, targets: Iterable[Target]) -> None:
    """Write these targets to `inventory/targets`, and remove all others."""
    files = {f"{target.name}.yml": target for target in targets}
    for name, target in sorted(files.items()):
        write_atomically(workspace.targets / name, target.as_yaml(), root=workspace.root)
    _keep_only(workspace.targets, files, workspace.root)


def link_classes(workspace: Workspace, instances: Iterable[ClassLinks]) -> list[str]:
    """Link the component and defaults classes of these instances, and remove all other links.

    Returns:
        The names of the instances that have a defaults class, sorted.

    Raises:
        InputError: components have no class files, or class files outside of their checkouts; all are reported.
    """
    for folder in (workspace.component_classes, workspace.defaults_classes):
        make_folder(folder, root=workspace.root)
    links = sorted(instances, key=lambda link: link.instance)
    errors = [error for link in links for error in _check_classes(link)]
    raise_all(errors)
    with_defaults = []
    for link in links:
        component_class = workspace.component_classes / f"{link.instance}.yml"
        link_relative(component_class, link.component_class, root=workspace.root)
        if link.defaults_class.is_file():
            defaults_class = workspace.defaults_classes / f"{link.instance}.yml"
            link_relative(defaults_class, link.defaults_class, root=workspace.root)
            with_defaults.append(link.instance)
    _keep_only(workspace.component_classes, {f"{link.instance}.yml" for link in links}, workspace.root)
    _keep_only(workspace.defaults_classes, {f"{name}.yml" for name in with_defaults}, workspace.root)
    return with_defaults


def linked_component(workspace: Workspace, instance: str) -> str:
    """Return the component of a compiled instance, whose class is a link to the component's."""
    link = workspace.component_classes / f"{instance}.yml"
    return Path(os.readlink(link)).stem if link.is_symlink() else instance


def _check_classes(link: ClassLinks) -> Iterator[CommodoreError]:
    for path in (link.component_class, link.defaults_class):
        owner = f"component {link.component!r}"
        if path.is_symlink() and not path.exists():
            yield InputError(
                "CMD-INV-023",
                f"class/{path.name} of {owner} is a link to {os.readlink(path)}, which does not exist",
                hint="correct or remove the link in the component's repository",
                locations=[str(path)],
            )
        elif path.is_file():
            if not is_inside(path, link.checkout):
                yield _leads_out(f"class/{path.name} of {owner}", path)
        elif path == link.component_class:
            yield InputError(
                "CMD-INV-009",
                f"{owner} has no class file class/{path.name}",
                hint="check the dependency's `path`; the class file must have the component's name",
                locations=[str(path)],
            )


def _leads_out(what: str, path: Path) -> CommodoreError:
    return InputError(
        "CMD-INV-010",
        f"{what} is a link that leads out of the repository",
        hint="class files must be in the repository itself",
        locations=[str(path)],
    )


def link_packages(workspace: Workspace, packages: Mapping[str, Path], tenant: str) -> None:
    """Link each package's folder as a class folder, and remove every other link below `classes`.

    Raises:
        InputError: a package has the name of the tenant, or has dangling links or links out of its checkout; all are
            reported. Folders outside of `dependencies` belong to an author and are not checked.
    """
    errors: list[CommodoreError] = []
    for name, directory in sorted(packages.items()):
        if name == tenant:
            errors.append(InputError("CMD-INV-025", f"the package {name!r} has the name of the tenant", hint=_RENAME))
        if directory.is_relative_to(workspace.package(name)):
            errors.extend(_check_links(name, directory, workspace.package(name)))
    raise_all(errors)
    for name, directory in sorted(packages.items()):
        link_relative(workspace.classes / name, directory, root=workspace.root)
    prune_classes(workspace, {*packages, tenant})


_RENAME = "both would be the class folder of that name; give the package another one"


def _check_links(package: str, directory: Path, checkout: Path) -> Iterator[CommodoreError]:
    for name, entry in walk(directory, skip=lambda entry: entry.name == ".git"):
        if not entry.is_symlink():
            continue
        path, what = Path(entry.path), f"{name} of package {package!r}"
        is_class = path.suffix in (".yml", ".yaml") or path.is_dir()
        if is_class and not is_inside(path, checkout):
            yield _leads_out(what, path)
        elif not path.exists():  # reclass fails at any dangling link, class or not
            yield InputError(
                "CMD-INV-023",
                f"{what} is a link to {os.readlink(path)}, which does not exist",
                hint="correct or remove the link in the package's repository",
                locations=[str(path)],
            )


def foreign_class_folders(workspace: Workspace, keep: Collection[str]) -> list[Path]:
    """Return real folders below `classes` that this run does not use, e.g. of another tenant's configuration."""
    known = {*keep, *RESERVED_CLASSES}
    if not workspace.classes.is_dir():
        return []
    return sorted(
        path
        for path in workspace.classes.iterdir()
        if path.name not in known and path.is_dir() and not path.is_symlink()
    )


def prune_classes(workspace: Workspace, keep: Collection[str]) -> None:
    """Remove links and files below `classes` that this run does not use."""
    known = {*keep, *RESERVED_CLASSES}
    if not workspace.classes.is_dir():
        return
    for path in sorted(workspace.classes.iterdir()):
        if path.name not in known and (path.is_symlink() or path.is_file()):
            remove_tree(path, root=workspace.root)


def _keep_only(folder: Path, names: Collection[str], root: Path) -> None:
    with guard_disk(folder):
        make_folder(folder, root=root)
        for path in sorted(folder.iterdir()):
            if path.name not in names:
                remove_tree(path, root=root)


def read_cluster_params(workspace: Workspace) -> dict[str, Any]:
    """Read back the parameters of the facts class, for local mode.

    Raises:
        InputError: there was no earlier run, or the file is damaged, or the tenant's name is not a valid folder name.
    """
    from commodore.base.yaml import load_all

    path = workspace.cluster_params
    if not path.is_file() or not workspace.target(BOOTSTRAP_TARGET).is_file():
        raise InputError(
            "CMD-INV-011",
            f"{workspace.root} has not been compiled before, so there is nothing to compile locally",
            hint="run once without --local",
            locations=[str(path)],
        )
    documents = load_all(path.read_bytes(), place=str(path))
    parameters = documents[0].get("parameters") if documents and isinstance(documents[0], dict) else None
    cluster = parameters.get("cluster") if isinstance(parameters, dict) else None
    if (
        not isinstance(cluster, dict)
        or not isinstance(cluster.get("name"), str)
        or not isinstance(cluster.get("tenant"), str)
    ):
        raise InputError(
            "CMD-INV-012",
            "the facts of the last run are damaged: cluster.name or cluster.tenant is missing",
            hint="run once without --local",
            locations=[str(path)],
        )
    assert isinstance(parameters, dict)
    check_name(cluster["tenant"], "tenant", reserved=RESERVED_CLASSES)
    return parameters
