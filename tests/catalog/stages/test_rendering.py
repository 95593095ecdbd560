"""The result of the same class files is reused; anything else is rendered."""

from __future__ import annotations

import contextlib
import json
import marshal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from commodore.base.errors import InputError
from commodore.base.events import Event, Noted
from commodore.base.files.sealed import seal
from commodore.base.files.workspace import Workspace
from commodore.base.limits import DEFAULT_LIMITS
from commodore.catalog.stages import Fetcher, rendering
from commodore.core.inventory import Inventory, Node
from commodore.core.sources.git import RepositoryStore
from tests.base.values.test_interning import VALUES
from tests.world.context import make_context

pytestmark = pytest.mark.tools


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace.at(tmp_path)
    for path, text in {
        "targets/cluster.yml": "classes: [global.commodore]\n",
        "targets/app.yml": "classes: [global.commodore]\nparameters: {own: 1}\n",
        "classes/global/commodore.yml": "applications: [app]\nparameters: {a: {b: 1.5, c: [true, null, 'x']}}\n",
    }.items():
        file = made.inventory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return made


def ignore(event: Event) -> None:
    """Nobody listens."""


def fetcher_of(workspace: Workspace, **fields: Any) -> Fetcher:
    store = RepositoryStore(workspace.repositories, make_context(offline=True))
    context = make_context(fields.pop("announce", ignore), fields.pop("limits", DEFAULT_LIMITS))
    return Fetcher(workspace, store, context, **fields)


def render_inventory(workspace: Workspace, **fields: Any) -> Inventory:
    return rendering.render_inventory(fetcher_of(workspace, **fields))


def render_node(workspace: Workspace, name: str, *, ignore_missing_classes: bool = False) -> Node:
    return rendering.render_node(fetcher_of(workspace), name, ignore_missing_classes=ignore_missing_classes)


def kept(workspace: Workspace) -> list[Path]:
    folder = workspace.state / "rendered"
    return sorted(folder.iterdir()) if folder.is_dir() else []


def mark(path: Path) -> None:
    """Change the stored result, to distinguish it from a rendering."""
    document = json.loads(path.read_bytes().partition(b"\n")[2])
    records = document["records"]
    records.insert(0, [0, True])  # all numbers count one further
    for record in records:
        if record[0] == 1:
            record[1] = {key: number + 1 for key, number in record[1].items()}
    for node in document["nodes"]:
        node[2] += 1
        parameters = records[records[node[2]][1]["parameters"]]
        parameters[1]["marked"] = 0
    document["events"] = [["Noted", {"message": "said before", "level": 1}]]
    text = json.dumps(document).encode()
    path.write_bytes(seal(("rendered hierarchy", path.name), text))


def test_the_same_files_are_rendered_once(workspace: Workspace) -> None:
    """Values and applications are as rendered, and what was announced then is announced again."""
    first = render_inventory(workspace)
    assert render_inventory(workspace) == first
    assert first.nodes["app"].parameters["a"] == {"b": 1.5, "c": [True, None, "x"]}
    assert list(first.nodes) == ["app", "cluster"]
    (path,) = kept(workspace)
    mark(path)
    collected: list[Event] = []
    again = render_inventory(workspace, announce=collected.append)
    assert again.nodes["app"].parameters["marked"] is True
    assert again.nodes["app"].applications == ("app",)
    assert collected == [Noted("said before", level=1)]


@pytest.mark.parametrize("change", ["class", "target", "new class", "link", "removed"])
def test_other_files_are_rendered_anew(workspace: Workspace, change: str, tmp_path: Path) -> None:
    render_inventory(workspace)
    mark(kept(workspace)[0])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "x.yml").write_text("parameters: {x: 1}\n")
    if change == "class":
        (workspace.classes / "global" / "commodore.yml").write_text("parameters: {a: 2}\n")
    elif change == "target":
        workspace.target("app").write_text("parameters: {own: 2}\n")
    elif change == "new class":
        (workspace.classes / "global" / "new.yaml").write_text("")
    elif change == "link":
        (workspace.classes / "pkg").symlink_to(elsewhere)
    else:
        workspace.target("app").unlink()
    rendered = render_inventory(workspace)
    assert not any("marked" in node.parameters for node in rendered.nodes.values())


def test_what_a_link_leads_to_counts(workspace: Workspace, tmp_path: Path) -> None:
    component = tmp_path / "component.yml"
    component.write_text("parameters: {x: 1}\n")
    workspace.component_classes.mkdir()
    (workspace.component_classes / "app.yml").symlink_to(component)
    workspace.target("app").write_text("classes: [components.app]\n")
    assert render_inventory(workspace).nodes["app"].parameters["x"] == 1
    component.write_text("parameters: {x: 2}\n")
    assert render_inventory(workspace).nodes["app"].parameters["x"] == 2


@pytest.mark.parametrize("damage", [b"", b"x", b"0\n{}", b'{"nodes": []}'])
def test_a_damaged_result_is_rendered_anew(workspace: Workspace, damage: bytes) -> None:
    first = render_inventory(workspace)
    (path,) = kept(workspace)
    good = path.read_bytes()
    path.write_bytes(damage)
    assert render_inventory(workspace).nodes["app"].parameters == first.nodes["app"].parameters
    assert len(path.read_bytes()) == len(good)


def test_one_result_does_not_pass_for_another(workspace: Workspace) -> None:
    """Two kept hierarchies are swapped: both are sound, but neither belongs to its name."""
    render_inventory(workspace)
    workspace.target("app").write_text("parameters: {own: 2}\n")
    render_inventory(workspace)
    kept_result, other = kept(workspace)
    first, second = kept_result.read_bytes(), other.read_bytes()
    kept_result.write_bytes(second)
    other.write_bytes(first)
    assert render_inventory(workspace).nodes["app"].parameters["own"] == 2


def test_nothing_is_taken_or_kept_without_the_cache(workspace: Workspace) -> None:
    render_inventory(workspace, cached=False)
    assert kept(workspace) == []
    render_inventory(workspace)
    mark(kept(workspace)[0])
    assert "marked" in render_inventory(workspace).nodes["app"].parameters
    assert "marked" not in render_inventory(workspace, cached=False).nodes["app"].parameters


def test_a_class_that_is_saved_meanwhile(workspace: Workspace) -> None:
    """It is saved after the look at all files and before reclass reads it: what was rendered belongs to no key."""
    file = workspace.classes / "global" / "commodore.yml"
    before = file.read_text()

    def save() -> None:
        file.write_text("parameters: {a: meanwhile}\n")

    assert render_inventory(workspace, changed=save).nodes["app"].parameters["a"] == "meanwhile"
    file.write_text(before)
    assert render_inventory(workspace).nodes["app"].parameters["a"] == {"b": 1.5, "c": [True, None, "x"]}


def test_a_class_that_is_saved_meanwhile_and_restored(workspace: Workspace) -> None:
    """The files look the same before and after, but were others when reclass read them."""
    file = workspace.classes / "global" / "commodore.yml"
    before = "applications: ['~app']\nparameters: {a: 1}\n"
    file.write_text(before)
    workspace.target("cluster").write_text("classes: [global.commodore]\napplications: [app]\n")
    restored: list[Event] = []

    def save() -> None:
        file.write_text(before.replace("1", "2"))

    def restore(event: Event) -> None:  # reclass reports suppressed errors after it has read everything
        file.write_text(before)
        restored.append(event)

    fetcher = fetcher_of(workspace, changed=save, announce=restore)
    assert rendering.render_node(fetcher, "cluster").parameters["a"] == 2
    assert restored
    assert render_node(workspace, "cluster").parameters["a"] == 1


def test_one_target_and_all_are_different_questions(workspace: Workspace) -> None:
    render_inventory(workspace)
    node = render_node(workspace, "cluster")
    lenient = render_node(workspace, "cluster", ignore_missing_classes=True)
    assert node.parameters == lenient.parameters
    assert len(kept(workspace)) == 3


def test_failures_and_odd_keys_are_not_kept(workspace: Workspace) -> None:
    """A key that is a number would come back as text."""
    workspace.target("app").write_text("parameters: {1: one}\n")
    for _ in range(2):
        parameters = render_inventory(workspace).nodes["app"].parameters
        assert parameters == {**parameters, **dict.fromkeys([key for key in parameters if key in (1, "1")], "one")}
    odd = any(not isinstance(key, str) for key in parameters)
    assert (kept(workspace) == []) is odd
    workspace.target("app").write_text("classes: [missing.one]\n")
    number = len(kept(workspace))
    for _ in range(2):
        with pytest.raises(InputError):
            render_inventory(workspace)
    assert len(kept(workspace)) == number


def test_large_results_are_not_kept(workspace: Workspace) -> None:
    """Values that are equal in several targets count once."""
    size = 20_000
    (workspace.classes / "global" / "commodore.yml").write_text(f"parameters: {{a: {'x' * size}}}\n")
    for limit, count in ((size, 0), (size + 5_000, 1)):
        limits = replace(DEFAULT_LIMITS, rendered_bytes=limit)
        assert len(render_inventory(workspace, limits=limits).nodes) == 2
        assert len(kept(workspace)) == count


@given(value=VALUES)
def test_only_what_comes_back_the_same_is_kept(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    workspace = Workspace.at(tmp_path_factory.mktemp("kept"))
    for folder in (workspace.classes, workspace.targets):
        folder.mkdir(parents=True)
    workspace.target("a").write_text(json.dumps({"parameters": {"value": value}}, ensure_ascii=False))
    try:
        first = render_inventory(workspace).nodes["a"]
    except InputError:  # some texts mean something to YAML or reclass
        return
    second = render_inventory(workspace).nodes["a"]
    assert marshal.dumps(dict(first.parameters), 2) == marshal.dumps(dict(second.parameters), 2)


def test_old_results_go(workspace: Workspace) -> None:
    for number in range(12):
        workspace.target("app").write_text(f"parameters: {{own: {number}}}\n")
        render_inventory(workspace)
    assert len(kept(workspace)) == 5


def test_folders_without_end(workspace: Workspace) -> None:
    """Reclass says what it thinks of them; nothing is kept."""
    (workspace.classes / "loop").symlink_to(workspace.classes)
    with contextlib.suppress(InputError):
        render_inventory(workspace)
    assert kept(workspace) == []
