"""`fleet drift`: missing and extra Applications, and other revisions, in both styles."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from commodore.fleet.drifting import Drifts, drift
from commodore.fleet.promotion.status_file import read_states
from tests.fleet.conftest import CELLS, World, charts, manifests

pytestmark = pytest.mark.tools

WANTED = {"web": {"revision": "v4.17.0"}, "db": {"revision": "v1.13.3"}}


def look(world: World, cells: dict[str, Any]) -> Drifts:
    file = world.root / "status.json"
    file.write_text(json.dumps({"cells": cells}))
    return drift(world.root, read_states([str(file)], 900, world.context.limits), world.context)


def told(drifts: Drifts) -> list[tuple[str, str, str, str, int]]:
    return [(item.kind, item.application, item.wanted, item.found, len(item.cells)) for item in drifts.found]


@pytest.mark.parametrize("files", [charts(), manifests()])
def test_what_is_missing_extra_and_at_another_revision(world: World, files: dict[str, str]) -> None:
    world.lay(files).generate()
    assert told(look(world, {f"main/{cell}": WANTED for cell in CELLS})) == []

    other = {"web": {"revision": "v4.16.0"}, "old": {"revision": "v1"}}
    result = look(world, {f"main/{CELLS[0]}": other, f"main/{CELLS[1]}": other, f"main/{CELLS[2]}": WANTED})
    assert told(result) == [
        ("missing", "db", "v1.13.3", "", 2),
        ("extra", "old", "", "v1", 2),
        ("revision", "web", "v4.17.0", "v4.16.0", 2),
    ]
    assert result.known == tuple(f"main/{cell}" for cell in CELLS[:3])
    assert result.unknown == tuple(f"main/{cell}" for cell in CELLS[3:])


def test_a_cell_that_the_fleet_no_longer_has(world: World) -> None:
    world.lay(charts()).generate()
    assert told(look(world, {"main/gone/x/r1": {"web": {"revision": "v1"}}})) == [("extra", "web", "", "v1", 1)]


@pytest.mark.parametrize(
    ("expected", "text", "differs"),
    [
        ("v1.2.0", "1.2.0", False),
        ("v1.2", "v1.2.0", False),
        ("v1.2.0", "v1.2.1", True),
        ("v1.2.0", "0123456789012345678901234567890123456789", False),  # the tag may be that commit
        ("main", "0123456789012345678901234567890123456789", False),
        ("a" * 40, "b" * 40, True),
        ("a" * 40, "a" * 40, False),
        ("v1.2.0", "", False),
        ("'{{ .Values.cluster.tag }}'", "v1", False),
    ],
)
def test_when_a_revision_is_another_one(world: World, expected: str, text: str, differs: bool) -> None:
    app = f"applications:\n  db:\n    source: {{repoURL: https://x, path: p, targetRevision: {expected}}}\n"
    world.lay(charts(**{"config/main/db/values.yaml": app})).generate()
    state = {"web": WANTED["web"], "db": {"revision": text}}
    assert bool(told(look(world, {f"main/{CELLS[0]}": state}))) is differs


@pytest.mark.parametrize(("target", "drifts"), [("v1.13.3", []), ("v1.13.2", [("revision", "v1.13.3", "v1.13.2")])])
def test_a_list_of_kubectl_tells_what_is_asked_for(world: World, target: str, drifts: list[Any]) -> None:
    """A live Application says its own targetRevision, which is compared as it is written."""
    world.lay(charts()).generate()
    items = [
        {"metadata": {"name": "db"}, "spec": {"source": {"targetRevision": target}}, "status": {}},
        {"metadata": {"name": "web"}, "spec": {"sources": [{"targetRevision": "v4.17.0"}]}, "status": {}},
    ]
    file = world.root / "apps.json"
    file.write_text(json.dumps({"kind": "List", "items": items}))
    states = read_states([f"main/{CELLS[0]}={file}"], 900, world.context.limits, os.stat(file).st_mtime)
    result = drift(world.root, states, world.context)
    assert [(item.kind, item.wanted, item.found) for item in result.found] == drifts


def test_applications_with_expressions_are_seen(world: World) -> None:
    """Style manifests: files that are YAML only after Argo CD's own pass are there all the same."""
    world.lay(manifests()).generate()
    file = world.root / f"rendered/main/{CELLS[0]}/templates/db.yaml"
    file.write_text(file.read_text() + "x: {{ .Values.x }}: y\n")
    assert told(look(world, {f"main/{CELLS[0]}": WANTED})) == []
