"""Sources of dependencies: `parameters.components` and `parameters.packages`."""

from __future__ import annotations

from typing import Any

import pytest

from commodore.base.errors import CommodoreError, Findings, InputError
from commodore.base.events import Event, Warned
from commodore.core.dependencies import DependencySpec, find_incomplete, instance_spec, overrides_version, read_specs
from commodore.core.dependencies.specs import Kind
from tests.world.context import make_context

URL = "https://git.example.com/c.git"
GOOD = {"url": URL, "version": "v1"}
KINDS: list[Kind] = ["component", "package"]


def parameters(kind: Kind = "component", **entries: Any) -> dict[str, Any]:
    return {f"{kind}s": entries}


def error_of(given: dict[str, Any], kind: Kind = "component", name: str = "c") -> InputError:
    with pytest.raises(InputError) as raised:
        read_specs(given, kind, (name,), make_context())
    return raised.value


@pytest.mark.requirement("C11", "C14")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_included_is_read(kind: Kind) -> None:
    """`url`, `version`, `path`; without `path` it is the repository's root. What is not used may be wrong."""
    given = parameters(
        kind, c={"url": URL, "version": "v1"}, d={"url": URL, "version": "v2", "path": "sub/dir"}, e="nonsense"
    )
    assert read_specs(given, kind, ("d", "c"), make_context()) == {
        "c": DependencySpec("c", URL, "v1", ""),
        "d": DependencySpec("d", URL, "v2", "sub/dir"),
    }


@pytest.mark.requirement("C9", "C10")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("given", [{}, {"components": None, "packages": None}, {"components": {}, "packages": {}}])
def test_an_unknown_dependency(kind: Kind, given: dict[str, Any]) -> None:
    """A dependency that is included but not described is an error that names it."""
    error = error_of(given, kind)
    assert error.code == "CMD-DEP-012"
    assert f"unknown {kind} 'c'" in error.message
    assert error.hint == f"add parameters.{kind}s.c with `url` and `version`"


@pytest.mark.requirement("C9", "C10")
@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_dependency_gets_a_suggestion(kind: Kind) -> None:
    """All known names are at hand."""
    given = {f"{kind}s": {"cert-manager": {"url": URL, "version": "v1"}, 3: {}}}
    assert error_of(given, kind, "cert-manger").hint == "did you mean 'cert-manager'?"


def test_nothing_included_needs_nothing() -> None:
    assert read_specs({}, "component", (), make_context()) == {}


@pytest.mark.requirement("C11")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("listed", [["c"], "c", 3])
def test_the_list_must_be_a_map(kind: Kind, listed: Any) -> None:
    """Both parameters are dicts."""
    error = error_of({f"{kind}s": listed}, kind)
    assert error.code == "CMD-DEP-011"
    assert f"parameters.{kind}s" in error.message


@pytest.mark.requirement("C11")
@pytest.mark.parametrize("entry", [None, "v1", ["v1"], 3])
def test_an_entry_must_be_a_map(entry: Any) -> None:
    """Dicts of dicts."""
    error = error_of(parameters(c=entry))
    assert error.code == "CMD-DEP-014"
    assert str(error.locations[0]) == "parameters.components.c"


@pytest.mark.requirement("C13", "C30")
@pytest.mark.parametrize(
    ("entry", "missing"),
    [
        ({"url": URL}, "field `version`"),
        ({"url": URL, "version": ""}, "field `version`"),
        ({"version": "v1"}, "field `url`"),
        ({"url": "", "version": "v1"}, "field `url`"),
        ({}, "fields `url` and `version`"),
    ],
)
def test_url_and_version_must_be_given(entry: dict[str, Any], missing: str) -> None:
    """A dependency without `version` ends the program with an error; so does one without `url`."""
    error = error_of(parameters(c=entry))
    assert error.code == "CMD-DEP-013"
    assert error.message == f"component 'c' is missing the {missing}"
    assert "parameters.components.c" in error.hint


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [("version", 1.0, "float"), ("version", 20, "int"), ("url", ["x"], "list"), ("path", {"a": 1}, "dict")],
)
def test_fields_are_text(key: str, value: Any, kind: str) -> None:
    """A version that YAML reads as a number is a traceback in the original."""
    error = error_of(parameters(c={"url": URL, "version": "v1", key: value}))
    assert error.code == "CMD-DEP-016"
    assert error.message == f"parameters.components.c.{key} must be a string, not {kind}"
    assert f"{key}: '{value}'" in error.hint


@pytest.mark.requirement("C29")
@pytest.mark.parametrize(("typo", "key"), [("versions", "version"), ("Version", "version"), ("urls", "url")])
def test_a_misspelt_key_is_not_ignored(typo: str, key: str) -> None:
    """The key is `version`; `versions` is reported with a suggestion, also where `version` is there too."""
    for entry in ({"url": URL, typo: "v2"}, {"url": URL, "version": "v1", typo: "v2"}):
        error = error_of(parameters(c=entry))
        assert error.code == "CMD-DEP-015"
        assert repr(typo) in error.message
        assert error.hint == f"did you mean {key!r}?; --allow CMD-DEP-015 makes it a warning"


def test_other_keys_are_ignored() -> None:
    """Extra keys mean nothing."""
    given = parameters(c={"url": URL, "version": "v1", "maintainer": "me", 3: "x"})
    assert read_specs(given, "component", ("c",), make_context()) == {"c": DependencySpec("c", URL, "v1", "")}


@pytest.mark.requirement("C12")
@pytest.mark.parametrize("version", ["master", "v1.2.3", "3f1c2a9", "a" * 40, "v1^{}", "feat/x", "HEAD~1"])
def test_versions_are_tree_ishes(version: str) -> None:
    """Whatever git can resolve; it is git's room that refuses what could be an option."""
    given = parameters(c={"url": URL, "version": version})
    assert read_specs(given, "component", ("c",), make_context())["c"].version == version


def test_version_null_is_the_default_branch() -> None:
    given = parameters(c={"url": URL, "version": None})
    assert read_specs(given, "component", ("c",), make_context())["c"].version is None


def test_a_key_that_looks_like_a_typing_error_can_be_allowed() -> None:
    collected: list[Event] = []
    given = parameters(c={"url": URL, "version": "v1", "versions": "v2"})
    with pytest.raises(InputError, match="versions") as caught:
        read_specs(given, "component", ("c",), make_context())
    assert "--allow CMD-DEP-015 makes it a warning" in caught.value.hint
    context = make_context(collected.append, allowed=["CMD-DEP-015"])
    assert read_specs(given, "component", ("c",), context)["c"].version == "v1"
    assert [event.code for event in collected if isinstance(event, Warned)] == ["CMD-DEP-015"]


@pytest.mark.requirement("C14")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", ""),
        ("/", ""),
        (".", ""),
        ("./", ""),
        ("/sub", "sub"),
        ("sub/", "sub"),
        ("sub//dir", "sub/dir"),
        ("./sub/./dir", "sub/dir"),
        ("...", "..."),
        ("a..b", "a..b"),
        (None, ""),
    ],
)
def test_paths(path: str | None, expected: str) -> None:
    """The sub-directory; one leading `/` is the repository's root."""
    given = parameters(c={"url": URL, "version": "v1", "path": path})
    assert read_specs(given, "component", ("c",), make_context())["c"].path == expected


@pytest.mark.parametrize(
    "path",
    ["..", "../x", "../../../etc", "sub/../..", "sub/../../x", "/..", "//etc", "///etc", "//", "sub/..", "a\0b"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_paths_that_lead_out(path: str, kind: Kind) -> None:
    """`..` anywhere and a second leading slash are refused."""
    error = error_of(parameters(kind, c={"url": URL, "version": "v1", "path": path}), kind)
    assert error.code == "CMD-DEP-017"
    assert repr(path) in error.message
    assert str(error.locations[0]) == f"parameters.{kind}s.c.path"


def test_everything_wrong_is_reported_at_once() -> None:
    given = parameters(b={"url": URL}, c={"url": URL, "versions": "v1"}, d={"url": URL, "version": "v", "path": ".."})
    with pytest.raises(Findings) as raised:
        read_specs(given, "component", ("a", "b", "c", "d"), make_context())
    assert [error.code for error in raised.value.errors] == [
        "CMD-DEP-012",
        "CMD-DEP-013",
        "CMD-DEP-015",
        "CMD-DEP-017",
    ]


class TestInstanceSpec:
    BASE = DependencySpec("c", URL, "v1", "sub")

    def spec(self, entry: Any) -> DependencySpec:
        return instance_spec(parameters(c={"url": URL, "version": "v1"}, x=entry), self.BASE, "x", make_context())

    def test_without_an_entry_it_is_the_component(self) -> None:
        assert instance_spec({}, self.BASE, "x", make_context()) == DependencySpec("x", URL, "v1", "sub")
        assert self.spec(None) == DependencySpec("x", URL, "v1", "sub")
        assert self.spec({}) == DependencySpec("x", URL, "v1", "sub")

    def test_the_component_itself_has_no_second_entry(self) -> None:
        given = parameters(c={"url": "https://other", "version": "v9"})
        assert instance_spec(given, self.BASE, "c", make_context()) == self.BASE

    @pytest.mark.parametrize(
        ("entry", "expected"),
        [
            ({"version": "v2"}, ("v2", URL, "sub")),
            ({"url": "https://fork"}, ("v1", "https://fork", "sub")),
            ({"path": "other"}, ("v1", URL, "other")),
            ({"path": ""}, ("v1", URL, "sub")),
            ({"path": "/"}, ("v1", URL, "")),
            ({"url": "", "version": None}, ("v1", URL, "sub")),
        ],
    )
    def test_what_it_says_itself_wins(self, entry: Any, expected: tuple[str, str, str]) -> None:
        """Per-instance versions: each field replaces the component's if it is there."""
        spec = self.spec(entry)
        assert (spec.version, spec.url, spec.path) == expected

    @pytest.mark.requirement("C29")
    @pytest.mark.parametrize(
        ("entry", "code"),
        [("v2", "CMD-DEP-014"), ({"versions": "v2"}, "CMD-DEP-015"), ({"path": "../x"}, "CMD-DEP-017")],
    )
    def test_wrong_entries(self, entry: Any, code: str) -> None:
        """The same for instances."""
        with pytest.raises(InputError) as raised:
            self.spec(entry)
        assert raised.value.code == code

    @pytest.mark.parametrize(
        ("entry", "overrides"),
        [
            ({"version": "v2"}, True),
            ({"url": URL}, True),
            ({"path": "x"}, False),
            ({"version": None}, False),
            ({}, False),
            (None, False),
        ],
    )
    def test_what_asks_for_multi_version(self, entry: Any, overrides: bool) -> None:
        """A `url` or `version` of its own."""
        assert overrides_version(parameters(x=entry), "x") is overrides
        assert overrides_version({}, "x") is False


class TestFindIncomplete:
    def errors(self, given: dict[str, Any], instances: dict[str, str] | None = None) -> list[CommodoreError]:
        return find_incomplete(given, instances or {})

    @pytest.mark.requirement("C30")
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("entry", [{"version": "v2"}, {"url": None, "version": "v2"}, {"url": ""}, {}, None, "v2"])
    def test_an_entry_without_url(self, kind: Kind, entry: Any) -> None:
        """Most likely a misspelt name, whether it is included or not."""
        given = {f"{kind}s": {"cert-manager": GOOD, "cert-manger": entry}}
        (error,) = self.errors(given)
        assert error.code == "CMD-DEP-010"
        assert error.message == f"parameters.{kind}s.cert-manger has no `url`"
        assert error.hint == "did you mean 'cert-manager'?"

    def test_a_hint_without_similar_names(self) -> None:
        (error,) = self.errors(parameters(z={"version": "v1"}))
        assert error.hint == "add the `url`, or remove the entry"

    def test_an_alias_needs_none(self) -> None:
        given = parameters(c=GOOD, x={"version": "v2"})
        assert self.errors(given, {"c": "c", "x": "c"}) == []
        assert self.errors(given, {"x": "c"}) == []

    def test_an_alias_of_an_incomplete_component_is_reported_too(self) -> None:
        given = parameters(c={"version": "v1"}, x={"version": "v2"})
        assert len(self.errors(given, {"x": "c"})) == 2

    @pytest.mark.requirement("C24")
    def test_component_defaults_do_not_interfere(self) -> None:
        """The parameters that were read for fetching are checked; here they are sound."""
        assert self.errors(parameters(c=GOOD)) == []

    def test_all_are_reported_in_order(self) -> None:
        given = {"components": {"b": {}, "a": {}, 1: {}}, "packages": {"p": {}}}
        assert [error.message.split()[0] for error in self.errors(given)] == [
            "parameters.components.1",
            "parameters.components.a",
            "parameters.components.b",
            "parameters.packages.p",
        ]
