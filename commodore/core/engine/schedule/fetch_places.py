"""Check the output paths and sources of Kapitan dependencies."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from commodore.base.errors import CommodoreError, InputError, PolicyError
from commodore.base.files.tree import walk
from commodore.base.files.workspace import Workspace
from commodore.core.confinement.hosts import host_of
from commodore.core.engine.tasks import BatchRun, KapitanDependency
from commodore.core.sources.git import normalize, redact

_HINT = "fetch into a folder of its own, such as one below ${_base_directory}"


def check_outputs(dependencies: Sequence[KapitanDependency], run: BatchRun) -> list[tuple[str, CommodoreError]]:
    """Return an error for each dependency of a run that must not be fetched, with its instance."""
    if not dependencies:
        return []
    errors: list[tuple[str, CommodoreError]] = []
    charts: dict[Path, KapitanDependency] = {}
    places = _Places(run)
    for item in dependencies:
        where = f"instance {item.instance!r}, dependency {item.index} ({item.kind} {redact(item.source)})"
        error: CommodoreError | None = None
        try:
            for place in (item.output, *_links_in(item.output)):
                places.check(replace(item, output=place), where)
            _check_source(item, run, where)
        except CommodoreError as refused:
            error = refused
        if error is None and item.kind == "helm":
            other = charts.setdefault(item.output, item)
            if other.group != item.group:
                error = InputError(
                    "CMD-ENG-034",
                    f"{where}: instance {other.instance!r} fetches another chart or version to the same output path",
                    hint="put the version into the output path",
                    locations=[str(item.output)],
                )
        if error is not None:
            errors.append((item.instance, error))
    return errors


class _Places:
    """The folders of a run that dependencies must not be fetched to, and the folders of single components.

    Links in all paths are resolved.
    """

    def __init__(self, run: BatchRun) -> None:
        request, workspace = run.request, Workspace(run.request.root)
        self._run = run
        self._roots = _followed(request.root, request.output)
        self._components = _followed(*(job.directory for job in run.jobs.values()))
        self._kept = _followed(
            workspace.catalog, workspace.inventory, workspace.repositories, workspace.state, workspace.compiled
        )
        self._whole = (*self._roots, *_followed(workspace.dependencies))
        (self._dependencies,) = _followed(workspace.dependencies)
        self._libraries = _followed(workspace.vendor, workspace.libraries, workspace.root / workspace.libraries.name)
        self._owners: defaultdict[Path, set[str]] = defaultdict(set)
        for job in run.jobs.values():
            names = {job.name, job.component}
            searched = (folder / name for folder in (workspace.root, workspace.dependencies) for name in names)
            for folder in _followed(job.directory, *searched):
                self._owners[folder].add(job.component)
        self._above: defaultdict[Path, set[str]] = defaultdict(set)
        for folder, owners in self._owners.items():
            for parent in folder.parents:
                self._above[parent] |= owners

    def check(self, item: KapitanDependency, where: str) -> None:
        """Refuse an output path that is not for fetched files.

        Raises:
            PolicyError: it is outside of the allowed folders, used for other files, or belongs to another component.
        """
        real = Path(os.path.realpath(item.output))
        if not any(real.is_relative_to(root) for root in (*self._roots, *self._components)):
            raise PolicyError(
                "CMD-ENG-033",
                f"{where}: its output path {item.output} is outside of the working directory and the component",
                hint="write it relative to the working directory, or below ${_base_directory}",
            )
        tops = [real.relative_to(root).parts[0] for root in self._roots if root in real.parents]
        whole = (*self._whole, *(self._components if item.kind != "git" else ()))
        if (
            any(part.lower() == ".git" for part in real.parts)
            or any(part.startswith(".") for part in tops)
            or any(real.is_relative_to(folder) for folder in self._kept)
            or any(folder.is_relative_to(real) for folder in (*whole, *self._kept))
        ):
            message = f"{where}: its output path {item.output} is not for fetched files"
            raise PolicyError("CMD-ENG-059", message, hint=_HINT)
        if files := self._files_of_others(real, self._run.jobs[item.instance].component):
            message = f"{where}: in its output path {item.output} are {files}"
            raise PolicyError("CMD-ENG-059", message, hint=_HINT)

    def _files_of_others(self, real: Path, component: str) -> str:
        """Describe the files of other components in a folder; empty without such files."""
        for folder in (real, *real.parents):
            if owners := self._owners.get(folder):
                if component not in owners:
                    return f"the files of the component {min(owners)!r}"
                break
        else:
            below = real.relative_to(self._dependencies).parts if self._dependencies in real.parents else ("",)
            if below[0].startswith("pkg."):
                return f"the files of the package {below[0].removeprefix('pkg.')!r}"
            if any(real.is_relative_to(folder) or folder.is_relative_to(real) for folder in self._libraries):
                return "Jsonnet libraries"
        if others := self._above.get(real, set()) - {component}:
            return f"the files of the component {min(others)!r}"
        return ""


def _links_in(output: Path) -> Iterator[Path]:
    """Yield the links in an output folder: fetched files would be written through them."""
    return (Path(entry.path) for _, entry in walk(output) if entry.is_symlink())


def _followed(*folders: Path) -> tuple[Path, ...]:
    return tuple(Path(os.path.realpath(folder)) for folder in folders)


def _check_source(item: KapitanDependency, run: BatchRun, where: str) -> None:
    """Refuse a source, or a program to fetch it, that the policy does not allow.

    Raises:
        PolicyError: the policy does not allow it.
        InputError: git would start a program for the URL, or take it for an option.
    """
    if item.fields.get("helm_path"):
        run.policy.require_program(str(item.fields["helm_path"]), f"{where}: helm_path")
    run.check_host(f"oci://{item.source}" if item.kind == "oci" else item.source, f"{where}: it")
    if item.kind == "git" and ("://" in item.source or "::" in item.source or host_of(item.source)):
        normalize(item.source)
