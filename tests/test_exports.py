"""Each room says in `__all__` what others may use, and nothing else of it looks public."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import commodore

FLOORS = ("base", "core", "core.sources")
"""Folders of rooms, which export nothing themselves."""
BARE = ("base.files", "base.programs", "base.values", "cli", "core.render", "core.results")
"""Rooms whose modules are imported one by one."""


def packages(folder: str) -> list[str]:
    """The packages in a folder of the package, with dots."""
    place = Path(commodore.__path__[0]).joinpath(*folder.split("."))
    names = [module.name for module in pkgutil.iter_modules([str(place)]) if module.ispkg]
    return [f"{folder}.{name}" if folder else name for name in names]


FOLDERS = [name for floor in ("", *FLOORS) for name in packages(floor) if name not in FLOORS]
ROOMS = sorted(name for name in FOLDERS if name not in BARE)


def submodules(room: ModuleType) -> set[str]:
    return {module.name for module in pkgutil.iter_modules(room.__path__)}


@pytest.fixture(params=ROOMS)
def room(request: pytest.FixtureRequest) -> ModuleType:
    return importlib.import_module(f"commodore.{request.param}")


def test_rooms_were_found() -> None:
    assert {"catalog", "core.tools", "core.sources.git", "base.yaml"} <= set(ROOMS)
    assert set(BARE) <= set(FOLDERS)


@pytest.mark.tools
def test_exports_are_sorted_and_resolve(room: ModuleType) -> None:
    exported = room.__all__
    assert list(exported) == sorted(set(exported))
    missing = [name for name in exported if not hasattr(room, name)]
    assert missing == []


def test_nothing_else_looks_public(room: ModuleType) -> None:
    public = {name for name in vars(room) if not name.startswith("_")}
    leftovers = public - set(room.__all__) - submodules(room) - {"annotations", "TYPE_CHECKING", "lazy_exports"}
    assert leftovers == set()


def test_faces_hand_out_what_type_checkers_see(room: ModuleType) -> None:
    tree = ast.parse(Path(str(room.__file__)).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    places = {name.asname: node.module for node in imports for name in node.names if name.asname}
    if not hasattr(room, "__getattr__"):
        return
    assert "__getattr__" not in {ast.unparse(name) for node in tree.body for name in getattr(node, "targets", ())}, (
        "type checkers would take every name for one of the room: give it under `else:`"
    )
    assert room.__all__ == sorted(places)
    late = {name for name in places if name not in vars(room)}
    assert late, "nothing is loaded late: plain imports and `__all__` do"
    assert late & submodules(room) == set(), "a module that is loaded would hide them"
    assert [
        name for name in late if getattr(room, name) is not getattr(importlib.import_module(places[name] or ""), name)
    ] == []
    with pytest.raises(AttributeError, match=r"has no attribute 'unheard_of'"):
        _ = room.unheard_of


def test_the_package_is_the_face_of_the_library() -> None:
    assert list(commodore.__all__) == sorted(set(commodore.__all__))
    assert [name for name in commodore.__all__ if not hasattr(commodore, name)] == []
    assert commodore.__version__.count(".") == 2
