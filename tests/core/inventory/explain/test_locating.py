"""Errors about the hierarchy, with the files and lines of the settings."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError, Findings, InputError, Location, Setting
from commodore.core.inventory.explain import locate_settings
from tests.core.inventory.explain.hierarchies import write
from tests.world.context import make_context

NFS = """
components:
  nfs:
    url: https://git.example.com/nfs
    version: v1
"""


def located(inventory: Path, *locations: Location | str) -> list[str]:
    """The places of an error, relative to the classes."""
    error = InputError("CMD-DEP-013", "message", hint="hint", locations=locations)
    explanation = locate_settings(error, inventory, make_context())
    assert (explanation.code, explanation.message, explanation.hint) == ("CMD-DEP-013", "message", "hint")
    return [str(place).removeprefix(f"{inventory}/classes/") for place in explanation.locations]


def field(*path: object, target: str = "t") -> Setting:
    return Setting(".".join(map(str, path)), path=path, target=target)


def test_the_class_that_counts_is_named(tmp_path: Path) -> None:
    write(tmp_path, [NFS, "components: {nfs: {version: v2}}"])
    assert located(tmp_path, field("components", "nfs", "version"), "elsewhere") == ["c1.yml:2:22", "elsewhere"]
    assert located(tmp_path, "elsewhere", field("components", "nfs", "url"), "last") == [
        "elsewhere",
        "c0.yml:4:7",
        "last",
    ]


def test_the_value_comes_before_the_reference_that_leads_to_it(tmp_path: Path) -> None:
    write(tmp_path, ["components: {nfs: {version: '${versions:nfs}'}}", "versions: {nfs: v9}"])
    assert located(tmp_path, field("components", "nfs", "version")) == ["c1.yml:2:14", "c0.yml:2:22"]


def test_an_item_of_a_list_and_a_key_with_a_dot(tmp_path: Path) -> None:
    write(tmp_path, ["a.b:\n  list:\n    - one", "a.b:\n  list:\n    - two\n    - three"])
    assert located(tmp_path, field("a.b", "list", 2)) == ["c1.yml:5:9"]


def test_an_instance_without_an_entry_has_its_components(tmp_path: Path) -> None:
    write(tmp_path, [NFS])
    settings = [field("components", name, "version") for name in ("nfs-archive", "nfs")]
    assert located(tmp_path, *settings) == ["c0.yml:5:7"]


def test_a_field_that_is_missing_is_looked_for_in_its_entry(tmp_path: Path) -> None:
    write(tmp_path, [NFS])
    assert located(tmp_path, field("components", "nfs", "path")) == ["c0.yml:3:5"]


@pytest.mark.parametrize("setting", [field("components", "smb"), field("nix"), Setting("applications: x", entry="x")])
def test_what_nothing_sets_stays_as_it_is_named(tmp_path: Path, setting: Setting) -> None:
    write(tmp_path, [NFS])
    assert located(tmp_path, dataclasses.replace(setting, target="t")) == [setting.place]


@pytest.mark.parametrize(
    ("written", "entry", "line"),
    [
        ("- nfs as a\n- nfs", "nfs", 3),
        ("- nfs as a # both\n- nfs", "nfs as a", 2),
        ("- nfs  as a", "nfs as a", 2),
        ("- nfs as a", "nfs", 2),
        ("- 'a as nfs'\n- \"nfs\"", "nfs", 3),
        ("- ~nfs\n- pkg.nfs\n- nfs", "nfs", 4),
        ("[\n  one,\n  nfs]", "nfs", 4),
    ],
)
def test_entries_of_applications(tmp_path: Path, written: str, entry: str, line: int) -> None:
    write(tmp_path, ["a: nfs"])
    (tmp_path / "classes" / "c0.yml").write_text(f"applications:{' ' if written[0] == '[' else chr(10)}{written}\n")
    expected = line - 1 if written[0] == "[" else line
    assert located(tmp_path, Setting("x", entry=entry, target="t")) == [f"c0.yml:{expected}"]


def test_a_hierarchy_that_cannot_be_read_does_not_hide_the_error(tmp_path: Path) -> None:
    write(tmp_path, [NFS])
    assert located(tmp_path, field("components", "nfs", target="nix")) == ["components.nfs"]
    (tmp_path / "classes" / "c0.yml").write_text("classes: [c0]\n")
    assert located(tmp_path, field("components", "nfs")) == ["components.nfs"]
    write(tmp_path, ["a: ${b}\nb: ${a}"])
    assert located(tmp_path, field("a", "b")) == ["a.b"]


def test_each_of_several_errors(tmp_path: Path) -> None:
    write(tmp_path, [NFS])
    errors = [InputError("CMD-DEP-013", key, locations=[field("components", "nfs", key)]) for key in ("url", "version")]
    explanation: CommodoreError = locate_settings(Findings(errors), tmp_path, make_context())
    assert isinstance(explanation, Findings)
    assert [cause.locations[0].line for cause in explanation.errors] == [4, 5]
