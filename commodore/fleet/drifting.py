"""What differs between `rendered/` and what is known about the live Applications."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.values.commits import is_commit
from commodore.base.values.versions import find_version
from commodore.base.yaml import load, load_all
from commodore.fleet.output import Files, read_rendered
from commodore.fleet.promotion.status_file import AppState, FleetState, revisions_of
from commodore.fleet.repository.config import read_config
from commodore.fleet.repository.layout import RENDERED, choose
from commodore.fleet.repository.model import APPLICATIONS


@dataclass(frozen=True, slots=True)
class Drift:
    """A difference that is equal in several cells.

    Attributes:
        kind: the application is `missing`, is `extra`, or is at another `revision`.
        cells: with their types.
        wanted, found: the revisions; empty if there is none.
    """

    kind: Literal["missing", "extra", "revision"]
    application: str
    cells: tuple[str, ...]
    wanted: str = ""
    found: str = ""


@dataclass(frozen=True, slots=True)
class Drifts:
    """What came of looking.

    Attributes:
        known, unknown: the cells whose state is known, and those of which nothing is.
        found: what differs, the same in most cells first.
    """

    known: tuple[str, ...]
    unknown: tuple[str, ...]
    found: tuple[Drift, ...]


def drift(root: Path, state: FleetState, context: Context) -> Drifts:
    """Compare `rendered/` with the state of applications. Cells of which nothing is known are left out.

    Raises:
        CommodoreError: the configuration or `rendered/` cannot be read.
    """
    config = read_config(root, context.limits)
    types = [kind.name for kind in config.types]
    resources = choose(root, config, types).output == "manifests"
    files: dict[str, dict[str, bytes]] = {}
    for path, text in read_rendered(root).items():
        parts = path.split("/")
        files.setdefault("/".join(parts[: config.depth + 1]), {})["/".join(parts[config.depth + 1 :])] = text
    cells = config.typed_cells()
    groups: dict[tuple[Literal["missing", "extra", "revision"], str, str, str], list[str]] = {}
    for cell in dict.fromkeys((*cells, *state.cells)):
        if cell in state.cells:
            wanted = (_of_manifests if resources else _of_charts)(files.get(cell, {}), cell)
            for one in _compare(wanted, state.cells[cell]):
                groups.setdefault(one, []).append(cell)
    found = [Drift(kind, name, tuple(of), wanted, seen) for (kind, name, wanted, seen), of in groups.items()]
    return Drifts(
        tuple(cell for cell in cells if cell in state.cells),
        tuple(cell for cell in cells if cell not in state.cells),
        tuple(sorted(found, key=lambda one: (-len(one.cells), one.application, one.kind))),
    )


def _compare(
    wanted: Mapping[str, str], live: Mapping[str, AppState]
) -> Iterator[tuple[Literal["missing", "extra", "revision"], str, str, str]]:
    for name, revision in wanted.items():
        if name not in live:
            yield "missing", name, revision, ""
        elif seen := _other_revision(revision, live[name]):
            yield "revision", name, revision, seen
    for name, one in live.items():
        if name not in wanted:
            yield "extra", name, "", one.revision or one.target


def _other_revision(wanted: str, live: AppState) -> str:
    """The revision that an application has or asks for in place of the wanted one; empty if it may be that one.

    What an application asks for is compared as it is written. What is deployed can only be told for sure where both are
    versions, or commits: a branch, a range or a tag may stand for any commit.
    """
    if not wanted or "{{" in wanted:
        return ""
    if live.target and live.target != wanted:
        return live.target
    exact, found = find_version(wanted), find_version(live.revision)
    if exact is not None and found is not None:
        return live.revision if exact != found else ""
    both = is_commit(wanted) and is_commit(live.revision)
    return live.revision if both and wanted != live.revision else ""


def _of_charts(files: Files, cell: str) -> dict[str, str]:
    """The applications of a cell and their revisions, by its values."""
    values = load(files.get("values.yaml", b""), place=f"{RENDERED}/{cell}/values.yaml")
    items = values.get(APPLICATIONS) if isinstance(values, dict) else None
    return {str(name): revisions_of(item) for name, item in (items or {}).items() if isinstance(item, dict)}


def _of_manifests(files: Files, cell: str) -> dict[str, str]:
    """The same by its resources."""
    found = {}
    for path, text in files.items():
        if not path.startswith("templates/"):
            continue
        try:
            documents = load_all(text, place=f"{RENDERED}/{cell}/{path}")
        except CommodoreError:  # with expressions for Argo CD's own pass, which are no YAML
            if b"\nkind: Application\n" in text:
                found[path.removeprefix("templates/").removesuffix(".yaml")] = ""
            continue
        for one in documents:
            if isinstance(one, dict) and one.get("kind") == "Application":
                found[str((one.get("metadata") or {}).get("name", ""))] = revisions_of(one.get("spec") or {})
    return found
