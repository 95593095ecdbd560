"""Classes that are put together for rendering give what they give one by one."""

from __future__ import annotations

import contextlib
import marshal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commodore.base import documents
from commodore.base.errors import CommodoreError
from commodore.base.events import Event
from commodore.core.inventory import render_inventory
from commodore.core.inventory._class_bundling import BundledHierarchy, bundle_classes, read_part
from commodore.core.inventory.class_index import ClassFiles
from tests.core.inventory.hierarchies import Hierarchy
from tests.world.context import make_context
from tests.world.folders import write_files
from tests.world.sampling import EXHAUSTIVE

pytestmark = pytest.mark.tools

ALWAYS, NEVER = 0, 10**9
OTHERS = {
    "params/cluster.yml": "parameters: {cluster: {name: c}, k0: {early: 1}}\n",
    "global/commodore.yml": "classes: [global.more]\nparameters: {k1: {late: '${cluster:name}'}}\n",
    "global/more.yml": "applications: [a]\nparameters: {z: 1}\n",
    "components/x.yml": "parameters: {own: '${_instance}'}\n",
}


@contextlib.contextmanager
def worth_it(least: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("commodore.core.inventory._class_bundling._WORTH_IT", least)
        yield


def cluster(
    root: Path, defaults: Mapping[str, str | bytes], others: Mapping[str, str] = OTHERS, aliases: Sequence[str] = ()
) -> Hierarchy:
    """A hierarchy with a target for the cluster, one for each component, and one for an alias of some of them."""
    hierarchy = Hierarchy(root).target("")
    files = {**others, **{f"defaults/{name}.yml": content for name, content in defaults.items()}}
    write_files(hierarchy.workspace.classes, files)
    components = [name for name in sorted(defaults) if not name.endswith("-alias")]
    for target in ("cluster", *components, *(f"{name}-alias" for name in aliases)):
        own = [target if target == f"{name}-alias" else name for name in components]
        listed = ["params.cluster", *(f"defaults.{name}" for name in own), "global.commodore", "components.x"]
        text = "classes:\n" + "".join(f"  - {name}\n" for name in listed) + f"parameters:\n  _instance: {target}\n"
        hierarchy.workspace.target(target).write_text(text)
    return hierarchy


def outcome(hierarchy: Hierarchy, least: int) -> tuple[object, list[Event]]:
    """All nodes with everything but the time, to the byte; or the error."""
    collected: list[Event] = []
    with worth_it(least):
        try:
            nodes = render_inventory(hierarchy.workspace.inventory, make_context(announce=collected.append)).nodes
        except CommodoreError as error:
            return documents.plain(error), collected
    for node in nodes.values():
        node.raw["__reclass__"]["timestamp"] = ""
    return {name: marshal.dumps([node.applications, dict(node.raw)], 2) for name, node in nodes.items()}, collected


@contextlib.contextmanager
def copied(hierarchy: Hierarchy) -> Iterator[BundledHierarchy | None]:
    import reclass_rs

    inventory = hierarchy.workspace.inventory
    reclass: Any = reclass_rs.Reclass(
        str(inventory), str(hierarchy.workspace.targets), str(hierarchy.workspace.classes)
    )
    files = ClassFiles.of_reclass(inventory, reclass.classes)
    with worth_it(ALWAYS), bundle_classes(inventory, reclass.nodes, files.paths) as copy:
        yield copy


HEADS = [
    "parameters:\n",
    "# about\n\nparameters: # here\n\n  # more\n",
    "---\nparameters:\n",
    "%YAML 1.1\n---\nparameters:\n",
    "\ufeffparameters:\n",
    "# x\n\ufeff\nparameters:\n",
    '"parameters":\n',
    "? parameters\n:\n",
    "parameters: &all\n",
    "parameters: !!map\n",
    "parameters: {}\n",
    "parameters: {\n",
    "applications: [b]\nparameters:\n",
    "classes: [global.more]\nparameters:\n",
    "parameters:\nparameters:\n",
    "environment: x\nparameters:\n",
    "",
]
KEYS = ["k{n}", "k0", "k1", "~k1", "=k{n}", "ü{n}", "'k{n}'", "k {n}", "1", "true", "null", "<<", "? k{n}\n ", "${{z}}"]
VALUES = [
    " 1",
    "",
    " {a: '${cluster:name}'}",
    " '${_instance}'",
    "\n    a: 1\n    ~b: [1]\n    =c: x",
    "\n    - 1\n    - a: b\n\n      c: d",
    "\n  - 1\n  - 2",
    " |\n    text\n      deeper\n\n    # no comment",
    " |+\n    kept\n\n",
    " |-\n     stripped\n",
    " >2\n      folded\n    more\n",
    " |\n    last\n  # comment\n    # comment",
    " plain\n    over lines\n\n    # and a comment",
    ' "quoted\n\n  over \\\n    lines: # no comment"',
    " 'it''s\n  two'",
    " {a: [1,\n 2], # comment\n  b: {c: d}}",
    "\n    <<: {a: 1}\n    b: 2",
    "\t# a tab\n    a:\t1",
    " \u00e4\U0001f600",
    " 0x1f",
]
ODD_VALUES = [
    " &x {a: 1}\n  k{n}b: *x",
    " {a: &y 1, b: *y}",
    " *nobody",
    " !tag x",
    " ? {a: 1}",
    "\n\ta: 1",
    " a\u2028b",
    " 'a\u0085  k{n}c: b'",
    " 340282366920938463463374607431768211456",
    " ${missing}",
    " @at",
]
TAILS = [
    "\n",
    "",
    "\n\n\n",
    "\n...\n",
    "\n---\n",
    "\n---\na: 1\n",
    "\n# end\n",
    "\n      # deep\n",
    "\n  ",
    "\nexports: {}\n",
]
GOOD_TAILS = ["\n", "\n\n\n", "\n# end\n", "\n      # deep\n", "\n  # x\n"]
SELDOM = 25
EXAMPLES = 50 if EXHAUSTIVE else 15  # each renders a hierarchy twice


def mostly(draw: st.DrawFn, usual: Sequence[str], others: Sequence[str]) -> str:
    return draw(st.sampled_from(usual if draw(st.integers(1, SELDOM)) < SELDOM else others))


@st.composite
def class_file(draw: st.DrawFn, number: int) -> bytes:
    text = mostly(draw, HEADS[:3], HEADS)
    for place in range(draw(st.integers(0, 3))):
        key, value = mostly(draw, KEYS[:1], KEYS), mostly(draw, VALUES, ODD_VALUES)
        name = f"{number}{'abc'[place]}"
        text += f"  {key.replace('{n}', name)}:{value.replace('{n}', name)}\n"
    text = text.removesuffix("\n") + mostly(draw, GOOD_TAILS, TAILS)
    text = text.replace("\n  ", "\n    ") if draw(st.integers(1, SELDOM)) == SELDOM else text
    return (text.replace("\n", "\r\n") if draw(st.integers(1, SELDOM)) == SELDOM else text).encode()


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_any_classes(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Values, their types and order, classes, applications; errors with their places; what is said meanwhile."""
    count = data.draw(st.integers(2, 5))
    defaults = {f"c{number}": data.draw(class_file(number)) for number in range(count)}
    alias = data.draw(st.sampled_from(sorted(defaults)))
    defaults[f"{alias}-alias"] = data.draw(class_file(int(alias[1:])))
    hierarchy = cluster(tmp_path_factory.mktemp("cluster"), defaults, aliases=[alias])
    assert outcome(hierarchy, ALWAYS) == outcome(hierarchy, NEVER)


@settings(max_examples=EXAMPLES)
@given(
    value=st.sampled_from(VALUES + ODD_VALUES), tail=st.sampled_from(TAILS + GOOD_TAILS), after=st.sampled_from(VALUES)
)
def test_texts_one_after_another(tmp_path_factory: pytest.TempPathFactory, value: str, tail: str, after: str) -> None:
    """The end of a file does not absorb the content of the next one."""
    first, second = (f"parameters:\n  a{n}:{text.replace('{n}', n)}{tail}" for n, text in (("1", value), ("2", after)))
    hierarchy = cluster(
        tmp_path_factory.mktemp("cluster"), {"a": first, "b": second, "c": "parameters:\n  # x\n  c: 1\n"}
    )
    assert outcome(hierarchy, ALWAYS) == outcome(hierarchy, NEVER)


def plain(number: int) -> str:
    return f"parameters:\n  k{number:02}:\n    who: ${{_instance}}\n    list: [{number}]\n"


class TestPlan:
    def test_one_class_in_place_of_many(self, tmp_path: Path) -> None:
        with copied(cluster(tmp_path, {f"c{number:02}": plain(number) for number in range(20)})) as copy:
            assert copy is not None
            assert list(map(len, copy.members.values())) == [20]

    def test_aliases(self, tmp_path: Path) -> None:
        """Each has its own defaults at the place of its component's. Few classes serve all of them."""
        defaults = {f"c{number:02}": plain(number) for number in range(33)}
        aliases = ["c00", "c07", "c16", "c31", "c32"]
        defaults |= {f"{name}-alias": plain(int(name[1:])).replace("[", "[a, ") for name in aliases}
        hierarchy = cluster(tmp_path, defaults, aliases=aliases)
        assert outcome(hierarchy, ALWAYS) == outcome(hierarchy, NEVER)
        with copied(hierarchy) as copy:
            assert copy is not None
            for name in aliases:
                text = (copy.targets / f"{name}-alias.yml").read_text()
                assert text.count("  - _together.") <= 10
                assert f"  - defaults.{name}-alias\n" in text
            assert len(copy.members) < 25

    def test_classes_that_have_the_same_key_are_left_alone(self, tmp_path: Path) -> None:
        defaults = {f"c{number}": plain(number) for number in range(6)}
        defaults["c2"] += "  k04: {more: 1}\n"
        hierarchy = cluster(tmp_path, defaults)
        assert outcome(hierarchy, ALWAYS) == outcome(hierarchy, NEVER)
        with copied(hierarchy) as copy:
            assert copy is not None
            assert sorted(copy.members.values()) == [
                ("defaults.c0", "defaults.c1"),
                ("defaults.c3",),
                ("defaults.c5",),
            ]

    def test_a_class_that_is_included_in_another_way(self, tmp_path: Path) -> None:
        """It is merged where it comes first, and once."""
        for number, text in enumerate(
            ["classes: [defaults.c1]\n", "classes: [..defaults.c1]\n", "classes: ['defaults.${which}']\n"]
        ):
            others = {**OTHERS, "params/cluster.yml": f"{text}parameters: {{which: c1, cluster: {{name: c}}}}\n"}
            others |= {"params/early.yml": "parameters: {which: c1}\n"}
            hierarchy = cluster(tmp_path / str(number), {f"c{index}": plain(index) for index in range(4)}, others)
            assert outcome(hierarchy, ALWAYS) == outcome(hierarchy, NEVER)

    def test_a_target_that_is_written_in_another_way(self, tmp_path: Path) -> None:
        hierarchy = cluster(tmp_path, {f"c{number}": plain(number) for number in range(4)})
        target = hierarchy.workspace.target("c2")
        for text in (
            "classes: [defaults.c1, defaults.c0]\nparameters: {_instance: c2, cluster: {name: c}}\n",
            target.read_text().replace("- defaults.c1", "-  defaults.c1"),
            target.read_text().replace("  - defaults.c1", "  # one\n  - 'defaults.c1'"),
            target.read_text() + "classes: [x]\n",
        ):
            target.write_text(text)
            assert outcome(hierarchy, ALWAYS) == outcome(hierarchy, NEVER)

    def test_nothing_to_put_together(self, tmp_path: Path) -> None:
        hierarchy = Hierarchy(tmp_path).target("classes: [a]").classes({"a.yml": "parameters: {x: 1}"})
        assert outcome(hierarchy, ALWAYS) == outcome(hierarchy, NEVER)
        with copied(hierarchy) as copy:
            assert copy is None

    def test_somebody_has_a_class_folder_of_that_name(self, tmp_path: Path) -> None:
        hierarchy = cluster(tmp_path, {f"c{number}": plain(number) for number in range(4)})
        (hierarchy.workspace.classes / "_together").mkdir()
        with copied(hierarchy) as copy:
            assert copy is None

    def test_warnings_are_told_once(self, tmp_path: Path) -> None:
        """For each target: the attempts that do not count are not heard of."""
        defaults = {f"c{number}": plain(number) for number in range(4)}
        defaults["c1"] += "    gone: ${missing}\n"
        others = {**OTHERS, "global/more.yml": "parameters: {k01: {gone: now}}\n"}
        hierarchy = cluster(tmp_path, defaults, others)
        (nodes, collected), (expected, said) = outcome(hierarchy, ALWAYS), outcome(hierarchy, NEVER)
        assert nodes == expected
        assert collected == said
        assert len(said) == 5

    def test_warnings_of_what_is_rendered_twice(self, tmp_path: Path) -> None:
        """The attempt fails, as a class is included in another way; what is heard of it does not count."""
        defaults = {f"c{number}": plain(number) for number in range(4)}
        defaults["c1"] += "    gone: ${missing}\n"
        others = {**OTHERS, "global/more.yml": "classes: [defaults.c2]\nparameters: {k01: {gone: now}}\n"}
        hierarchy = cluster(tmp_path, defaults, others)
        (nodes, collected), (expected, said) = outcome(hierarchy, ALWAYS), outcome(hierarchy, NEVER)
        assert nodes == expected
        assert collected == said
        assert len(said) == 5

    def test_a_difference_is_noticed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """One target is always rendered as it is, too; the others follow it."""
        hierarchy = cluster(tmp_path, {f"c{number}": plain(number) for number in range(4)})
        expected = outcome(hierarchy, NEVER)[0]

        def wrong(path: Path) -> Any:
            part = read_part(path)
            return part and type(part)(part.keys, part.text.replace("who", "whoever"))

        monkeypatch.setattr("commodore.core.inventory._class_bundling.read_part", wrong)
        nodes, collected = outcome(hierarchy, ALWAYS)
        assert nodes == expected
        assert [event for event in collected if "cannot be bundled" in str(event)]


@pytest.mark.parametrize("head", HEADS[:2])
@pytest.mark.parametrize("value", VALUES[:8])
def test_usual_files_qualify(head: str, value: str, tmp_path: Path) -> None:
    path = tmp_path / "defaults.yml"
    path.write_text(f"{head}  a:{value}\n  b-c_d: 1\n")
    part = read_part(path)
    assert part is not None
    assert part.keys == ("a", "b-c_d")
    assert part.text == f"  a:{value}\n  b-c_d: 1\n"
