"""Finding references: where they are searched, which spellings are accepted, how the others are reported."""

from __future__ import annotations

from typing import Any

import pytest

from commodore.base.errors import CommodoreError, Findings, InputError, PolicyError
from commodore.base.events import Event, Warned
from commodore.core.refs import SecretReference, collect, find_references
from tests.world.context import make_context


def node(**parameters: Any) -> dict[str, Any]:
    return {"applications": [], "classes": [], "parameters": parameters}


def paths(references: tuple[SecretReference, ...]) -> list[str]:
    return [reference.path for reference in references]


def error_of(tag: str) -> CommodoreError:
    with pytest.raises(CommodoreError) as caught:
        find_references({"app": {"users": [{"password": f"x {tag} y"}]}}, make_context(), target="app-1")
    return caught.value


class TestFindReferences:
    @pytest.mark.requirement("C64", "C65")
    def test_a_reference_knows_where_it_was_found_and_what_it_means(self) -> None:
        (reference,) = find_references(
            {"app": {"db": [{"password": "pw=?{vaultkv:t/c/db/password}"}]}}, make_context(), target="cluster"
        )
        assert reference == SecretReference(
            "vaultkv",
            "t/c/db/password",
            "?{vaultkv:t/c/db/password}",
            "app.db[0].password",
            "cluster",
            reference.setting,
        )
        assert reference.setting.path == ("app", "db", 0, "password")
        assert (reference.file, reference.secret) == ("t/c/db/password", "t/c/db:password")

    def test_several_references_in_one_string(self) -> None:
        references = find_references(
            {"url": "https://?{vaultkv:a/user}:?{vaultkv:a/password}@host"}, make_context(), target="cluster"
        )
        assert paths(references) == ["a/password", "a/user"]

    def test_keys_can_be_chosen(self) -> None:
        parameters = {"one": "?{vaultkv:a/1}", "two": "?{vaultkv:a/2}", "three": "?{vaultkv:a/3}"}
        assert paths(find_references(parameters, make_context(), target="t", only_keys={"two", "absent"})) == ["a/2"]

    def test_other_values_hold_no_references(self) -> None:
        parameters: dict[Any, Any] = {
            "a": None,
            "b": 1,
            "c": 1.5,
            "d": True,
            "e": "{vaultkv:a/b}",
            "f": "?{}",
            "g": "what?",
            7: [],
        }
        assert find_references(parameters, make_context(), target="t") == ()

    def test_depth_is_no_problem(self) -> None:
        value: Any = "?{vaultkv:a/b}"
        for _ in range(20_000):
            value = [value]
        assert paths(find_references({"deep": value}, make_context(), target="t")) == ["a/b"]

    def test_a_backslash_does_not_escape(self) -> None:
        assert paths(find_references({"a": "\\?{vaultkv:a/b}"}, make_context(), target="t")) == ["a/b"]

    def test_a_reference_in_a_key_is_announced(self) -> None:
        collected: list[Event] = []
        assert (
            find_references({"a": {"?{vaultkv:a/b}": "x"}}, make_context(announce=collected.append), target="t") == ()
        )
        (warning,) = collected
        assert isinstance(warning, Warned)
        assert warning.code == "CMD-REF-011"
        assert "'?{vaultkv:a/b}' is in a key of parameter a of target t" in warning.message

    def test_an_unclosed_reference_is_announced(self) -> None:
        collected: list[Event] = []
        references = find_references(
            {"a": "?{vaultkv:a/b} ?{vaultkv:a/c"}, make_context(announce=collected.append), target="t"
        )
        assert paths(references) == ["a/b"]
        (warning,) = collected
        assert isinstance(warning, Warned)
        assert warning.code == "CMD-REF-016"
        assert "'?{vaultkv:a/c' in parameter a of target t is not closed" in warning.message


class TestSpellings:
    @pytest.mark.parametrize(
        ("tag", "file", "secret"),
        [
            ("?{vaultkv:a/b}", "a/b", "a:b"),
            ("?{vaultkv:a/b/c}", "a/b/c", "a/b:c"),
            ("?{vaultkv:a//b}", "a/b", "a/:b"),
            ("?{vaultkv:ü/k}", "ü/k", "ü:k"),
            ("?{vaultkv:a/b=}", "a/b=", "a:b="),
            ("?{vaultkv:a.b/c-d_e}", "a.b/c-d_e", "a.b:c-d_e"),
            ("?{vaultkv:.a/...}", ".a/...", ".a:..."),
            ("?{vaultkv:./a/./b}", "a/b", "./a/.:b"),
            ("?{vaultkv:a/b:deadbeef}", "a/b", "a:b"),
            ("?{vaultkv:a/b:::b}", "a/b", "a:b"),
            ("?{vaultkv:a/b/c::a/b:c}", "a/b/c", "a/b:c"),
        ],
    )
    def test_accepted(self, tag: str, file: str, secret: str) -> None:
        (reference,) = find_references({"a": tag}, make_context(), target="t")
        assert (reference.tag, reference.file, reference.secret) == (tag, file, secret)

    @pytest.mark.requirement("C63")
    @pytest.mark.parametrize(
        ("tag", "code", "message"),
        [
            ("?{vaultkv}", "CMD-REF-001", "names no type and path"),
            ("?{2,3}", "CMD-REF-001", "names no type and path"),
            ("?{vaultkv:nokey}", "CMD-REF-001", "has no '/' between path and key"),
            ("?{vaultkv:a/b/}", "CMD-REF-018", "has no key after the last '/'"),
            ("?{vaultkv:}", "CMD-REF-003", "characters that no reference can have"),
            ("?{base64:a/b}", "CMD-REF-002", "the type 'base64', which is known to Kapitan but cannot be written"),
            ("?{vaultkvv:a/b}", "CMD-REF-002", "the type 'vaultkvv', which is unknown"),
            ("?{ vaultkv:a/b}", "CMD-REF-002", "the type ' vaultkv', which is unknown"),
            ("?{vaultkv :a/b}", "CMD-REF-002", "the type 'vaultkv ', which is unknown"),
            ("?{vaultkv:a b/c d}", "CMD-REF-003", "characters that no reference can have"),
            ("?{vaultkv:a/b }", "CMD-REF-003", "characters that no reference can have"),
            ("?{vaultkv:a/b\n}", "CMD-REF-003", "characters that no reference can have"),
            ("?{vaultkv:a/b$}", "CMD-REF-003", "characters that no reference can have"),
            ("?{vaultkv:a\\b/c}", "CMD-REF-003", "characters that no reference can have"),
            ("?{vaultkv:a/\ud800}", "CMD-REF-003", "characters that no reference can have"),
            ("?{vaultkv:a/b@x.y}", "CMD-REF-004", "has a sub-variable"),
            ("?{vaultkv:a/b||random:str}", "CMD-REF-005", "would create a secret in Vault while compiling"),
            ("?{vaultkv:a/b:kv:a:b||random:str}", "CMD-REF-005", "would create a secret in Vault while compiling"),
            ("?{vaultkv:a/b:}", "CMD-REF-006", "has 3 parts"),
            ("?{vaultkv:a/b:embedded}", "CMD-REF-006", "has 3 parts"),
            ("?{vaultkv:a/b:x:y}", "CMD-REF-006", "has 4 parts"),
            ("?{vaultkv:a/b:m:p:k}", "CMD-REF-006", "of which mount 'm', path 'p', key 'k' would be lost"),
            ("?{vaultkv:a/b::p:b}", "CMD-REF-006", "of which path 'p' would be lost"),
            ("?{vaultkv:a/b:::}", "CMD-REF-006", "of which key '' would be lost"),
        ],
    )
    def test_refused(self, tag: str, code: str, message: str) -> None:
        """References that make the published tool crash: the error names tag, parameter and target."""
        error = error_of(tag)
        assert isinstance(error, InputError)
        assert error.code == code
        assert repr(tag) in error.message
        assert "parameter app.users[0].password of target app-1" in error.message
        assert message in error.message
        assert error.hint

    @pytest.mark.parametrize(
        ("tag", "code", "file", "secret"),
        [
            ("?{vaultkv:a b/c d}", "CMD-REF-003", "a b/c d", "a b:c d"),
            ("?{vaultkv:a/$b}", "CMD-REF-003", "a/$b", "a:$b"),
            ("?{vaultkv:a/b@x.y}", "CMD-REF-004", "a/b@x.y", "a:b@x.y"),
            ("?{vaultkv:a/b:m:p:k}", "CMD-REF-006", "a/b", "a:b"),
            ("?{vaultkv:a/b/}", "CMD-REF-018", "a/b", "a/b:"),
        ],
    )
    def test_allowed(self, tag: str, code: str, file: str, secret: str) -> None:
        """The ref file is the one that the published tool writes."""
        collected: list[Event] = []
        context = make_context(announce=collected.append, allowed=frozenset({code}))
        nodes = {"cluster": node(facts={"x": tag})}
        (reference,) = collect(nodes, {}, context)
        assert (reference.tag, reference.file, reference.secret) == (tag, file, secret)
        assert [event.code for event in collected if isinstance(event, Warned)] == [code]
        with pytest.raises(InputError, match=code):
            collect(nodes, {}, make_context())

    def test_what_has_no_ref_file_is_left_out_if_it_is_allowed(self) -> None:
        for path in ("", "a/\ud800"):
            context = make_context(allowed=frozenset({"CMD-REF-003"}))
            assert find_references({"a": f"?{{vaultkv:{path}}}"}, context, target="t") == ()

    @pytest.mark.requirement("C65")
    @pytest.mark.parametrize(
        "path",
        [
            "../../../x/key",
            "..",
            "a/../b/key",
            "a/..",
            "/abs/x/key",
            "//abs/key",
            "/key",
            "a/.",
            ".",
            "a\0b/key",
            ".git/config",
            "a/.GIT/hooks/post-commit",
            ".gitattributes",
            "a/.gitignore",
        ],
    )
    def test_paths_that_leave_the_refs_folder(self, path: str) -> None:
        """A reference names a file below catalog/refs, in whatever way it is spelt."""
        error = error_of(f"?{{vaultkv:{path}}}")
        assert isinstance(error, PolicyError)
        assert error.code == "CMD-REF-007"
        assert "must be below catalog/refs" in error.message

    def test_names_that_no_file_system_allows(self) -> None:
        assert error_of(f"?{{vaultkv:a/{'k' * 256}}}").code == "CMD-REF-008"
        assert len(find_references({"a": f"?{{vaultkv:a/{'k' * 255}}}"}, make_context(), target="t")) == 1
        assert "more than 255 bytes" in error_of(f"?{{vaultkv:a/{'ü' * 128}}}").message

    def test_all_faults_of_a_run_are_reported_together(self) -> None:
        nodes = {
            "cluster": node(facts={"x": "?{vaultkv:nokey}"}, y="?{gpg:a/b}"),
            "app": node(app={"z": "?{vaultkv:../k}", "again": ["?{vaultkv:nokey}"]}),
        }
        with pytest.raises(Findings) as caught:
            collect(nodes, {"app": "app"}, make_context())
        assert [error.code for error in caught.value.errors] == ["CMD-REF-001", "CMD-REF-002", "CMD-REF-007"]
        assert [str(place) for place in caught.value.errors[0].locations] == [
            "parameter facts.x of target cluster",
            "parameter app.again[0] of target app",
        ]
        assert caught.value.exit_code == 4

    def test_long_tags_are_cut_in_messages(self) -> None:
        message = error_of("?{" + "x" * 5000 + "}").message
        assert len(message) < 400


class TestCollect:
    @pytest.mark.requirement("C64")
    def test_where_references_are_searched(self) -> None:
        """The bootstrap target without component keys, and each instance's component key in its own target."""
        nodes = {
            "cluster": node(
                facts={"token": "?{vaultkv:found/facts}"},
                inst_2={"token": "?{vaultkv:found/instance-key}"},
                my_app={"token": "?{vaultkv:lost/component-key-in-bootstrap}"},
                not_deployed={"token": "?{vaultkv:found/not-deployed}"},
            ),
            "my-app": node(my_app={"token": "?{vaultkv:found/my-app}"}, other={"token": "?{vaultkv:lost/other-key}"}),
            "inst-2": node(my_app={"token": "?{vaultkv:found/inst-2}"}, inst_2={"token": "?{vaultkv:lost/inst}"}),
        }
        references = collect(nodes, {"my-app": "my-app", "inst-2": "my-app"}, make_context())
        assert paths(references) == [
            "found/facts",
            "found/inst-2",
            "found/instance-key",
            "found/my-app",
            "found/not-deployed",
        ]

    def test_missing_targets_and_keys_hold_nothing(self) -> None:
        """The published tool ends in a traceback for each of these."""
        assert collect({}, {"a": "a"}, make_context()) == ()
        assert (
            collect(
                {"cluster": node(), "a": node(), "b": {}, "c": {"parameters": None}},
                {"a": "a", "b": "b"},
                make_context(),
            )
            == ()
        )

    def test_each_path_once_and_in_order_whatever_the_order_of_the_inventory(self) -> None:
        nodes = {"b": node(b="?{vaultkv:x/2} ?{vaultkv:x/1:deadbeef}"), "a": node(a={"z": "?{vaultkv:x/1}"})}
        instances = {"b": "b", "a": "a"}
        references = collect(nodes, instances, make_context())
        assert references == collect(dict(reversed(nodes.items())), dict(reversed(instances.items())), make_context())
        assert [(reference.path, reference.target) for reference in references] == [("x/1", "a"), ("x/2", "b")]

    def test_a_file_in_the_way_of_a_folder(self) -> None:
        with pytest.raises(InputError) as caught:
            collect({"cluster": node(a="?{vaultkv:a/b}", c={"d": "?{vaultkv:a/b/c/d}"})}, {}, make_context())
        assert caught.value.code == "CMD-REF-009"
        assert "'?{vaultkv:a/b}' in parameter a of target cluster" in caught.value.message
        assert "'?{vaultkv:a/b/c/d}' in parameter c.d of target cluster" in caught.value.message
        assert "'a/b' cannot be both a file and a folder" in caught.value.message

    def test_two_spellings_of_one_file_with_different_contents(self) -> None:
        with pytest.raises(InputError, match="both are written to the file 'a/b'"):
            collect({"cluster": node(a="?{vaultkv:a/b}", c="?{vaultkv:a//b}")}, {}, make_context())
