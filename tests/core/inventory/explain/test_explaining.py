"""Chains: who sets a parameter, what each place does to it, what is left in the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.documents import plain
from commodore.base.errors import InputError
from commodore.base.limits import Limits
from commodore.core.inventory import look_up
from commodore.core.inventory.explain import Explaining, explain_parameter, target_of
from commodore.core.inventory.explain._nodes import MapEntry, MapNode, Place, Scalar
from commodore.core.inventory.explain.model import agrees, replay
from tests.core.inventory.explain.hierarchies import Hierarchy, summary, write
from tests.world.context import make_context

pytestmark = pytest.mark.tools


def test_the_last_scalar_wins(tmp_path: Path) -> None:
    explanation = Hierarchy(tmp_path, "a:\n  b: 1", "a:\n  c: 1", "a:\n  c: 0\n  b: 2").explain("a.b")
    assert summary(explanation) == ["c0:3 b sets -", "c2:4 b replaces wins"]
    assert (explanation.value, replay(explanation)) == (2, 2)
    assert explanation.chain[0].source.file == tmp_path / "classes" / "c0.yml"
    assert explanation.chain[0].source.column == 5
    assert explanation.chain[0].value == 1


def test_maps_merge_and_each_key_has_its_place(tmp_path: Path) -> None:
    explanation = Hierarchy(tmp_path, "a: {b: 1, c: 1}", "a:\n  c: 2\n  d: 3").explain("a")
    assert summary(explanation) == ["c0:2 a sets counts", "c1:2 a merges counts"]
    parts = [(part.key, part.source.name, part.source.line, part.places) for part in explanation.parts]
    assert parts == [("b", "c0", 2, 1), ("c", "c1", 3, 2), ("d", "c1", 4, 1)]


def test_lists_append_and_each_item_has_its_place(tmp_path: Path) -> None:
    hierarchy = Hierarchy(tmp_path, "l: [1]", "l:\n  - 2\n  - x: 3")
    explanation = hierarchy.explain("l")
    assert summary(explanation) == ["c0:2 l sets counts", "c1:2 l appends counts"]
    assert [(part.key, part.source.name, part.source.line) for part in explanation.parts] == [
        (0, "c0", 2),
        (1, "c1", 3),
        (2, "c1", 4),
    ]
    assert hierarchy.summary("l[1]") == ["c1:3 0 sets wins"]
    assert hierarchy.summary("l[2].x") == ["c1:4 x sets wins"]


def test_a_tilde_discards_what_was_before(tmp_path: Path) -> None:
    hierarchy = Hierarchy(tmp_path, "m: {l: [1], k: 1}", "m: {~l: [2]}", "m: {l: [3]}", "~m: {n: 1}")
    assert hierarchy.summary("m") == ["c0:2 m sets -", "c1:2 m merges -", "c2:2 m merges -", "c3:2 ~m replaces wins"]
    hierarchy = Hierarchy(tmp_path, "m: {l: [1], k: 1}", "m: {~l: [2]}", "m: {l: [3]}")
    explanation = hierarchy.explain("m.l")
    assert summary(explanation) == ["c0:2 l sets -", "c1:2 ~l replaces counts", "c2:2 l appends counts"]
    assert [contribution.overwrites for contribution in explanation.chain] == [False, True, False]


def test_a_constant_is_marked(tmp_path: Path) -> None:
    explanation = Hierarchy(tmp_path, "m: {k: 1}", "m: {=k: 2}").explain("m.k")
    assert summary(explanation) == ["c0:2 k sets -", "c1:2 =k replaces wins"]
    assert [contribution.constant for contribution in explanation.chain] == [False, True]


def test_a_map_above_that_begins_anew(tmp_path: Path) -> None:
    """Null, or `~`, for the whole map takes away what was in it."""
    hierarchy = Hierarchy(tmp_path, "a: {b: 1}", "a: null", "a: {b: 2}")
    assert hierarchy.summary("a.b") == ["c0:2 b sets -", "c1:2 a removes -", "c2:2 b sets wins"]
    hierarchy = Hierarchy(tmp_path, "a: {b: {c: 1}}", "~a: {b: {d: 2}}")
    assert hierarchy.summary("a.b.d") == ["c1:2 d sets wins"]
    assert hierarchy.summary("a.b") == ["c0:2 b sets -", "c1:2 b replaces wins"]


def test_what_was_taken_away_is_told(tmp_path: Path) -> None:
    hierarchy = Hierarchy(tmp_path, "a: {b: 1, c: 1}", "~a: {c: 2}")
    explanation = hierarchy.explain("a.b")
    assert summary(explanation) == ["c0:2 b sets -", "c1:2 ~a removes counts"]
    assert (explanation.is_set, explanation.complete) == (False, True)


def test_a_reference_is_followed(tmp_path: Path) -> None:
    explanation = Hierarchy(tmp_path, "a: 'x${b:c}'\nb:\n  c: 1", "b: {c: 2}").explain("a")
    (reference,) = explanation.chain[0].references
    assert (reference.written, reference.path, reference.outcome) == ("${b:c}", ("b", "c"), "followed")
    assert reference.explanation is not None
    assert summary(reference.explanation) == ["c0:4 c sets -", "c1:2 c replaces wins"]
    assert explanation.value == "x2"


def test_a_reference_to_a_map_is_followed_into_it(tmp_path: Path) -> None:
    """The value of `a.k` comes through `a: ${x}` from `x.k`; `~` in there counts for `a` too."""
    hierarchy = Hierarchy(tmp_path, "a: {k: [1]}", "a: '${x}'\nx: {~k: [2]}", "x: {k: [3]}", "a: {k: [4]}")
    explanation = hierarchy.explain("a.k")
    assert summary(explanation) == ["c0:2 k sets -", "c1:2 a replaces counts", "c3:2 k appends counts"]
    through = explanation.chain[1]
    assert (through.path, through.value, through.resolved, through.overwrites) == (("a",), "${x}", [2, 3], True)
    (reference,) = through.references
    assert (reference.written, reference.path) == ("${x}", ("x", "k"))
    assert reference.explanation is not None
    assert summary(reference.explanation) == ["c1:3 ~k sets counts", "c2:2 k appends counts"]
    places = [(part.source.name, part.through) for part in explanation.parts]
    assert places == [("c1", "${x}"), ("c2", "${x}"), ("c3", "")]


def test_nested_references_and_defaults(tmp_path: Path) -> None:
    hierarchy = Hierarchy(tmp_path, "a: '${m:${k}}'\nk: x\nm: {x: 1}\nd: '${no:such::[5]}'\ne: '${no:such::${k}}'")
    outcomes = [
        (reference.written, reference.path, reference.outcome)
        for reference in hierarchy.explain("a").chain[0].references
    ]
    assert outcomes == [("${m:${k}}", ("m", "x"), "followed"), ("${k}", ("k",), "followed")]
    explanation = hierarchy.explain("d")
    assert [reference.outcome for reference in explanation.chain[0].references] == ["default"]
    assert explanation.value == replay(explanation) == [5]
    assert hierarchy.explain("e").value == "x"
    assert hierarchy.summary("d[0]") == ["c0:5 0 sets wins"]


def test_each_parameter_is_explained_once(tmp_path: Path) -> None:
    explanation = Hierarchy(tmp_path, "a: ['${b}', '${c}']\nb: '${c}'\nc: 1").explain("a")
    assert [(reference.path, reference.outcome) for reference in explanation.chain[0].references] == [
        (("b",), "followed"),
        (("c",), "repeated"),
    ]
    assert [reference.path for reference in explanation.everything()] == [("a",), ("b",), ("c",)]


def test_references_are_followed_within_limits(tmp_path: Path) -> None:
    chain = "\n".join(f"r{number}: '${{r{number + 1}}}'" for number in range(6)) + "\nr6: 1"
    hierarchy = Hierarchy(tmp_path, chain, "many: ['${r0}', '${r1}', '${r2}']")
    few = explain_parameter(hierarchy.preview, ("r0",), make_context(limits=Limits(explain_depth=2)))
    assert [reference.path for reference in few.everything()] == [("r0",), ("r1",), ("r2",)]
    *_, last = few.everything()
    assert [reference.outcome for reference in last.chain[0].references] == ["deep"]
    few = explain_parameter(
        hierarchy.preview, ("many",), make_context(limits=Limits(explain_depth=1, explain_references=2))
    )
    assert [reference.outcome for reference in few.chain[0].references] == ["followed", "followed", "many"]


def test_missing_references_that_are_overwritten(tmp_path: Path) -> None:
    """reclass-rs lets them be; so the chain names them, and what counts is explained."""
    hierarchy = Hierarchy(tmp_path, "a: '${no:such}'\nm: {b: 'x${no:such}', c: 1}", "a: 2\nm: {b: 3}")
    explanation = hierarchy.explain("a")
    assert summary(explanation) == ["c0:2 a sets -", "c1:2 a replaces wins"]
    assert [reference.outcome for reference in explanation.chain[0].references] == ["overwritten"]
    explanation = hierarchy.explain("m")
    assert explanation.complete
    assert explanation.value == {"b": 3, "c": 1}


def test_keys_of_other_types(tmp_path: Path) -> None:
    hierarchy = Hierarchy(tmp_path, "a: {2: x, true: {y: 1}}", "a: {2: z}")
    assert hierarchy.summary("a.2") == ["c0:2 2 sets -", "c1:2 2 replaces wins"]
    assert hierarchy.summary("a.true.y") == ["c0:2 y sets wins"]


def test_anchors_and_merge_keys(tmp_path: Path) -> None:
    hierarchy = Hierarchy(tmp_path, "base: &base\n  a: 1\n  b: 1\nm:\n  <<: *base\n  b: 2")
    assert hierarchy.summary("m.a") == ["c0:3 a sets wins"]
    assert hierarchy.summary("m.b") == ["c0:7 b sets wins"]


class Counted(tuple[MapEntry, ...]):
    """Entries that count how often somebody goes through them."""

    walks = 0

    def __iter__(self) -> Iterator[MapEntry]:
        type(self).walks += 1
        return super().__iter__()


def test_a_large_map_is_not_searched_for_each_of_its_keys() -> None:
    place = Place(1, 1)
    keys = [1, True, *map(str, range(50))]
    node = MapNode(Counted(MapEntry(key, key, Scalar(key, place), place) for key in [*keys, "49"]), place)
    assert [[entry.key for entry in node.at(key)] for key in keys] == [*([key] for key in keys[:-1]), ["49", "49"]]
    assert list(node.at("50")) == []
    assert Counted.walks == 1


def test_what_is_generated_is_called_so(tmp_path: Path) -> None:
    hierarchy = Hierarchy(tmp_path, "a: '${_instance}-${_reclass_:name:short}'", target="{_instance: i}")
    explanation = hierarchy.explain("a")
    texts = [
        reference.explanation.chain[0].source.generated
        for reference in explanation.chain[0].references
        if reference.explanation
    ]
    assert texts == ["written by commodore for target 't'", "added by reclass-rs for every target"]
    assert (explanation.value, replay(explanation)) == ("i-t", "i-t")


def test_nobody_sets_it(tmp_path: Path) -> None:
    hierarchy = Hierarchy(tmp_path, "alpha: {beta: 1}")
    with pytest.raises(InputError) as caught:
        hierarchy.explain("alpha.bet")
    assert caught.value.code == "CMD-INV-041"
    assert caught.value.hint == "did you mean 'beta'?"
    with pytest.raises(InputError, match="alpha"):
        look_up(hierarchy.explaining.parameters, ("alpha", "bet"))


def test_an_explanation_that_is_not_understood_says_so(tmp_path: Path) -> None:
    """The self check: here the rendered value is another one than the chain gives."""
    explaining = replace(Hierarchy(tmp_path, "a: 2\nb: '${a}'").explaining, parameters={"a": 1, "b": 2})
    explanation = explaining.explain(("a",))
    assert (explanation.value, replay(explanation), explanation.complete, agrees(explanation)) == (1, 2, False, False)
    assert [part.complete for part in explaining.explain(("b",)).everything()] == [True, False]


def test_the_target_is_the_instances(tmp_path: Path) -> None:
    targets = ["cluster", "nfs", "nfs-archive"]
    assert target_of(("nfs_archive", "x"), targets) == "nfs-archive"
    assert target_of(("nfs",), targets) == "nfs"
    assert target_of(("facts", "cloud"), targets) == "cluster"
    assert target_of(("cluster", "name"), targets) == "cluster"


def test_as_data(tmp_path: Path) -> None:
    data = plain(Hierarchy(tmp_path, "a: {b: '${c}'}\nc: 1", "a: {~b: 2}").explain("a.b"))
    assert (data["path"], data["target"], data["is_set"]) == ("a.b", "t", True)
    assert (data["value"], data["complete"]) == (2, True)
    first, second = data["chain"]
    assert first["references"] == [{"written": "${c}", "path": "c", "outcome": "overwritten", "explanation": None}]
    assert {key: second[key] for key in ("path", "key", "overwrites", "value", "effect", "wins")} == {
        "path": "a.b",
        "key": "~b",
        "overwrites": True,
        "value": 2,
        "effect": "replaces",
        "wins": True,
    }
    assert second["source"] == {
        "name": "c1",
        "file": str(tmp_path / "classes" / "c1.yml"),
        "line": 2,
        "column": second["source"]["column"],
        "generated": "",
        "origin": None,
    }


@pytest.mark.parametrize(
    ("first", "entry", "included"),
    [
        ("x: {k: one}\na: '${x}'", "${a:k}", "one"),
        ("a: '${b}e'\nb: on", "${a}", "one"),
        ("~a: {k: two}", "${a:k}", "two"),
        ("a: {k: one}", "${b:k::two}", "two"),
        ("n: w", "t${n}o", "two"),
        ("a: 1", "target-${_reclass_:name:short}", "target-t"),
    ],
)
def test_classes_that_are_included_by_reference(first: str, entry: str, included: str, tmp_path: Path) -> None:
    """They are looked up as reclass-rs does, so that the merge order is right."""
    preview = write(tmp_path, [first, "v: last"])
    classes = tmp_path / "classes"
    for name in ("one", "two", "target-t"):
        (classes / f"{name}.yml").write_text(f"parameters: {{v: {name}, ref: {name}}}\n")
    (classes / "c1.yml").write_text(f"classes: ['{entry}']\nparameters:\n  v: last\n")
    explaining = Explaining.of(preview, make_context())
    assert explaining.parameters["ref"] == included
    explanation = explaining.explain(("v",))
    assert summary(explanation) == [f"{included}:1 v sets -", "c1:3 v replaces wins"]
    assert explanation.complete
