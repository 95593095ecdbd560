"""A run: what is needed to render Applications, set up and taken down together."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from commodore.argocd.acquiring import Charts, RepoMap, Repositories
from commodore.argocd.configuration import ArgoSettings, read_file
from commodore.argocd.diagnostics import Diagnostic, Diagnostics
from commodore.argocd.model.application import Application, read_application
from commodore.argocd.model.fields import Fields
from commodore.argocd.rendering import Capabilities, Renderer
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


@contextlib.contextmanager
def open_run(
    settings: ArgoSettings, repo_map: RepoMap, capabilities: Capabilities, context: Context, found: Diagnostics
) -> Iterator[Run]:
    """Set up what renders Applications of an installation; entries of the map that nothing used are told at the end."""
    with temporary_folder() as scratch:
        repositories = Repositories(context, repo_map, scratch)
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
