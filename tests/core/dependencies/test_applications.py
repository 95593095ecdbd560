"""`applications`: which packages, components and instances a cluster includes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.errors import CommodoreError, Findings, InputError
from commodore.base.events import Event, Warned
from commodore.core.dependencies import Applications, discover_packages, parse_applications
from tests.world.context import make_context


def errors_of(*entries: str) -> list[CommodoreError]:
    with pytest.raises(CommodoreError) as raised:
        parse_applications(entries, make_context())
    return list(raised.value.errors) if isinstance(raised.value, Findings) else [raised.value]


def codes_of(*entries: str) -> list[str]:
    return [error.code for error in errors_of(*entries)]


@pytest.mark.requirement("C5", "C8")
def test_the_entries_are_the_dependencies() -> None:
    """`pkg.` marks a package, anything else is a component; everything comes in name order."""
    assert parse_applications(["vault", "pkg.monitoring", "argocd", "pkg.base"], make_context()) == Applications(
        packages=("base", "monitoring"),
        components=("argocd", "vault"),
        instances={"argocd": "argocd", "vault": "vault"},
    )


def test_nothing_is_included() -> None:
    assert parse_applications([], make_context()) == Applications((), (), {})


@pytest.mark.requirement("C31")
def test_instances() -> None:
    """`component as alias` declares an instance."""
    applications = parse_applications(["nfs as share-2", "nfs as share-1", "nfs"], make_context())
    assert applications.components == ("nfs",)
    assert list(applications.instances.items()) == [("nfs", "nfs"), ("share-1", "nfs"), ("share-2", "nfs")]


@pytest.mark.requirement("C34", "C36")
def test_bare_and_identity_are_the_same() -> None:
    """A bare `c` is `c as c`."""
    assert parse_applications(["c"], make_context()) == parse_applications(["c as c"], make_context())


@pytest.mark.requirement("C35")
def test_aliases_only() -> None:
    """A component that is used through aliases only has no instance of its own name."""
    applications = parse_applications(["c as x"], make_context())
    assert (applications.components, applications.instances) == (("c",), {"x": "c"})


@pytest.mark.requirement("C37")
@pytest.mark.parametrize("entries", [("c", "c as c"), ("c as c", "c"), ("c as c", "c  as  c"), ("c as x", "c as  x")])
def test_an_instance_twice(entries: tuple[str, str]) -> None:
    """Both `c` and `c as c` is an error that names both spellings."""
    (error,) = errors_of(*entries)
    assert error.code == "CMD-DEP-003"
    assert all(repr(entry) in error.message for entry in entries)
    assert error.hint


@pytest.mark.requirement("C33")
@pytest.mark.parametrize("entries", [("a as x", "b as x"), ("x", "b as x"), ("b as x", "x as x")])
def test_one_name_for_several_components(entries: tuple[str, ...]) -> None:
    """Instance names share one namespace; both users are named."""
    (error,) = errors_of(*entries)
    assert error.code == "CMD-DEP-002"
    assert "'x' is used by several components" in error.message
    assert all(repr(entry.split()[0]) in error.message for entry in entries)


@pytest.mark.requirement("C33")
def test_all_users_of_a_name_are_listed() -> None:
    """Three of them, sorted and quoted."""
    (error,) = errors_of("c as x", "a as x", "b as x")
    assert "'a', 'b' and 'c'" in error.message


@pytest.mark.requirement("C33", "C35")
def test_an_instance_with_the_name_of_an_aliased_component() -> None:
    """`dependencies/c` can hold one component only, also if `c` is used through aliases."""
    (error,) = errors_of("c as x", "d as c")
    assert error.code == "CMD-DEP-005"
    assert "'d as c'" in error.message
    assert "'c as x'" in error.message


@pytest.mark.requirement("C40")
@pytest.mark.parametrize("entries", [("comp-a as comp_a",), ("comp-a", "comp_a"), ("x as comp-a", "y as comp_a")])
def test_twin_keys(entries: tuple[str, ...]) -> None:
    """Names that differ in `-` and `_` only would share one parameters key."""
    (error,) = errors_of(*entries)
    assert error.code == "CMD-DEP-004"
    assert "'comp-a' and 'comp_a'" in error.message
    assert "'comp_a'" in error.message.split("key")[1]


def test_twin_keys_that_are_allowed() -> None:
    collected: list[Event] = []
    applications = parse_applications(
        ["x as comp-a", "x as comp_a"], make_context(collected.append, allowed=["CMD-DEP-004"])
    )
    assert applications.instances == {"comp-a": "x", "comp_a": "x"}
    assert [event.code for event in collected if isinstance(event, Warned)] == ["CMD-DEP-004"]


def test_several_aliases_in_one_entry() -> None:
    """The original calls `a as b as c` an unknown component."""
    (error,) = errors_of("a as b as c")
    assert error.code == "CMD-DEP-001"
    assert "'a as b as c'" in error.message


def test_blanks_around_names_do_not_count() -> None:
    """The original takes `c as  x` for an alias that begins with a blank."""
    assert parse_applications(["  c\tas   x  "], make_context()).instances == {"x": "c"}


@pytest.mark.parametrize(
    "entry",
    [
        "../evil",
        "c as ../../evil",
        "c as /abs",
        "c as a/b",
        "c as .repos",
        "c as -x",
        "c as",
        "as x",
        "c x",
        "c as x y",
        "",
        " ",
        "c as ~x",
        "${c}",
        "pkg.",
        "pkg.../evil",
        "pkg./abs",
        "pkg.-x",
        "pkg.a as b",
    ],
)
def test_names_that_would_leave_their_folder(entry: str) -> None:
    """Path traversal in every spelling; the entry is named."""
    (error,) = errors_of(entry)
    assert error.code == "CMD-NAME-001"
    assert f"(in `applications`: {entry!r})" in error.message
    assert error.hint


def test_capitals_and_quotes_are_told() -> None:
    """Names become paths, to which neither does anything; the published tool takes both."""
    collected: list[Event] = []
    applications = parse_applications(["C", "d as 'X'", "pkg.P"], make_context(collected.append))
    assert (applications.instances, applications.packages) == ({"'X'": "d", "C": "C"}, ("P",))
    assert [event.code for event in collected if isinstance(event, Warned)] == ["CMD-NAME-007"] * 3


def test_an_instance_that_is_included_twice_can_be_allowed() -> None:
    collected: list[Event] = []
    applications = parse_applications(["c", "c as c"], make_context(collected.append, allowed=["CMD-DEP-003"]))
    assert applications.instances == {"c": "c"}
    (warning,) = collected
    assert isinstance(warning, Warned)
    assert (warning.code, "they count once" in warning.hint) == ("CMD-DEP-003", True)


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("cluster", "CMD-NAME-002"),
        ("c as cluster", "CMD-NAME-002"),
        ("lib", "CMD-NAME-002"),
        ("c as libs", "CMD-NAME-002"),
        ("c as a.b", "CMD-NAME-003"),
        ("c as pkg.x", "CMD-NAME-003"),
        ("c as kapitan", "CMD-NAME-005"),
        ("pkg.components", "CMD-NAME-002"),
        ("pkg.defaults", "CMD-NAME-002"),
        ("pkg.global", "CMD-NAME-002"),
        ("pkg.params", "CMD-NAME-002"),
        ("pkg.t-tenant", "CMD-NAME-004"),
    ],
)
def test_reserved_names(entry: str, code: str) -> None:
    assert codes_of(entry) == [code]


def test_everything_wrong_is_reported_at_once() -> None:
    codes = codes_of("../evil", "pkg.global", "a as b as c", "c", "c as c", "d as x", "e as x", "k-1", "k_1")
    assert sorted(codes) == [
        "CMD-DEP-001",
        "CMD-DEP-002",
        "CMD-DEP-003",
        "CMD-DEP-004",
        "CMD-NAME-001",
        "CMD-NAME-002",
    ]


@pytest.mark.requirement("C21")
def test_packages_are_discovered_alone() -> None:
    """While packages are still being found, what is wrong with components does not matter yet."""
    assert discover_packages(["c", "c as c", "../evil", "pkg.b", "pkg.a"], make_context()) == ("a", "b")
    with pytest.raises(InputError):
        discover_packages(["pkg.global"], make_context())


NAMES = st.sampled_from(["a", "b", "c", "a-b", "a_b", "x"])


def entries() -> Iterator[st.SearchStrategy[str]]:
    yield NAMES
    yield st.tuples(NAMES, NAMES).map(" as ".join)
    yield NAMES.map("pkg.{}".format)


@pytest.mark.requirement("C33", "C37", "C40")
@given(st.lists(st.one_of(*entries()), unique=True))
def test_what_is_accepted_is_unambiguous(given_entries: list[str]) -> None:
    """Whatever is accepted gives each instance one component, one folder and one parameters key."""
    try:
        applications = parse_applications(given_entries, make_context())
    except CommodoreError:
        return
    components = [entry for entry in given_entries if not entry.startswith("pkg.")]
    assert len(applications.instances) == len(components)
    folders = {**{component: component for component in applications.components}, **applications.instances}
    assert all(folders[component] == component for component in applications.components)
    assert len({name.replace("-", "_") for name in folders}) == len(folders)
    assert parse_applications(reversed(given_entries), make_context()) == applications
