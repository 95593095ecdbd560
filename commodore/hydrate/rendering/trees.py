"""Hydrated branches written to plain folders, without access to remotes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.errors import CommodoreError, InputError
from commodore.base.files.workspace import write_atomically
from commodore.core.sources.git import repository_key
from commodore.hydrate.branches import layout
from commodore.hydrate.branches.provenance import read_commit
from commodore.hydrate.model import Group, Hydration, Pins
from commodore.hydrate.planning.groups import group as group_members
from commodore.hydrate.reading.applications import read_all, warn_of_other_sources
from commodore.hydrate.reading.checks import check_projects, check_together
from commodore.hydrate.reading.sources import Placed
from commodore.hydrate.rendering.group_renderer import GroupRenderer


@dataclass(frozen=True, slots=True)
class TreeGroup:
    """The result of one group of Applications.

    Attributes:
        dry_sha: None if unresolvable.
        message: of the commit; None if the group failed.
    """

    branch: str
    dry_sha: str | None = None
    message: str | None = None
    error: CommodoreError | None = None


def render_trees(applications: Sequence[Placed], renderer: GroupRenderer, folder: Path) -> list[TreeGroup]:
    """Write the content of each branch to `branches/<branch>` in a folder, and the results to its `groups.json`.

    A branch with a failed Application is not written.

    Raises:
        EnvironmentFault: the folder cannot be written.
    """
    folder = folder.resolve()
    warn_of_other_sources(applications, renderer.context.announce)
    listed = read_all(applications, lenient=True)
    failed: dict[str, list[CommodoreError]] = {}
    conflicts = _conflicts([hydration for hydration, _ in listed.hydrations], renderer.settings.projects)
    for branch, error in (*listed.failed, *conflicts):
        failed.setdefault(branch, []).append(error)
    good = [(hydration, data) for hydration, data in listed.hydrations if hydration.branch not in failed]
    done = [TreeGroup(branch, error=_joined(errors)) for branch, errors in failed.items()]
    by_path = {(value.branch, value.path): data for value, data in good}
    shas, unreachable = _commits([value for value, _ in good], renderer)
    done += unreachable
    reachable = [value for value, _ in good if (value.branch, value.path) in shas]
    for group in group_members(reachable, lambda item: shas[item.branch, item.path]):
        done.append(
            _render(
                group, {member.path: by_path[member.branch, member.path] for member in group.members}, renderer, folder
            )
        )
    text = json.dumps([_listed(group) for group in done], indent=1, ensure_ascii=False) + "\n"
    write_atomically(folder / "groups.json", text.encode("utf-8", "replace"), root=folder)
    return done


def _listed(group: TreeGroup) -> dict[str, str | None]:
    """Return a group as `groups.json` lists it, with the keys of Argo CD's commit server."""
    error = group.error.message if group.error else None
    return {"branch": group.branch, "drySha": group.dry_sha, "commitMessage": group.message, "error": error}


def _conflicts(hydrations: Sequence[Hydration], projects: Sequence[Placed]) -> list[tuple[str, CommodoreError]]:
    conflicts = []
    for branch in sorted({hydration.branch for hydration in hydrations}):
        of_branch = [hydration for hydration in hydrations if hydration.branch == branch]
        try:
            check_together(of_branch)
            check_projects(of_branch, projects)
        except CommodoreError as error:
            conflicts.append((branch, error))
    return conflicts


def _joined(errors: Sequence[CommodoreError]) -> CommodoreError:
    return errors[0] if len(errors) == 1 else InputError(errors[0].code, "; ".join(error.message for error in errors))


def _commits(
    hydrations: Iterable[Hydration], renderer: GroupRenderer
) -> tuple[dict[tuple[str, str], str], list[TreeGroup]]:
    """Return the dry commits by branch and path, and the groups without a dry commit, which exclude their branches."""
    shas: dict[tuple[str, str], str] = {}
    failed: dict[tuple[str, str], CommodoreError] = {}
    for hydration in hydrations:
        try:
            shas[hydration.branch, hydration.path] = _commit(hydration, renderer)
        except CommodoreError as error:
            failed.setdefault((hydration.branch, repository_key(hydration.dry_url)), error)
    return shas, [TreeGroup(branch, error=error) for (branch, _), error in failed.items()]


def _commit(hydration: Hydration, renderer: GroupRenderer) -> str:
    tree = renderer.renderer.repositories.tree(hydration.dry_url, hydration.dry_revision)
    if not tree.revision:
        raise InputError(
            "CMD-HYD-012",
            f"{tree.name}, which replaces {hydration.dry_url}, is not a git checkout, so it has no commit to hydrate",
            hint="map the URL to a git checkout of the repository",
        )
    return tree.revision


def _pins(member: Hydration, renderer: GroupRenderer) -> Pins:
    trees = renderer.renderer.repositories
    result = ("" if item.is_chart else trees.tree(item.url, item.revision).revision for item in member.additional)
    return Pins(additional=tuple(result))


def _render(
    group: Group, applications: Mapping[str, Mapping[str, Any]], renderer: GroupRenderer, folder: Path
) -> TreeGroup:
    try:
        root = renderer.renderer.repositories.tree(group.first.dry_url, group.first.dry_revision).root
        commit = read_commit(root, group.dry_sha, renderer.context)
        pins = {member.path: _pins(member, renderer) for member in group.members if member.additional}
        outputs = renderer.render(group, applications, commit, pins)
        data = layout.root_data(group.first.dry_url, commit)
        message = renderer.rules.texts.message_of(data)
        files = {layout.METADATA: layout.metadata(data), layout.ATTRIBUTES: layout.attributes(None)}
        for output in outputs:
            files |= layout.path_files(output, data)
        for path, content in files.items():
            write_atomically(folder / "branches" / group.branch / path, content, root=folder)
    except CommodoreError as error:
        return TreeGroup(group.branch, group.dry_sha, error=error)
    return TreeGroup(group.branch, group.dry_sha, message)
