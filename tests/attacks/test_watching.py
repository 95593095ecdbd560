"""Folders that are replaced by links while a program goes on that writes to them again and again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.errors import PolicyError
from commodore.base.files.workspace import (
    Workspace,
    exchange_tree,
    link_relative,
    make_folder,
    move_entry,
    remove_tree,
    replace_tree,
    write_atomically,
)
from tests.attacks.test_swapping import content
from tests.cli.conftest import component
from tests.cli.test_watch import watching
from tests.world.cluster import ClusterWorld

__all__ = ["component"]


def replace_by_link(folder: Path, outside: Path) -> dict[str, str]:
    """Put a link to a folder of the user in place of one, and move that away. Returns what is in the user's."""
    for name in ("compiled/app/precious", "manifests/precious", "precious", "new/x"):
        (outside / name).parent.mkdir(parents=True, exist_ok=True)
        (outside / name).write_text("mine")
    folder.rename(folder.with_name(f"{folder.name}-moved"))
    folder.symlink_to(outside)
    return content(outside)


@pytest.mark.parametrize("replaced", ["out", "out/below", "."])
def test_an_output_folder_that_is_replaced_while_it_is_watched(component: Path, tmp_path: Path, replaced: str) -> None:
    """The folder, or one above it."""
    place, outside = tmp_path / "place", tmp_path / "outside"
    (place / "out" / "below").mkdir(parents=True)
    (outside / "out" / "below").mkdir(parents=True)
    defaults = component / "class" / "defaults.yml"
    arguments = ["component", "compile", str(component), "-o", str(place / "out" / "below"), "--watch"]
    with watching(arguments, tmp_path) as program:
        program.until("Waiting for changes")
        before = replace_by_link(place / replaced, outside)
        defaults.write_text(defaults.read_text().replace("a: '1'", "a: '2'"))
        shown = program.until("Waiting for changes")
        assert any("CMD-WORK-007" in line for line in shown), shown
    assert content(outside) == before


def test_a_working_directory_that_is_replaced_while_it_is_watched(world: ClusterWorld, tmp_path: Path) -> None:
    assert world.compile().code == 0
    workspace, outside = Workspace.at(world.work), tmp_path / "outside"
    arguments = ["-d", str(workspace.root), "catalog", "compile", world.name, "--local", "--watch"]
    with watching(arguments, tmp_path, **world.environment) as program:
        program.until("Waiting for changes")
        main = workspace.component("c-good") / "component" / "main.jsonnet"
        text = main.read_text()
        before = replace_by_link(workspace.catalog, outside)
        main.write_text(text.replace("ConfigMap", "Secret"))
        shown = program.until("Waiting for changes")
        assert any("CMD-WORK-007" in line for line in shown), shown
    assert content(outside) == before


CHANGES: dict[str, Callable[[Path], object]] = {
    "write": lambda root: write_atomically(root / "file", b"x", root=root),
    "write below": lambda root: write_atomically(root / "a" / "b" / "file", b"x", root=root),
    "link": lambda root: link_relative(root / "link", root / "x", root=root),
    "folder": lambda root: make_folder(root / "folder", root=root),
    "move": lambda root: move_entry(root / "precious", root / "gone", root=root),
    "remove": lambda root: remove_tree(root / "compiled", root=root),
    "replace": lambda root: replace_tree(root / "new", root / "compiled", root=root),
    "exchange": lambda root: exchange_tree(root / "new", root / "compiled", root=root),
    "stage": lambda root: Workspace(root).staging("x").__enter__(),
    "discard": lambda root: Workspace(root).discard(root / "compiled"),
}


@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_a_root_that_was_replaced_since_it_was_resolved(tmp_path: Path, change: str, above: bool) -> None:
    root, outside = tmp_path / "one" / "root", tmp_path / "outside"
    (root / "new").mkdir(parents=True)
    if above:
        (outside / "root" / "new").mkdir(parents=True)
        (outside / "root" / "precious").write_text("mine")
        before = replace_by_link(root.parent, outside)
    else:
        before = replace_by_link(root, outside)
    with pytest.raises(PolicyError) as caught:
        CHANGES[change](root)
    assert caught.value.code == "CMD-WORK-007"
    assert content(outside) == before


def test_a_root_that_is_missing_behind_a_link(tmp_path: Path) -> None:
    """No folder is made where the link leads to."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "one").symlink_to(tmp_path / "outside")
    with pytest.raises(PolicyError) as caught:
        write_atomically(tmp_path / "one" / "root" / "file", b"x", root=tmp_path / "one" / "root")
    assert caught.value.code == "CMD-WORK-007"
    assert content(tmp_path / "outside") == {}
