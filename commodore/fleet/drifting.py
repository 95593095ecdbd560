"""Compare `rendered/` with the known live Applications."""

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
        cells: the cells, with their types.
        wanted, found: the revisions; empty if unknown.
    """

    kind: Literal["missing", "extra", "revision"]
    application: str
    cells: tuple[str, ...]
    wanted: str = ""
    found: str = ""


@dataclass(frozen=True, slots=True)
class Drifts:
    """The result of a comparison.

    Attributes:
        known, unknown: the cells with and without a known state.
        found: the differences, those of most cells first.
    """

    known: tuple[str, ...]
    unknown: tuple[str, ...]
    found: tuple[Drift, ...]


def drift(root: Path, state: FleetState, context: Context) -> Drifts:
    """Compare `rendered/` with the state of applications. Cells without a known state are left out.

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
            expected = (_of_manifests if resources else _of_charts)(files.get(cell, {}), cell)
            for difference in _compare(expected, state.cells[cell]):
                groups.setdefault(difference, []).append(cell)
    drifts = [Drift(kind, name, tuple(of), revision, seen) for (kind, name, revision, seen), of in groups.items()]
    return Drifts(
        tuple(cell for cell in cells if cell in state.cells),
        tuple(cell for cell in cells if cell not in state.cells),
        tuple(sorted(drifts, key=lambda entry: (-len(entry.cells), entry.application, entry.kind))),
    )


def _compare(
    expected: Mapping[str, str], live: Mapping[str, AppState]
) -> Iterator[tuple[Literal["missing", "extra", "revision"], str, str, str]]:
    for name, revision in expected.items():
        if name not in live:
            yield "missing", name, revision, ""
        elif seen := _other_revision(revision, live[name]):
            yield "revision", name, revision, seen
    for name, state in live.items():
        if name not in expected:
            yield "extra", name, "", state.revision or state.target


def _other_revision(expected: str, live: AppState) -> str:
    """Return the revision that an application has or requests instead of the expected one; empty if it may be that one.

    Requested revisions are compared as written. Deployed ones can be compared only if both are versions, or commits: a
    branch, a range or a tag may mean any commit.
    """
    if not expected or "{{" in expected:
        return ""
    if live.target and live.target != expected:
        return live.target
    exact, deployed = find_version(expected), find_version(live.revision)
    if exact is not None and deployed is not None:
        return live.revision if exact != deployed else ""
    both = is_commit(expected) and is_commit(live.revision)
    return live.revision if both and expected != live.revision else ""


def _of_charts(files: Files, cell: str) -> dict[str, str]:
    """Return the applications of a cell and their revisions, by its values."""
    values = load(files.get("values.yaml", b""), place=f"{RENDERED}/{cell}/values.yaml")
    items = values.get(APPLICATIONS) if isinstance(values, dict) else None
    return {str(name): revisions_of(item) for name, item in (items or {}).items() if isinstance(item, dict)}


def _of_manifests(files: Files, cell: str) -> dict[str, str]:
    """Return the applications of a cell and their revisions, by its resources."""
    revisions = {}
    for path, text in files.items():
        if not path.startswith("templates/"):
            continue
        try:
            documents = load_all(text, place=f"{RENDERED}/{cell}/{path}")
        except CommodoreError:  # expressions for Argo CD's own pass are not valid YAML
            if b"\nkind: Application\n" in text:
                revisions[path.removeprefix("templates/").removesuffix(".yaml")] = ""
            continue
        for document in documents:
            if isinstance(document, dict) and document.get("kind") == "Application":
                revisions[str((document.get("metadata") or {}).get("name", ""))] = revisions_of(
                    document.get("spec") or {}
                )
    return revisions
