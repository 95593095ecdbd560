"""`applications`, merged through a real hierarchy: removals work in both orders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commodore.base.events import Warned
from commodore.core.inventory import render_inventory
from commodore.core.inventory.applications import merge_applications
from commodore.core.inventory.class_index import ClassFiles
from tests.core.inventory.hierarchies import Hierarchy
from tests.world.context import make_context
from tests.world.sampling import EXHAUSTIVE

pytestmark = pytest.mark.tools


def merged(root: Path, *lists: str, own: str = "") -> list[str]:
    """Classes c0, c1, … with these lists, and the target's own, rendered."""
    hierarchy = hierarchy_of(root, *lists, own=own)
    return sorted(hierarchy.render().applications)


def hierarchy_of(root: Path, *lists: str, own: str = "") -> Hierarchy:
    names = [f"c{number}" for number in range(len(lists))]
    return (
        Hierarchy(root)
        .target(f"classes: [{', '.join(names)}]\n" + (f"applications: {own}\n" if own else ""))
        .classes({f"{name}.yml": f"applications: {entries}" for name, entries in zip(names, lists, strict=True)})
    )


def warned(hierarchy: Hierarchy) -> list[str]:
    return [event.code for event in hierarchy.collected if isinstance(event, Warned)]


@pytest.mark.requirement("C5")
def test_lists_are_merged(tmp_path: Path) -> None:
    """The array merged by reclass, in order and each entry once."""
    node = hierarchy_of(tmp_path, "[b, a as x]", "[a, b]", own="[c]").render()
    assert node.applications == ("b", "a as x", "a", "c")


@pytest.mark.requirement("C6")
def test_a_removal_after_the_include(tmp_path: Path) -> None:
    """`~name` removes an entry included earlier."""
    assert merged(tmp_path, "[a, b]", "[~a]") == ["b"]


@pytest.mark.requirement("C7")
def test_a_removal_before_the_include(tmp_path: Path) -> None:
    """It has no effect, the later include wins; reclass-rs alone would swallow it."""
    hierarchy = hierarchy_of(tmp_path, "[~a]", "[a]")
    assert hierarchy.render().applications == ("a",)
    assert warned(hierarchy) == ["CMD-INV-007"]
    (warning,) = hierarchy.collected
    assert isinstance(warning, Warned)
    assert "'a' in `applications` comes after its removal '~a'" in warning.message


def test_a_removal_before_the_include_that_is_allowed(tmp_path: Path) -> None:
    """reclass-rs's own answer is used, as in the published tool; the hierarchy itself says so."""
    hierarchy = hierarchy_of(tmp_path, "[~a]", "[a, b]\nparameters: {commodore: {allow: [CMD-INV-007]}}")
    assert hierarchy.render().applications == ("b",)
    (warning,) = hierarchy.collected
    assert isinstance(warning, Warned)
    assert warning.code == "CMD-INV-007"
    assert "'a' in `applications` comes after its removal and is left out" in warning.message


@pytest.mark.requirement("C6", "C7")
@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        (["[a]", "[~a]", "[a]"], ["a"]),
        (["[a]", "[~a]", "[~a]", "[a]"], ["a"]),
        (["[~a, a]"], ["a"]),
        (["[a, ~a]"], []),
        (["[~a]", "[~a]", "[a]", "[~a]"], []),
        (["[a as x]", "[~a]"], ["a as x"]),
        (["[a as x]", "['~a as x']"], []),
        (["[pkg.p]", "[~pkg.p]"], []),
        (["['~nothing']", "[a]"], ["a"]),
        (["\n  - a  # why\n  # and\n\n  - 'b'\n  - \"~a\"\n"], ["b"]),
        (["\n- ~a\n- a as x\n- a\n"], ["a", "a as x"]),
    ],
)
def test_removals(tmp_path: Path, lists: list[str], expected: list[str]) -> None:
    """Whatever was included last counts."""
    assert merged(tmp_path, *lists) == expected


@pytest.mark.requirement("C6", "C7")
def test_the_targets_own_come_last(tmp_path: Path) -> None:
    assert merged(tmp_path / "1", "[a]", own="[~a]") == []
    assert merged(tmp_path / "2", "[~a]", own="[a]") == ["a"]


@pytest.mark.requirement("C6")
def test_the_order_is_that_of_merging(tmp_path: Path) -> None:
    """Reclass lists the classes in another order than it merges them: `e` comes after `a` here."""
    hierarchy = (
        Hierarchy(tmp_path)
        .target("classes: [a, b]\n")
        .classes(
            {
                "a.yml": "applications: [x, y]",
                "b.yml": "classes: [e]\napplications: [~y]",
                "e.yml": "applications: [~x]",
            }
        )
    )
    node = hierarchy.render()
    assert node.classes.index("e") < node.classes.index("a")
    assert node.applications == ()
    assert warned(hierarchy) == []


@pytest.mark.requirement("C5", "C6", "C7")
def test_classes_with_references(tmp_path: Path) -> None:
    """Nothing of `cloud.${facts:cloud}` is lost because something else is removed."""
    hierarchy = (
        Hierarchy(tmp_path)
        .target("classes: [params.cluster, global.commodore]\n")
        .classes(
            {
                "params/cluster.yml": "parameters:\n  facts:\n    cloud: c1\n    n: 3\n",
                "global/commodore.yml": "classes:\n  - .cloud.${facts:cloud}\n  - .n${facts:n}\n"
                "  - .${facts:cloud}.${no:such::zone}\napplications: [base, ~unwanted]\n",
                "global/cloud/c1.yml": "applications: [csi, unwanted]",
                "global/n3.yml": "applications: [three]",
                "global/c1/zone.yml": "applications: [zone]",
            }
        )
    )
    assert sorted(hierarchy.render().applications) == ["base", "csi", "three", "zone"]
    assert warned(hierarchy) == []


def test_a_reference_means_what_is_known_so_far(tmp_path: Path) -> None:
    """References in `classes` see what was merged before; the same entry can mean two classes."""
    hierarchy = (
        Hierarchy(tmp_path)
        .target("classes: [p, a, b]\n")
        .classes(
            {
                "p.yml": "parameters: {f: {c: y}}",
                "a.yml": "classes: ['x.${f:c}']\nparameters: {f: {~c: z}}",
                "b.yml": "classes: ['x.${f:c}']\napplications: [~one]",
                "x/y.yml": "applications: [one, two]",
                "x/z.yml": "applications: [three]",
            }
        )
    )
    assert sorted(hierarchy.render().applications) == ["three", "two"]
    assert warned(hierarchy) == []


def test_what_cannot_be_told_is_left_to_reclass(tmp_path: Path) -> None:
    """If the lists explain reclass's answer not, they are not the lists that it saw: its answer stands."""
    collected: list[object] = []
    assert merge_applications([["a"], ["~a"]], ("b",), make_context(announce=collected.append)) == ("b",)
    (warning,) = collected
    assert isinstance(warning, Warned)
    assert warning.code == "CMD-INV-016"


@pytest.mark.requirement("C7")
def test_every_target_of_an_inventory(tmp_path: Path) -> None:
    """The same for the view that filters are given, too."""
    hierarchy = hierarchy_of(tmp_path, "[~a]", "[a]")
    node = render_inventory(hierarchy.workspace.inventory, make_context()).nodes["cluster"]
    assert node.applications == ("a",)
    assert node.raw["applications"] == ["a"]


ENTRIES = st.lists(st.sampled_from(["a", "b", "~a", "~b"]), max_size=4)


@pytest.mark.requirement("C6", "C7")
@settings(max_examples=50 if EXHAUSTIVE else 15)
@given(st.lists(ENTRIES, min_size=1, max_size=4))
def test_any_lists(tmp_path_factory: pytest.TempPathFactory, lists: Sequence[Sequence[str]]) -> None:
    """An entry is included exactly if its last mention includes it, whatever reclass-rs makes of it."""
    hierarchy = hierarchy_of(tmp_path_factory.mktemp("h"), *(f"[{', '.join(entries)}]" for entries in lists))
    mentions = {entry.removeprefix("~"): not entry.startswith("~") for entries in lists for entry in entries}
    assert set(hierarchy.render().applications) == {name for name, included in mentions.items() if included}
    assert "CMD-INV-016" not in warned(hierarchy)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", ()),
        ("classes:", ()),
        ("classes: []", ()),
        ("classes:\n- a\n- 'b'\n- \"c\"\nparameters: {}\n", ("a", "b", "c")),
        ("classes:\n    -   a  # x\n# y\n\n    - b#c\n", ("a", "b#c")),
        ("'classes': [a]", ("a",)),
        ("{classes: [a, 3, null, {b: c}]}", ("a",)),
        ("x: &x [a]\nclasses: *x", ("a",)),
        ("parameters:\n  classes:\n  - no\n", ()),
        ("classes: [a\n", ()),
        ("classes: a", ()),
        ("- classes", ()),
        ("classes:\r\n- a\r\n- b\r\nx: 1\r\n", ("a", "b")),
        ("\ufeffclasses:\n- a\n", ("a",)),
    ],
)
def test_sections_of_class_files(tmp_path: Path, content: str, expected: tuple[str, ...]) -> None:
    """The quick reader of `classes` and `applications` sees what a YAML reader sees."""
    (tmp_path / "file.yml").write_bytes(content.encode())
    assert ClassFiles(tmp_path, {}).section(tmp_path / "file.yml", "classes") == expected
