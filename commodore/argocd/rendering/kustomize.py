"""Kustomize sources: Argo CD's edits, on a copy, and the build."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from commodore.argocd.model.sources import KustomizeOptions
from commodore.argocd.rendering.commands import kustomize_commands
from commodore.argocd.rendering.helm import version_for_tools
from commodore.argocd.rendering.ignored import report_read
from commodore.argocd.rendering.kustomize_edits import edit
from commodore.argocd.rendering.kustomize_remotes import BaseGit, RemoteFileCopies, base_git, names_files
from commodore.argocd.rendering.model import Rendered, Unit
from commodore.argocd.rendering.programs import run_for, unavailable
from commodore.argocd.rendering.streams import objects_of_stream
from commodore.argocd.trees import (
    KUSTOMIZATIONS,
    PulledChart,
    check_sources,
    files_of_kustomization,
    is_git,
    parts_of_kustomization,
)
from commodore.argocd.trees.paths import check_inside
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, PolicyError
from commodore.base.files.tree import lies_in, walk
from commodore.base.printable import printable
from commodore.base.yaml.kube_yaml import read_documents
from commodore.core.render.causes import remote_of
from commodore.core.render.programs import HELM_COMMAND, Program, Unavailable, command_of, write_file
from commodore.core.sources.git import redact

_REFUSED = ("--enable-exec", "--network", "--network-name", "--mount", "--env", "-e")
_HARMLESS = frozenset(("--enable-helm", "--enable-alpha-plugins"))  # of kustomizations without charts and plugins
_UNRESTRICTED = "LoadRestrictionsNone"  # it may then read any file
_NEEDS_HELM = "must specify --enable-helm"
_WANTS_NETWORK = re.compile(  # messages of kustomize and of `fetch-once`
    r"no 'git' program on path|\bdial tcp\b|\bfatal: offline, and |failed to run '[^']*git fetch "
)
_NEWEST = "*"  # as helm pulls without a version
_HELM = ("helmCharts", "helmChartInflationGenerator")


def render_kustomize(unit: Unit) -> Iterator[Rendered]:
    """Build a kustomization, and yield its objects.

    Raises:
        InputError: CMD-ARGO-410, kustomize fails; CMD-ARGO-411, the version is not registered;
            CMD-ARGO-412, an edit is in conflict with the kustomization; CMD-ARGO-417, a document is not an object.
        EnvironmentFault: CMD-ARGO-310, a remote part is not in the cache, offline; CMD-ARGO-413, kustomize is
            missing; CMD-ARGO-418, it exceeds the time limit.
        PolicyError: CMD-ARGO-420, a build option would run programs or read the environment; CMD-CONF-011, a part
            has a link-local address.
    """
    options = unit.source.kustomize or KustomizeOptions()
    _check_version(unit, options)
    build = unit.settings.build_options(options.version).split()
    _check_options(build)
    home = unit.scratch / "home"
    home.mkdir()
    remotes = RemoteFileCopies(unit)
    root = _work_folder(unit, options, build)
    folder = root / unit.folder.relative_to(unit.root)
    report_read(unit, _ignored_files(unit))
    edited = _edit(unit, options, folder) if options.edits else None
    if not unit.context.offline:
        check_sources(folder, root)
    if root != unit.root:
        remotes.replace(folder, root)
    kustomize = _Kustomize(unit, root, home, remotes)
    helm = [*_helm_options(unit, options, build)]
    if unit.trace is not None:
        unit.trace.commands.extend(kustomize_commands(unit, options, [*build, *helm[:-2]], edited))
    arguments = ["build", str(folder), *build, *helm]
    output = unit.output(
        "kustomize",
        [str(folder.relative_to(root)), *arguments[2:]],
        lambda: _read_by_build(folder, root, build),
        lambda: kustomize.run(root, "CMD-ARGO-410", *arguments),
    )
    text = output.decode("utf-8", "replace")
    yield from objects_of_stream(text, "the output of kustomize")


def _read_by_build(folder: Path, root: Path, build: list[str]) -> list[tuple[str, Path]] | None:
    """Return the files that a build reads, with their names in the repository, or None if they are unknown."""
    if not _HARMLESS.issuperset(build):  # options may permit files outside of the kustomization
        return None
    files = files_of_kustomization(folder, root)
    return None if files is None else [(os.path.relpath(path, root), Path(path)) for path in files]


def _ignored_files(unit: Unit) -> Iterator[str]:
    """Yield ignored files and folders that kustomizations of a source name, and ignored charts in its folder."""
    if not unit.ignored:
        return
    parts = parts_of_kustomization([unit.folder], unit.root)
    files = parts.files if parts is not None else [str(unit.folder / name) for name in KUSTOMIZATIONS]
    text = "".join(_read(Path(path)) for path in files if os.path.basename(path) in KUSTOMIZATIONS)
    folders = {os.path.dirname(path) for path in files} | {str(unit.folder)}
    for path in unit.ignored:
        name = os.path.basename(path)
        is_named = name in (*KUSTOMIZATIONS, "charts") or name in text
        if is_named and (os.path.dirname(path) in folders or path in folders):
            yield path


class _Kustomize:
    """Runs kustomize in the work folder of a unit."""

    def __init__(self, unit: Unit, root: Path, home: Path, remotes: RemoteFileCopies) -> None:
        self._unit = unit
        self._rename = {f"{root}/": "", str(root): ".", f"{unit.scratch}/": "", f"{unit.root}/": "", **remotes.names}
        self._home = home
        self._remotes = remotes

    def run(self, folder: Path, code: str, *arguments: str) -> bytes:
        online, profile = not self._unit.context.offline, self._unit.settings.profile.name
        unknown = not online and files_of_kustomization(self._unit.folder, self._unit.root) is None
        confined = self._unit.root if unknown or any(_UNRESTRICTED in word for word in arguments) else None
        git = base_git(self._home, self._unit.context)
        program = Program(
            "kustomize",
            arguments,
            folder,
            self._home,
            online=online,
            confined=confined,
            profile=profile,
            git=git.variables,
            git_program=git.program,
            stores=(git.store,),
        )
        said: list[str] = []
        try:
            output = run_for(program, code, self._rename, self._unit.context, said.append)
        except InputError as error:
            raise self._explained(error, "".join(said)) from error
        if not online:
            self._report_ages(git)
        return output

    def _explained(self, error: InputError, said: str) -> CommodoreError:
        """Return the error of kustomize, or a better one if it lacks an option or the network."""
        if _NEEDS_HELM in (said or error.message):
            return InputError(
                error.code,
                "the kustomization has charts, which kustomize builds only with the option --enable-helm",
                hint="Argo CD needs it, too: its argocd-cm says kustomize.buildOptions: --enable-helm, or the file of "
                "--installation has kustomize_build_options: [--enable-helm]",
            )
        if said:
            self._unit.note(error.code, f"kustomize says: {said}", "info")
        said = said or error.message
        if not self._unit.context.offline or not _WANTS_NETWORK.search(said):
            return error
        remote = next(iter(self._remotes.missing), "") or remote_of(said)
        return EnvironmentFault(
            "CMD-ARGO-310",
            f"{redact(remote) or 'a part of the kustomization'} is not in the cache, and nothing is fetched offline",
            hint="run once without --offline",
        )

    def _report_ages(self, git: BaseGit) -> None:
        for url, revision in git.outdated():
            self._unit.note(
                "CMD-ARGO-321",
                f"the revision {printable(revision)!r} of {url} is from the last fetch",
                "warning",
                "run without --offline for the server's current state",
            )


def _check_version(unit: Unit, options: KustomizeOptions) -> None:
    known = unit.settings.kustomize_versions()
    if options.version and options.version not in known:
        raise InputError(
            "CMD-ARGO-411",
            f"the version {options.version} of kustomize is not registered",
            hint=f"argocd-cm registers versions by kustomize.version.…; there are {', '.join(known) or 'none'}",
            locations=[unit.source.place],
        )
    if options.version:
        unit.note(
            "CMD-ARGO-413", f"kustomize {options.version} is requested; the installed one is used instead", "warning"
        )


def _check_options(options: list[str]) -> None:
    for option in options:
        name = option.partition("=")[0]
        if name in _REFUSED and option.partition("=")[2] != "false":
            raise PolicyError(
                "CMD-ARGO-420",
                f"the build option {name} would run programs or read the environment",
                hint="remove it from kustomize.buildOptions",
            )
        if name in ("-o", "--output"):
            raise InputError(
                "CMD-ARGO-410", f"the build option {name} is refused", hint="remove it from kustomize.buildOptions"
            )


def _work_folder(unit: Unit, options: KustomizeOptions, build: list[str]) -> Path:
    """Return the folder in which kustomize runs: the repository itself, or a copy of the files that may be read,
    without `.git`, if that could be read, or if files will be written.

    Files of a copy are hard links to those of the repository, except in the source's folder.
    """
    root, added = unit.root, [Path(os.path.normpath(unit.folder / text)) for text in options.components]
    is_free = any(_UNRESTRICTED in word for word in build)
    named = parts_of_kustomization([unit.folder, *added], root)
    parts = None if is_free else named
    is_read = (root / ".git").exists() and any((root / name).exists() for name in KUSTOMIZATIONS)
    inflates = "--enable-helm" in build and (_inflates(root) if parts is None else parts.charts)
    if not (options.edits or is_read or inflates or names_files(unit.folder, root)):
        return root
    copy, source = unit.scratch / "repository", str(unit.folder)
    if parts is not None:
        (copy / unit.folder.relative_to(root)).mkdir(parents=True)
        for file in parts.files:
            target = copy / os.path.relpath(file, root)
            target.parent.mkdir(parents=True, exist_ok=True)
            _place(file, str(target), whole=os.path.dirname(file) == source)
    else:
        shutil.copytree(
            root,
            copy,
            symlinks=True,
            ignore=lambda folder, _: [".git"] if folder == str(root) else [],
            copy_function=lambda old, new: _place(old, new, whole=os.path.dirname(old) == source),
        )
    if inflates and named is not None:
        _add_charts(unit, named.pulled, copy)
    return copy


def _add_charts(unit: Unit, pulled: Iterable[PulledChart], copy: Path) -> None:
    """Copy charts to the folders in which kustomize expects them, so that it does not pull them."""
    for pulled_chart in pulled:
        place = copy / os.path.relpath(pulled_chart.folder, unit.root)
        if not lies_in(pulled_chart.folder, str(unit.root)) or os.path.lexists(place):
            continue
        chart = unit.charts.chart(pulled_chart.repository, pulled_chart.name, pulled_chart.version or _NEWEST)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue  # a file is in the way, or the name is too long: kustomize reports it
        shutil.copytree(chart.folder, place)


def _place(old: str, new: str, *, whole: bool) -> str:
    if not whole:
        try:
            os.link(old, new, follow_symlinks=False)
        except OSError:
            pass
        else:
            return new
    return shutil.copy2(old, new, follow_symlinks=False)


def _inflates(root: Path) -> bool:
    """Check if a kustomization of the repository uses charts."""
    return any(
        entry.name in KUSTOMIZATIONS and any(word in _read(Path(entry.path)) for word in _HELM)
        for _, entry in walk(root, skip=is_git)
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _edit(unit: Unit, options: KustomizeOptions, folder: Path) -> dict[str, Any]:
    """Edit the kustomization of the copy, and return it."""
    present = [folder / name for name in KUSTOMIZATIONS if (folder / name).is_file()]
    if len(present) != 1:
        amount = "several of" if present else "none of"
        raise InputError(
            "CMD-ARGO-410",
            f"{unit.source.path} has {amount} {', '.join(KUSTOMIZATIONS)}",
            hint="a kustomization is one file",
            locations=[unit.source.place],
        )
    content: Any = next(read_documents(_read(present[0]), place=present[0].name), {})
    if not isinstance(content, Mapping):
        raise InputError("CMD-ARGO-410", f"{present[0].name} must be a mapping", hint="correct the kustomization")
    components = tuple(_components(unit, options))
    edited = edit(content, replace(options, components=components), unit.environment.substitute, folder)
    write_file(present[0], json.dumps(edited))
    return edited


def _components(unit: Unit, options: KustomizeOptions) -> Iterator[str]:
    for text in options.components:
        path = Path(os.path.normpath(unit.folder / text))
        check_inside(path, unit.root, text)
        if path.is_dir() or not options.ignore_missing_components:
            yield text


def _helm_options(unit: Unit, options: KustomizeOptions, build: list[str]) -> Iterator[str]:
    """Yield kustomize's options for helm, if it may use charts; the last two set the path of helm."""
    if "--enable-helm" not in build:
        return
    if version := options.kube_version or unit.capabilities.kube_version:
        yield from ("--helm-kube-version", version_for_tools(version, unit))
    served = sorted((*unit.capabilities.api_versions, *unit.capabilities.in_tree))
    for api_version in options.api_versions or served:
        yield from ("--helm-api-versions", api_version)
    try:
        yield from (HELM_COMMAND, command_of("helm", unit.settings.profile.name)[0])
    except Unavailable as error:
        raise unavailable(error) from error
