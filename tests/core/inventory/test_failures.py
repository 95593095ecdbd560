"""Errors of a hierarchy: every kind of them with its code, its words, its place and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.base.errors import InputError, InternalError
from commodore.core.inventory import render_node
from commodore.core.inventory._failures import translate, translate_panic
from commodore.core.inventory.class_index import ClassFiles
from tests.core.inventory.hierarchies import Hierarchy, cluster
from tests.world.context import make_context

pytestmark = pytest.mark.tools

TARGET = "classes: [a, b]\n"


@pytest.fixture
def hierarchy(tmp_path: Path) -> Hierarchy:
    return Hierarchy(tmp_path).target(TARGET).classes({"a.yml": "", "b.yml": ""})


class TestMissingClasses:
    def test_one_of_a_package(self, hierarchy: Hierarchy) -> None:
        error = hierarchy.classes({"b.yml": "classes:\n  - a\n  - mon.rules  # soon\n"}).failure()
        assert error.code == "CMD-INV-002"
        assert error.message == "class 'mon.rules' is included but does not exist (while rendering target 'cluster')"
        assert "include 'pkg.mon' in `applications`" in error.hint
        assert [str(place) for place in error.locations] == [hierarchy.place("b.yml", 3)]

    def test_one_of_a_folder_that_exists(self, hierarchy: Hierarchy) -> None:
        error = hierarchy.classes({"b.yml": "classes: [global.zzz.qqq]", "global/a.yml": ""}).failure()
        assert error.hint == f"create zzz/qqq.yml in {hierarchy.place('global')}, or remove the include"

    def test_a_misspelt_one(self, hierarchy: Hierarchy) -> None:
        error = hierarchy.classes({"b.yml": "classes: [global.comon]", "global/common.yml": ""}).failure()
        assert error.hint == "did you mean 'global.common'?"

    def test_a_relative_one(self, hierarchy: Hierarchy) -> None:
        files = {"b.yml": "classes: [x.y.z]", "x/y/z.yml": "classes:\n- .one\n", "x/one.yml": "classes:\n- ..one\n"}
        error = hierarchy.classes(files).failure()
        assert "class 'x.y.one'" in error.message
        assert [str(place) for place in error.locations] == [hierarchy.place("x/y/z.yml", 2)]

    def test_an_empty_one(self, hierarchy: Hierarchy) -> None:
        error = hierarchy.classes({"b.yml": "classes: ['']"}).failure()
        assert error.code == "CMD-INV-002"
        assert error.hint == "an entry of `classes` is empty"

    def test_of_a_target(self, tmp_path: Path) -> None:
        error = Hierarchy(tmp_path).target("classes: [global.commodore]").failure()
        assert "'global.commodore'" in error.message
        assert error.locations == ()

    def test_they_can_be_ignored(self, hierarchy: Hierarchy) -> None:
        """Package discovery renders with missing classes tolerated; that is said in debug only."""
        node = hierarchy.classes({"b.yml": "classes: [pkg.x]\napplications: [pkg.pkg]"}).render(
            ignore_missing_classes=True
        )
        assert node.applications == ("pkg.pkg",)
        (note,) = hierarchy.collected
        assert "ignore missing class pkg.x" in str(note)


class TestReferences:
    def test_a_missing_one(self, hierarchy: Hierarchy) -> None:
        error = hierarchy.classes({"b.yml": "parameters:\n  x:\n    y: [0, 'a ${no:such} b']\n"}).failure()
        assert error.code == "CMD-INV-003"
        assert "parameter 'x.y[1]' refers to ${no:such}, which is not defined" in error.message
        assert "${path::default}" in error.hint
        assert [str(place) for place in error.locations] == [hierarchy.place("b.yml", 3)]

    def test_a_missing_one_in_classes(self, hierarchy: Hierarchy) -> None:
        error = hierarchy.classes({"b.yml": "classes: ['x.${no:such}']\nparameters: {no: {such: a}}"}).failure()
        assert error.code == "CMD-INV-003"
        assert "an entry of `classes` refers to ${no:such}" in error.message
        assert "not those of the same file" in error.hint

    @pytest.mark.parametrize(
        ("value", "reason"),
        [("1", "x is a number"), ("text", "x is a text"), ("true", "x is true or false"), ("[1]", "references cannot")],
    )
    def test_one_through_a_value(self, hierarchy: Hierarchy, value: str, reason: str) -> None:
        error = hierarchy.classes(
            {"a.yml": f"parameters: {{x: {value}}}", "b.yml": "parameters: {y: '${x:z}'}"}
        ).failure()
        assert error.code == "CMD-INV-003"
        assert f"'y' refers to ${{x:z}}, but {reason}" in error.message
        assert [str(place) for place in error.locations] == [hierarchy.place("b.yml", 1)]

    def test_a_malformed_one(self, hierarchy: Hierarchy) -> None:
        error = hierarchy.classes({"b.yml": "parameters:\n  y: '${x'\n"}).failure()
        assert error.code == "CMD-INV-018"
        assert "'${x'" in error.message
        assert "\\${" in error.hint
        assert [str(place) for place in error.locations] == [hierarchy.place("b.yml", 2)]

    def test_a_malformed_default(self, hierarchy: Hierarchy) -> None:
        error = hierarchy.classes({"b.yml": "parameters: {y: '${x::[1,}'}"}).failure()
        assert error.code == "CMD-INV-018"

    def test_a_loop(self, hierarchy: Hierarchy) -> None:
        error = hierarchy.classes({"a.yml": "parameters:\n  x: ${y}\n", "b.yml": "parameters:\n  y: ${x}\n"}).failure()
        assert error.code == "CMD-INV-004"
        assert "${x} -> ${y} -> ${x}" in error.message
        assert error.hint
        assert {str(place) for place in error.locations} == {hierarchy.place("a.yml", 2), hierarchy.place("b.yml", 2)}

    def test_a_loop_through_an_instances_own_key(self, tmp_path: Path) -> None:
        """`${comp_a:x}` in an instance's parameters is a loop, reported without a hint."""
        with pytest.raises(InputError) as raised:
            cluster(
                tmp_path,
                {"inst-2": "comp-a"},
                {"comp-a": {"comp_a": {"x": 1}}},
                {"inst_2": {"y": "${comp_a:x}"}},
            )
        error = raised.value
        assert error.code == "CMD-INV-004"
        assert "'inst-2'" in error.message
        assert error.hint == (
            "parameters of an instance may refer to ${inst_2:…}, not to ${comp_a:…} which they change"
        )
        assert str(error.locations[0]).endswith("classes/global/commodore.yml:3")

    def test_ignored_ones_are_said_in_debug(self, hierarchy: Hierarchy) -> None:
        """A missing reference that is overwritten later is a warning only."""
        hierarchy.classes({"a.yml": "parameters: {x: '${no}'}", "b.yml": "parameters: {x: fine}"})
        assert hierarchy.render().parameters["x"] == "fine"
        assert "lookup error for reference '${no}'" in str(hierarchy.collected[0])


class TestFiles:
    @pytest.mark.parametrize(
        ("content", "words", "hint", "line", "column"),
        [
            ("parameters:\n  x: [1\n  y: 2\n", "did not find expected ',' or ']'", "correct", 3, 4),
            ("parameters:\n\tx: 1\n", "cannot start any token", "blanks instead of tabs", 2, 1),
            ("parameters:\n  x: 1\n  y: 0\n  x: 2\n", 'duplicate entry with key "x"', "one of the two", 4, 3),
            ("parameters:\n  x:\n    'y': 1\n    \"y\": 2\n", 'duplicate entry with key "y"', "one of the two", 4, 5),
            ("parameters:\n  x: 123456789012345678901234567890\n", "invalid type: integer", "64 bits", 2, 6),
            ("classes: foo\n", "expected a sequence", "correct", 1, 10),
            ("applications: {a: b}\n", "expected a sequence", "correct", 1, 15),
            ("parameters: [1]\n", "expected a map", "`parameters`", 1, 13),
            ("parameters: null\n", "expected a map", "leave out empty keys", 1, 13),
            ("- a\n", "expected a map", "`parameters`", None, None),
            ("a: 1\n---\nb: 2\n", "more than one document", "'---'", None, None),
            ("parameters: " + "{a: " * 200 + "1" + "}" * 200, "recursion limit", "correct", 1, 521),
            ("a: *nothing\n", "unknown anchor", "correct", 1, 4),
        ],
    )
    def test_what_is_no_class(
        self, hierarchy: Hierarchy, content: str, words: str, hint: str, line: int | None, column: int | None
    ) -> None:
        """Syntax errors and duplicate keys name class, line and column."""
        error = hierarchy.classes({"b.yml": content}).failure()
        assert error.code == "CMD-INV-001"
        assert error.message.startswith("class b is invalid: ")
        assert words in error.message
        assert hint in error.hint
        assert [str(place) for place in error.locations] == [hierarchy.place("b.yml", line, column)]

    def test_a_tag(self, hierarchy: Hierarchy, capfd: pytest.CaptureFixture[str]) -> None:
        """reclass-rs panics; that is neither a traceback nor written to the terminal."""
        error = hierarchy.classes({"a.yml": "# !no\nx: '!no'\n", "b.yml": "parameters:\n  x: !secret y\n"}).failure()
        assert error.code == "CMD-INV-001"
        assert "class b has the YAML tag '!secret'" in error.message
        assert [str(place) for place in error.locations] == [hierarchy.place("b.yml", 2)]
        assert capfd.readouterr().err == ""

    @pytest.mark.parametrize("key", ["[a]", "{a: b}"])
    def test_a_key_that_is_a_list_or_a_map(self, hierarchy: Hierarchy, key: str) -> None:
        error = hierarchy.classes({"a.yml": "x: {'[a]': 1}\n", "b.yml": f"parameters:\n  {key}: y\n"}).failure()
        assert error.code == "CMD-INV-001"
        assert "class b has a list or a mapping as a key" in error.message
        assert [str(place) for place in error.locations] == [hierarchy.place("b.yml", 2)]

    def test_bytes_that_are_no_text(self, hierarchy: Hierarchy) -> None:
        error = hierarchy.classes({"b.yml": b"parameters: {x: '\xff'}"}).failure()
        assert error.code == "CMD-INV-001"
        assert "UTF-8" in error.message
        assert [str(place) for place in error.locations] == [hierarchy.place("b.yml")]

    def test_two_files_of_one_class(self, hierarchy: Hierarchy) -> None:
        error = hierarchy.classes({"b.yaml": ""}).failure()
        assert error.code == "CMD-INV-020"
        assert error.message == "class b is defined by two files"
        assert [str(place) for place in error.locations] == [hierarchy.place("b.yaml"), hierarchy.place("b.yml")]

    @pytest.mark.parametrize(
        ("link", "owner"),
        [
            ("components/nfs.yml", "of component 'nfs'"),
            ("defaults/nfs.yml", "of component 'nfs'"),
            ("t-x/a.yml", "t-x"),
        ],
    )
    def test_a_dangling_link(self, hierarchy: Hierarchy, link: str, owner: str) -> None:
        """Reclass-rs aborts with an I/O error that does not name the component."""
        path = hierarchy.workspace.classes / link
        path.parent.mkdir()
        path.symlink_to("../../nowhere/nfs.yml")
        error = hierarchy.failure()
        assert error.code == "CMD-INV-005"
        assert owner in error.message
        assert "a link to ../../nowhere/nfs.yml, which does not exist" in error.message
        assert [str(place) for place in error.locations] == [str(path)]

    def test_folders_in_a_loop(self, hierarchy: Hierarchy) -> None:
        (hierarchy.workspace.classes / "mon").mkdir()
        (hierarchy.workspace.classes / "mon" / "up").symlink_to("..")
        error = hierarchy.failure()
        assert error.code == "CMD-INV-005"
        assert "points to a folder" in error.message
        assert str(error.locations[0]) == hierarchy.place("mon/up")


class TestMerging:
    @pytest.mark.requirement("C42")
    def test_a_constant(self, hierarchy: Hierarchy) -> None:
        """The parameter is named with its path, the file to correct comes first."""
        error = hierarchy.classes(
            {
                "a.yml": "parameters:\n  nfs:\n    =_metadata: {multi_instance: false}\n",
                "b.yml": "parameters:\n  other:\n    _metadata: {}\n  nfs:\n    _metadata: {multi_instance: true}\n",
                "c.yml": "parameters:\n  nfs:\n    _metadata: not included\n",
            }
        ).failure()
        assert error.code == "CMD-INV-021"
        assert "parameters.nfs._metadata is a constant ('=_metadata') and cannot be defined again" in error.message
        assert error.hint == "remove '_metadata' from the first of these files"
        assert [str(place) for place in error.locations] == [
            hierarchy.place("b.yml", 5, 5),
            hierarchy.place("a.yml", 3, 5),
        ]

    @pytest.mark.parametrize("second", ["_metadata: {a: 2}", "~_metadata: null", "=_metadata: {a: 1}"])
    def test_a_constant_that_its_own_file_changes(self, hierarchy: Hierarchy, second: str) -> None:
        text = f"parameters:\n  nfs:\n    =_metadata: {{a: 1}}\n    {second}\n"
        error = hierarchy.classes({"a.yml": text}).failure()
        if second.startswith("="):
            assert error.code == "CMD-INV-001"  # a key twice
            return
        assert (error.code, error.exit_code) == ("CMD-INV-021", 1)
        assert "parameters.nfs._metadata is a constant" in error.message
        assert str(error.locations[0]) == hierarchy.place("a.yml", 4, 5)

    @pytest.mark.requirement("C42")
    def test_a_constant_overwritten_through_an_instance(self, tmp_path: Path) -> None:
        """The instance's own key counts as the component's, and the defaults of other instances do not."""
        with pytest.raises(InputError) as raised:
            cluster(
                tmp_path,
                {"share": "nfs", "other": "nfs"},
                {"nfs": {"nfs": {"=_metadata": {"multi_instance": True}}}},
                {"share": {"_metadata": {"deprecated": False}}},
            )
        error = raised.value
        assert error.code == "CMD-INV-021"
        assert "parameters.nfs._metadata" in error.message
        assert "'share'" in error.message
        classes = tmp_path / "inventory" / "classes"
        assert [place.place for place in error.locations] == [
            str(classes / "global" / "commodore.yml"),
            str(classes / "defaults" / "share.yml"),
        ]

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ("1", "{y: 1}", "a map over a number"),
            ("[1]", "{y: 1}", "a map over a list"),
            ("{y: 1}", "text", "a text over a map"),
            ("{y: 1}", "[1]", "a list over a map"),
            ("text", "[1]", "a list over a text"),
        ],
    )
    def test_types(self, hierarchy: Hierarchy, old: str, new: str, words: str) -> None:
        """The path is named, and here the files that define it too, the last one first."""
        error = hierarchy.classes(
            {
                "a.yml": f"parameters:\n  c:\n    x: {old}\n",
                "b.yml": f"parameters:\n  x: 0\n  c:\n    x: {new}\n",
            }
        ).failure()
        assert error.code == "CMD-INV-022"
        assert f"parameters.c.x cannot be merged: {words}" in error.message
        assert "'~x'" in error.hint
        assert [str(place) for place in error.locations] == [
            hierarchy.place("b.yml", 4, 5),
            hierarchy.place("a.yml", 3, 5),
        ]
        assert (
            Hierarchy(hierarchy.root).classes({"b.yml": f"parameters: {{c: {{~x: {new}}}}}"}).render().parameters["c"]
        )

    @pytest.mark.parametrize("value", [1, ["x"]])
    def test_an_instance_must_be_a_map(self, tmp_path: Path, value: object) -> None:
        """A scalar or list aborts with a merge-type error."""
        with pytest.raises(InputError) as raised:
            cluster(tmp_path, {"share": "nfs"}, {"nfs": {"nfs": {"x": 1}}}, {"share": value})
        assert raised.value.code == "CMD-INV-022"
        assert any(place.place.endswith("global/commodore.yml") for place in raised.value.locations)


class TestClassLoops:
    """reclass-rs follows classes in a loop until its stack is full, and the process is gone."""

    def test_two_classes(self, hierarchy: Hierarchy) -> None:
        error = hierarchy.classes({"a.yml": "classes: [c]", "c.yml": "parameters: {}\nclasses:\n- a\n"}).failure()
        assert error.code == "CMD-INV-019"
        assert error.message == "classes include each other: a -> c -> a"
        assert [str(place) for place in error.locations] == [hierarchy.place("c.yml", 3), hierarchy.place("a.yml")]

    @pytest.mark.parametrize(
        "files",
        [
            {"a.yml": "classes: [a]"},
            {"a.yml": "classes: ['.a']"},
            {"a.yml": '"classes": ["c"]', "c.yml": "{classes: [a]}"},
            {
                "a.yml": "classes:\n- x.y # comment\n",
                "x/y.yml": "classes:\n  # comment\n\n  - '..b'\n",
                "b.yml": "classes: [x.y]",
            },
            {"a.yml": "classes:\r\n- b\r\n\r\n- c\r\n", "c.yml": "classes:\r\n- b\r\n- a\r\n"},
            {"a.yml": "classes: [x.init]", "x/init/init.yml": "classes: [x.init]"},
            {"a.yml": "parameters: {n: &c c}\nclasses: [*c]", "c.yml": "classes: [a]"},
            {
                "a.yml": "parameters: {facts: {cloud: q}}",
                "b.yml": "classes: ['cloud.${facts:cloud}']",
                "cloud/q.yml": "classes: [b]",
            },
            {"a.yml": "parameters: {f: {n: '${m}'}, m: b}", "b.yml": "classes: ['${f:n}']"},
            {"b.yml": "classes: ['${no:such::b}']"},
        ],
    )
    def test_every_spelling(self, hierarchy: Hierarchy, files: dict[str, str]) -> None:
        hierarchy.classes(files)
        with pytest.raises(InputError) as raised:
            hierarchy.render()
        assert raised.value.code == "CMD-INV-019"

    def test_in_an_instances_classes_only(self, hierarchy: Hierarchy) -> None:
        hierarchy.target("classes: [a, d]", "nfs").classes({"d.yml": "classes: [e]", "e.yml": "classes: [d]"})
        assert hierarchy.render("cluster").name == "cluster"
        with pytest.raises(InputError):
            hierarchy.render("nfs")

    def test_long_chains_are_no_loops(self, hierarchy: Hierarchy) -> None:
        files = {f"n{number}.yml": f"classes: [n{number + 1}, a, b]" for number in range(300)}
        hierarchy.target("classes: [n0]").classes({**files, "n300.yml": "parameters: {x: 1}"})
        assert hierarchy.render().parameters["x"] == 1

    def test_diamonds_are_no_loops(self, hierarchy: Hierarchy) -> None:
        files = {"a.yml": "classes: [c, d]", "c.yml": "classes: [e]", "d.yml": "classes: [e]", "e.yml": ""}
        assert hierarchy.classes(files).render().classes == ("e", "c", "d", "a", "b")


class TestTheRest:
    def test_an_unknown_target(self, hierarchy: Hierarchy) -> None:
        with pytest.raises(InputError) as raised:
            hierarchy.render("nothing")
        assert raised.value.code == "CMD-INV-006"
        assert "nothing" in raised.value.message

    def test_no_hierarchy(self, tmp_path: Path) -> None:
        with pytest.raises(InputError) as raised:
            render_node(tmp_path / "inventory", "cluster", make_context())
        assert raised.value.code == "CMD-INV-005"
        assert f"{tmp_path}/inventory" in raised.value.message

    def test_words_that_nobody_knows_are_passed_on(self, tmp_path: Path) -> None:
        error = translate("Error while rendering x: something new", ClassFiles.of_reclass(tmp_path, {}))
        assert error.code == "CMD-INV-006"
        assert error.message == "the hierarchy cannot be rendered: something new (while rendering target 'x')"

    def test_other_panics_are_bugs(self, tmp_path: Path) -> None:
        error = translate_panic("index out of bounds", ClassFiles.of_reclass(tmp_path, {}))
        assert isinstance(error, InternalError)
        assert error.code == "CMD-INV-017"
        assert "index out of bounds" in error.message
