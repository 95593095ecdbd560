"""Errors of commands that work in throw-away folders name files that are there afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.authoring.places import restore_places, restored_places, with_restored_places
from commodore.base.errors import Findings, InputError, Location
from commodore.base.events import Event, Noted, Traced, Warned
from tests.world.context import make_context


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A throw-away folder with a link to the author's file, and the author's folder."""
    top = tmp_path.resolve()
    folder, own = top / "thrown", top / "own"
    (folder / "classes").mkdir(parents=True)
    own.mkdir()
    (own / "values.yml").write_text("")
    (folder / "classes" / "values.yml").symlink_to(own / "values.yml")
    return folder, own


def test_links_are_followed_and_fetched_files_get_relative_paths(folders: tuple[Path, Path]) -> None:
    folder, own = folders
    link, fetched = folder / "classes" / "values.yml", folder / "dependencies" / "c-one" / "main.jsonnet"
    message = f"'{link}' includes {fetched}:3, not {folder}-2/x"
    error = InputError(
        "CMD-INV-001", message, hint=f"see {link}", locations=[Location(str(link), 3, 4), Location(str(fetched)), "a.b"]
    )
    with pytest.raises(Findings) as caught, restored_places(folder):
        raise Findings([error])
    (told,) = caught.value.errors
    assert told.message == f"'{own}/values.yml' includes dependencies/c-one/main.jsonnet:3, not {folder}-2/x"
    assert told.hint == f"see {own}/values.yml"
    assert [str(location) for location in told.locations] == [
        f"{own}/values.yml:3:4",
        "dependencies/c-one/main.jsonnet",
        "a.b",
    ]


def test_copies_are_the_files_that_were_copied(folders: tuple[Path, Path]) -> None:
    folder, own = folders
    error = InputError("CMD-INV-001", f"{folder}/copy/own/x.yml: no", locations=[f"{folder}/copy/own/x.yml"])
    told = restore_places(error, folder, [(folder / "copy" / "own", own)])
    assert (told.message, str(told.locations[0])) == (f"{own}/x.yml: no", f"{own}/x.yml")


def test_events_name_files_that_are_there_afterwards(folders: tuple[Path, Path]) -> None:
    folder, own = folders
    collected: list[Event] = []
    other = folder.with_name("other")
    context = with_restored_places(
        make_context(announce=collected.append), [folder, other], [(folder / "copy" / "own", own)]
    )
    link = folder / "classes" / "values.yml"
    context.announce(Traced("app", f"{folder}/x", f"{folder}/copy/own/lib/a.libsonnet:3"))
    context.announce(Traced("app", "", f"{other}/dependencies/app/main.jsonnet:3"))
    context.announce(Warned("CMD-INV-043", f"{link} is empty", f"see {link}"))
    context.announce(Noted(f"{link} is new", level=1))
    assert collected == [
        Traced("app", f"{folder}/x", f"{own}/lib/a.libsonnet:3"),
        Traced("app", "", "dependencies/app/main.jsonnet:3"),
        Warned("CMD-INV-043", f"{own}/values.yml is empty", f"see {own}/values.yml"),
        Noted(f"{own}/values.yml is new", level=1),
    ]
