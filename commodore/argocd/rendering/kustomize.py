"""Kustomize sources: the edits that Argo CD makes, on a copy, and the build."""

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
from commodore.argocd.rendering.kustomize_remotes import BaseGit, RemoteFilesOf, base_git, names_files
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
_UNRESTRICTED = "LoadRestrictionsNone"  # it may read any file then
_NEEDS_HELM = "must specify --enable-helm"
_WANTS_NETWORK = re.compile(  # the words of kustomize and of `fetch-once`
    r"no 'git' program on path|\bdial tcp\b|\bfatal: offline, and |failed to run '[^']*git fetch "
)
_NEWEST = "*"  # as helm pulls without a version
_HELM = ("helmCharts", "helmChartInflationGenerator")


def render_kustomize(unit: Unit) -> Iterator[Rendered]:
    """The objects of a kustomization.

    Raises:
        InputError: CMD-ARGO-410, kustomize fails, with its words; CMD-ARGO-411, the version is not registered;
            CMD-ARGO-412, an edit is in conflict with the kustomization; CMD-ARGO-417, a document is no object.
        EnvironmentFault: CMD-ARGO-310, a part is elsewhere, and nothing is fetched offline; CMD-ARGO-413, kustomize is
            missing; CMD-ARGO-418, it takes too long.
        PolicyError: CMD-ARGO-420, a build option would run programs or read the surroundings; CMD-CONF-011, a part is
            on this machine's link.
    """
    options = unit.source.kustomize or KustomizeOptions()
    _check_version(unit, options)
    build = unit.settings.build_options(options.version).split()
    _check_options(build)
    home = unit.scratch / "home"
    home.mkdir()
    remotes = RemoteFilesOf(unit)
    root = _workplace(unit, options, build)
    folder = root / unit.folder.relative_to(unit.root)
    report_read(unit, _ignored_files(unit))
    edited = _edit(unit, options, folder) if options.edits else None
    if not unit.context.offline:
        check_sources(folder, root)
    if root != unit.root:
        remotes.bring(folder, root)
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
    """The files that a build reads, by their names in the repository; None if that is not known."""
    if not _HARMLESS.issuperset(build):  # it may lift the rule that files lie below their kustomization
        return None
    files = files_of_kustomization(folder, root)
    return None if files is None else [(os.path.relpath(path, root), Path(path)) for path in files]


def _ignored_files(unit: Unit) -> Iterator[str]:
    """The files and folders that git ignores and kustomizations of a source name, and charts that lie in its folder."""
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
    """Runs kustomize in the workplace of a unit."""

    def __init__(self, unit: Unit, root: Path, home: Path, remotes: RemoteFilesOf) -> None:
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
        """The error of kustomize, or what is the matter if it lacks an option or the network."""
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
            f"{redact(remote) or 'a part of the kustomization'} is not in the cache, and offline nothing is fetched",
            hint="run once without --offline",
        )

    def _report_ages(self, git: BaseGit) -> None:
        for url, revision in git.outdated():
            self._unit.note(
                "CMD-ARGO-321",
                f"the revision {printable(revision)!r} of {url} is that of the last fetch",
                "warning",
                "run without --offline for what the server has now",
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
            "CMD-ARGO-413", f"kustomize {options.version} is wanted; the installed one is used instead", "warning"
        )


def _check_options(options: list[str]) -> None:
    for option in options:
        name = option.partition("=")[0]
        if name in _REFUSED and option.partition("=")[2] != "false":
            raise PolicyError(
                "CMD-ARGO-420",
                f"the build option {name} would run programs or read the surroundings",
                hint="take it out of kustomize.buildOptions",
            )
        if name in ("-o", "--output"):
            raise InputError(
                "CMD-ARGO-410", f"the build option {name} is refused", hint="take it out of kustomize.buildOptions"
            )


def _workplace(unit: Unit, options: KustomizeOptions, build: list[str]) -> Path:
    """The folder in which kustomize works: the repository itself, or a copy of what may be read of it, without git's
    own folder, if that could be read, or anything will be written.

    All files of a copy but those of the source's folder are further names of the files of the repository.
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
        _bring_charts(unit, named.pulled, copy)
    return copy


def _bring_charts(unit: Unit, pulled: Iterable[PulledChart], copy: Path) -> None:
    """Put charts where kustomize looks for them, so that it has nothing to pull."""
    for one in pulled:
        place = copy / os.path.relpath(one.folder, unit.root)
        if not lies_in(one.folder, str(unit.root)) or os.path.lexists(place):
            continue
        chart = unit.charts.chart(one.repository, one.name, one.version or _NEWEST)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue  # a file is in the way, or the name is too long: kustomize says so
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
    """Whether a kustomization of the repository uses charts."""
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
    """Change the kustomization of the copy. Returns it."""
    present = [folder / name for name in KUSTOMIZATIONS if (folder / name).is_file()]
    if len(present) != 1:
        found = "several of" if present else "none of"
        raise InputError(
            "CMD-ARGO-410",
            f"{unit.source.path} has {found} {', '.join(KUSTOMIZATIONS)}",
            hint="a kustomization is one file",
            locations=[unit.source.place],
        )
    content: Any = next(read_documents(_read(present[0]), place=present[0].name), {})
    if not isinstance(content, Mapping):
        raise InputError("CMD-ARGO-410", f"{present[0].name} is no map", hint="correct the kustomization")
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
    """What kustomize tells helm, if the build options let it use charts; the last two words are helm's own place."""
    if "--enable-helm" not in build:
        return
    if version := options.kube_version or unit.capabilities.kube_version:
        yield from ("--helm-kube-version", version_for_tools(version, unit))
    told = sorted((*unit.capabilities.api_versions, *unit.capabilities.in_tree))
    for one in options.api_versions or told:
        yield from ("--helm-api-versions", one)
    try:
        yield from (HELM_COMMAND, command_of("helm", unit.settings.profile.name)[0])
    except Unavailable as error:
        raise unavailable(error) from error
