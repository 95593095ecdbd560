"""A run: what is needed to render Applications, set up and taken down together."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from commodore.argocd.acquiring import Charts, RepoMap, Repositories
from commodore.argocd.configuration import ArgoSettings, read_candidates, read_file
from commodore.argocd.diagnostics import Diagnostic, Diagnostics
from commodore.argocd.discovery import discover, own_repositories
from commodore.argocd.model.application import Application, read_application
from commodore.argocd.model.fields import Fields
from commodore.argocd.rendering import Capabilities, Renderer
from commodore.argocd.trees import Tree
from commodore.context import Context
from commodore.errors import InputError, Location
from commodore.git import redact
from commodore.limits import Limits
from commodore.manifests.kube_yaml import read_placed_documents
from commodore.staging import temporary_folder


@dataclass(frozen=True, slots=True)
class Run:
    """What a run works with. Nothing of it outlives `open_run`."""

    settings: ArgoSettings
    repositories: Repositories
    renderer: Renderer
    found: Diagnostics


@dataclass(frozen=True, slots=True)
class Named:
    """Where Applications and settings are looked for.

    Attributes:
        files: files with Applications; if there are none, `folder` is scanned.
        settings: files with objects of the installation, which count more than what is in the folder.
        self_urls: URLs of the repository that the folder is in, beside those of its remotes.
    """

    folder: Path
    files: tuple[Path, ...] = ()
    settings: tuple[Path, ...] = ()
    self_urls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """Applications and settings.

    Attributes:
        own: the tree that was scanned, by the repositories that it stands for.
        sets: how many ApplicationSets are defined, which are not expanded.
    """

    settings: ArgoSettings
    applications: tuple[Application, ...]
    own: Mapping[str, Tree]
    sets: int = 0


def list_applications(named: Named, context: Context, found: Diagnostics) -> Listing:
    """The Applications of the files that are named, or else of a folder's files, with the settings that count.

    Raises:
        CommodoreError: a file that is named cannot be read, or the folder is none.
    """
    candidates = read_candidates(named.settings, context.limits, found)
    if named.files:
        return Listing(candidates.settings(), tuple(read_applications(named.files, context.limits)), {})
    tree, own = own_repositories(named.folder, named.self_urls, context)
    discovered = discover(tree, named.folder.resolve(), context.limits, candidates, found)
    if discovered.sets:
        found.add(
            Diagnostic(
                "CMD-ARGO-107",
                f"{len(discovered.sets)} ApplicationSets are defined, and what they generate is not looked at",
                "boundary",
                "expand them with: commodore argocd appsets -o yaml",
                locations=tuple(place for _, place in discovered.sets[:3]),
            )
        )
    if not discovered.applications:
        found.add(
            Diagnostic("CMD-ARGO-011", f"{named.folder} defines no Applications", "warning", "choose another folder")
        )
    return Listing(candidates.settings(), tuple(discovered.listed()), own, len(discovered.sets))


@contextlib.contextmanager
def open_run(
    settings: ArgoSettings,
    repo_map: RepoMap,
    capabilities: Capabilities,
    context: Context,
    found: Diagnostics,
    own: Mapping[str, Tree] = MappingProxyType({}),
) -> Iterator[Run]:
    """Set up what renders Applications of an installation; entries of the map that nothing used are told at the end.

    Args:
        own: trees that stand for their repositories at every revision, by `repository_identity`.
    """
    with temporary_folder() as scratch:
        repositories = Repositories(context, repo_map, scratch, own)
        renderer = Renderer(settings, repositories, Charts(context, scratch), capabilities, context, scratch, found)
        try:
            yield Run(settings, repositories, renderer, found)
        finally:
            repositories.close()
    for one in repo_map.unused():
        found.add(
            Diagnostic(
                "CMD-ARGO-319",
                f"--repo-map names a folder for {redact(one.url)}, which nothing asks for",
                "info",
                "check the URL; user names, '.git' and the case of letters do not count",
            )
        )


def read_applications(files: Iterable[Path], limits: Limits) -> list[Application]:
    """The Applications of files, in their order.

    Raises:
        InputError: CMD-ARGO-101, a file cannot be read; CMD-ARGO-103 and others, an Application is wrong or another
            object is among them.
    """
    found = []
    for file in files:
        for value, line in read_placed_documents(read_file(file, limits), place=str(file)):
            place = Location(str(file), line)
            fields = Fields.of(value, "", place)
            if fields.text("kind") != "Application":
                raise InputError(
                    "CMD-ARGO-103",
                    f"{fields.text('kind') or 'an object without kind'} is no Application",
                    hint="the file holds Applications of argoproj.io",
                    locations=[place],
                )
            found.append(read_application(value, place))
    return found
