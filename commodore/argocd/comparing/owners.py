"""The owners of changed files: Applications that read them, and their annotations for Argo CD."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator
from pathlib import Path

from commodore.argocd.acquiring import repository_identity
from commodore.argocd.comparing.reads import Reads
from commodore.argocd.model.application import Application
from commodore.argocd.planning.generate_paths import GENERATE_PATHS, GeneratePaths
from commodore.argocd.trees import is_git
from commodore.base.diagnostics import Diagnostic, Severity, Subject
from commodore.base.files.tree import children, walk
from commodore.base.printable import some_of


class ChangedFiles:
    """Changed paths, by their folders."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = frozenset(paths)
        self._within: dict[str, set[str]] = {}
        self._below: dict[str, set[str]] = {}
        for path in self.paths:
            folder = posixpath.dirname(path)
            self._within.setdefault(folder, set()).add(path)
            self._below.setdefault("", set()).add(path)
            while folder:
                self._below.setdefault(folder, set()).add(path)
                folder = posixpath.dirname(folder)

    def read_by(self, reads: Reads) -> set[str]:
        """Return the changed paths that an Application reads."""
        paths = self.paths & reads.files
        for folder in reads.folders:
            paths |= self._below.get(folder, set())
        for folder in reads.flat:
            paths |= self._within.get(folder, set())
        return set(paths)


def generate_paths(application: Application, own: Iterable[str]) -> GeneratePaths:
    """Return the paths in the annotation of an Application.

    Args:
        own: the repositories of the paths, by `repository_identity`.
    """
    identities = {*own}
    folders = [source.path for source in application.sources if repository_identity(source.repo_url) in identities]
    return GeneratePaths(application.annotations.get(GENERATE_PATHS, ""), folders)


def missed_by(paths: GeneratePaths, files: Iterable[str], label: str, application: Application) -> Diagnostic | None:
    """Return a diagnostic if the annotation of an Application misses files that it reads, else None.

    Args:
        label: the Application as `namespace/name`.
    """
    missed = sorted(file for file in files if not paths.cover(file)) if paths else []
    if not missed:
        return None
    return Diagnostic(
        "CMD-ARGO-804",
        f"the annotation {GENERATE_PATHS} misses files that the Application reads: {some_of(missed)}",
        "info",
        "add them to it; until then Argo CD renders a change of them late",
        subject=Subject(application=label),
        locations=(application.place,),
    )


def files_read(reads: Reads, root: Path) -> Iterator[str]:
    """Yield the files of a tree that an Application reads."""
    yield from (path for path in reads.files if (root / path).is_file())
    below = (entry for folder in reads.folders for _, entry in walk(root / folder, skip=is_git))
    within = (entry for folder in reads.flat for entry in children(root / folder))
    yield from (os.path.relpath(entry.path, root) for entry in (*below, *within) if entry.is_file())


def unowned(changed: ChangedFiles, owned: Iterable[Iterable[str]], severity: Severity) -> Diagnostic | None:
    """Return a diagnostic about changed files that belong to no Application, or None.

    Args:
        owned: files that belong to something.
    """
    left = sorted(changed.paths.difference(*owned))
    if not left:
        return None
    count = "1 changed file belongs" if len(left) == 1 else f"{len(left)} changed files belong"
    return Diagnostic(
        "CMD-ARGO-806",
        f"{count} to no compared Application: {some_of(left)}",
        severity,
        "--all renders all Applications; argocd explain lists what each of them reads" if severity != "info" else "",
        "input" if severity == "error" else "",
    )
