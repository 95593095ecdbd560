"""Libraries that components publish for each other, under their own names and under aliases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import commodore
from commodore.base.errors import CommodoreError, PolicyError
from commodore.base.events import Event, Warned
from commodore.core.dependencies import ComponentMetadata, LibraryOwner, resolve_libraries
from commodore.core.dependencies.libraries import OWN_LIBRARIES, has_prefix
from tests.world.context import make_context


def owner(root: Path, component: str, *entries: str, sub: str = "", **metadata: Any) -> LibraryOwner:
    checkout = root / component
    directory = checkout / sub
    (directory / "lib").mkdir(parents=True)
    for entry in entries:
        (directory / "lib" / entry).write_text("{}")
    return LibraryOwner(component, directory, checkout, ComponentMetadata(**metadata))


def resolve(*owners: LibraryOwner) -> tuple[dict[str, Path], list[CommodoreError], list[Event]]:
    collected: list[Event] = []
    links, errors = resolve_libraries(owners, make_context(announce=collected.append))
    again, _ = resolve_libraries(list(reversed(owners)), make_context(announce=collected.append))
    assert list(again.items()) == list(links.items())  # whatever the order
    return links, errors, collected[: len(collected) // 2]


def names(*owners: LibraryOwner) -> list[str]:
    links, errors, _ = resolve(*owners)
    assert errors == []
    return list(links)


def codes(*owners: LibraryOwner) -> list[str]:
    _, errors, _ = resolve(*owners)
    return [error.code for error in errors]


class TestOwnLibraries:
    def test_all_of_them_are_known(self) -> None:
        names = {path.name for path in (Path(commodore.__file__).parent / "lib").iterdir()}
        assert names | {"kapitan.libjsonnet"} == OWN_LIBRARIES

    @pytest.mark.parametrize("name", ["commodore.libjsonnet", "kube.libjsonnet", "kapitan.libjsonnet"])
    def test_none_takes_their_place(self, tmp_path: Path, name: str) -> None:
        """Neither by an alias, nor by the name of the component."""
        assert codes(owner(tmp_path, "foo", "foo.libsonnet", library_aliases={name: "foo.libsonnet"})) == [
            "CMD-DEP-052"
        ]
        assert codes(owner(tmp_path, name.partition(".")[0], name)) == ["CMD-DEP-052"]


class TestNames:
    @pytest.mark.requirement("C49")
    def test_all_files_and_folders_of_lib_are_published(self, tmp_path: Path) -> None:
        """Files in `lib/` can be imported by all components; hidden ones stay private."""
        foo = owner(tmp_path, "foo", "foo.libsonnet", "foo-x.libjsonnet", "foo.txt", ".hidden", sub="sub")
        (foo.directory / "lib" / "foo-folder").mkdir()
        links, errors, _ = resolve(foo, owner(tmp_path, "bar", "bar.libsonnet"))
        assert errors == []
        assert list(links) == ["bar.libsonnet", "foo-folder", "foo-x.libjsonnet", "foo.libsonnet", "foo.txt"]
        assert links["foo.libsonnet"] == tmp_path / "foo/sub/lib/foo.libsonnet"

    def test_without_a_lib_folder(self, tmp_path: Path) -> None:
        assert names(LibraryOwner("foo", tmp_path, tmp_path, ComponentMetadata())) == []
        assert names() == []

    @pytest.mark.requirement("C50")
    @pytest.mark.parametrize("entry", ["bar.libsonnet", "foox.libsonnet", "foo2.libsonnet", "x-foo.libsonnet", "fo"])
    def test_a_library_carries_its_components_name(self, tmp_path: Path, entry: str) -> None:
        """And the name must end where a word ends: `foox` is not `foo`."""
        (error,) = resolve(owner(tmp_path, "foo", entry))[1]
        assert error.code == "CMD-DEP-031"
        assert repr(entry) in error.message
        assert "'foo'" in error.message
        assert str(error.locations[0]) == str(tmp_path / "foo/lib" / entry)

    @pytest.mark.parametrize("entry", ["foo.libsonnet", "foo-x.libsonnet", "foo_x.libsonnet", "foo.x.libsonnet", "foo"])
    def test_good_names(self, tmp_path: Path, entry: str) -> None:
        assert names(owner(tmp_path, "foo", entry)) == [entry]

    @pytest.mark.requirement("C50")
    def test_a_library_of_another_component(self, tmp_path: Path) -> None:
        """With `foo-bar` deployed, `foo-bar-x` is its name and not one of `foo`."""
        (error,) = resolve(owner(tmp_path, "foo", "foo-bar-x.libsonnet"), owner(tmp_path, "foo-bar"))[1]
        assert error.code == "CMD-DEP-032"
        assert "component 'foo-bar'" in error.message
        assert names(owner(tmp_path / "alone", "foo", "foo-bar-x.libsonnet")) == ["foo-bar-x.libsonnet"]

    def test_the_longest_name_counts(self, tmp_path: Path) -> None:
        """`foo-bar` may use its own name although that begins with `foo` too."""
        published = ("foo-bar.libsonnet", "foo-bar-x.libsonnet")
        aliases = {"foo-bar-y.libsonnet": "foo-bar.libsonnet"}
        bar = owner(tmp_path, "foo-bar", *published, library_aliases=aliases)
        assert names(owner(tmp_path, "foo", "foo-baz.libsonnet"), bar) == [
            "foo-bar-x.libsonnet",
            "foo-bar-y.libsonnet",
            "foo-bar.libsonnet",
            "foo-baz.libsonnet",
        ]

    @pytest.mark.parametrize(
        ("text", "name", "result"),
        [
            ("foo", "foo", True),
            ("foo-x", "foo", True),
            ("foo.x", "foo", True),
            ("foo_x", "foo", True),
            ("foox", "foo", False),
            ("foo1", "foo", False),
            ("fo", "foo", False),
            ("xfoo", "foo", False),
        ],
    )
    def test_prefixes_end_at_words(self, text: str, name: str, result: bool) -> None:
        assert has_prefix(text, name) is result


class TestLinks:
    @pytest.mark.parametrize("target", ["/etc/passwd", "../../outside", "../../foobar/x", "../..", "loop"])
    def test_a_library_that_leads_out(self, tmp_path: Path, target: str) -> None:
        """A library may be a link to any file of the machine."""
        foo = owner(tmp_path, "foo")
        (foo.directory / "lib" / "foo.libsonnet").symlink_to(target if target != "loop" else "foo.libsonnet")
        (error,) = resolve(foo)[1]
        assert isinstance(error, PolicyError)
        assert error.code == "CMD-DEP-030"
        assert "'foo.libsonnet'" in error.message

    def test_a_lib_folder_that_leads_out(self, tmp_path: Path) -> None:
        (tmp_path / "host").mkdir()
        (tmp_path / "host" / "foo.libsonnet").write_text("secret")
        (tmp_path / "foo").mkdir()
        (tmp_path / "foo" / "lib").symlink_to(tmp_path / "host")
        foo = LibraryOwner("foo", tmp_path / "foo", tmp_path / "foo", ComponentMetadata())
        links, errors, _ = resolve(foo)
        assert links == {}
        assert [error.code for error in errors] == ["CMD-DEP-030"]

    def test_links_inside_the_repository(self, tmp_path: Path) -> None:
        foo = owner(tmp_path, "foo", sub="sub")
        (tmp_path / "foo" / "shared.libsonnet").write_text("{}")
        (foo.directory / "lib" / "foo.libsonnet").symlink_to("../../shared.libsonnet")
        assert names(foo) == ["foo.libsonnet"]


class TestAliases:
    @pytest.mark.requirement("C51")
    def test_an_alias_is_another_name(self, tmp_path: Path) -> None:
        """Importing the alias yields the library it stands for."""
        foo = owner(tmp_path, "foo", "foo.libsonnet", library_aliases={"legacy.libsonnet": "foo.libsonnet"})
        links, errors, _ = resolve(foo)
        assert errors == []
        assert links == {
            "foo.libsonnet": tmp_path / "foo/lib/foo.libsonnet",
            "legacy.libsonnet": tmp_path / "foo/lib/foo.libsonnet",
        }

    def test_an_alias_replaces_a_library_of_that_name(self, tmp_path: Path) -> None:
        foo = owner(
            tmp_path, "foo", "foo.libsonnet", "foo-2.libsonnet", library_aliases={"foo.libsonnet": "foo-2.libsonnet"}
        )
        assert resolve(foo)[0]["foo.libsonnet"] == tmp_path / "foo/lib/foo-2.libsonnet"

    @pytest.mark.requirement("C52")
    def test_one_alias_of_two_components(self, tmp_path: Path) -> None:
        """Both are named, even if one of them is wrong for another reason too."""
        owners = [owner(tmp_path, name, f"{name}.l", library_aliases={"x.l": f"{name}.l"}) for name in ("b", "a", "c")]
        (error,) = resolve(*owners)[1]
        assert error.code == "CMD-DEP-033"
        assert "'x.l' is published by 'a' and 'b' and 'c'" in error.message

    @pytest.mark.requirement("C53")
    @pytest.mark.parametrize("alias", ["foo.libsonnet", "foo-x.libsonnet", "foo"])
    def test_the_name_of_a_deployed_component(self, tmp_path: Path, alias: str) -> None:
        """An alias must not carry the name of another deployed component."""
        bar = owner(tmp_path, "bar", "bar.l", library_aliases={alias: "bar.l"})
        (error,) = resolve(owner(tmp_path, "foo"), bar)[1]
        assert error.code == "CMD-DEP-035"
        assert "'bar'" in error.message
        assert "'foo'" in error.message

    @pytest.mark.requirement("C53")
    @pytest.mark.parametrize("alias", ["foo.libsonnet", "foo-x.libsonnet"])
    def test_the_name_of_a_component_that_is_not_deployed(self, tmp_path: Path, alias: str) -> None:
        """ADR 0005: only deployed components count."""
        assert alias in names(owner(tmp_path, "bar", "bar.l", library_aliases={alias: "bar.l"}))

    def test_the_alias_of_a_longer_word(self, tmp_path: Path) -> None:
        """ADR 0005: `foox` is not the name `foo`."""
        bar = owner(tmp_path, "bar", "bar.l", library_aliases={"foox.libsonnet": "bar.l"})
        assert "foox.libsonnet" in names(owner(tmp_path, "foo"), bar)

    @pytest.mark.parametrize(
        ("alias", "library"),
        [
            ("../../../x.libsonnet", "foo.l"),
            ("/abs.libsonnet", "foo.l"),
            ("a/b.libsonnet", "foo.l"),
            ("..", "foo.l"),
            (".", "foo.l"),
            ("", "foo.l"),
            (".hidden", "foo.l"),
            ("-x.l", "foo.l"),
            ("x.l\n", "foo.l"),
            ("a b.l", "foo.l"),
            ("a\0b.l", "foo.l"),
            ("x.l", "../../../etc/passwd"),
            ("x.l", "/etc/passwd"),
            ("x.l", "sub/foo.l"),
            ("x.l", ".hidden"),
            ("x.l", "."),
        ],
    )
    def test_paths_are_no_aliases(self, tmp_path: Path, alias: str, library: str) -> None:
        """Path traversal in every spelling, on both sides."""
        foo = owner(tmp_path, "foo", "foo.l", ".hidden", library_aliases={alias: library})
        links, errors, _ = resolve(foo)
        assert list(links) == ["foo.l"]
        assert [error.code for error in errors] == ["CMD-DEP-034"]
        assert isinstance(errors[0], PolicyError)

    def test_a_library_that_does_not_exist(self, tmp_path: Path) -> None:
        """The original only warns and goes on."""
        foo = owner(tmp_path, "foo", "foo-lib.l", library_aliases={"x.l": "foo-lbi.l"})
        (error,) = resolve(foo)[1]
        assert error.code == "CMD-DEP-036"
        assert error.hint == "did you mean 'foo-lib.l'?; --allow CMD-DEP-036 makes it a warning"
        assert codes(owner(tmp_path / "2", "foo", library_aliases={"x.l": "y.l"})) == ["CMD-DEP-036"]

    def test_everything_wrong_is_reported_at_once(self, tmp_path: Path) -> None:
        a = owner(tmp_path, "a", "z.l", "a.l", library_aliases={"b.l": "a.l", "../x": "a.l", "q.l": "nothing.l"})
        b = owner(tmp_path, "b", "b.l", library_aliases={"q.l": "b.l"})
        assert sorted(codes(a, b)) == ["CMD-DEP-031", "CMD-DEP-033", "CMD-DEP-034", "CMD-DEP-035", "CMD-DEP-036"]


@pytest.mark.requirement("C54")
class TestTakeover:
    """A component may use another's name if it replaces c1, and c1 is not deployed or is deprecated in favour of c2."""

    def resolve(self, root: Path, *, replaces: bool, deployed: bool, **c1: Any) -> tuple[list[str], list[Event]]:
        aliases = {"c1.libsonnet": "c2.libsonnet"}
        owners = [
            owner(root, "c2", "c2.libsonnet", library_aliases=aliases, replaces="c1" if replaces else ""),
            *([owner(root, "c1", "c1.libsonnet", **c1)] if deployed else []),
        ]
        links, errors, collected = resolve(*owners)
        if not errors:
            assert links["c1.libsonnet"] == root / "c2/lib/c2.libsonnet"
        return [error.code for error in errors], collected

    @pytest.mark.requirement("C54")
    def test_replaces_and_not_deployed(self, tmp_path: Path) -> None:
        assert self.resolve(tmp_path, replaces=True, deployed=False) == ([], [])

    @pytest.mark.requirement("C54")
    def test_replaces_and_nominated(self, tmp_path: Path) -> None:
        """The other one is deployed, deprecated and names it."""
        resolved = self.resolve(tmp_path, replaces=True, deployed=True, deprecated=True, replaced_by="c2")
        assert resolved == ([], [])

    @pytest.mark.requirement("C54")
    @pytest.mark.parametrize(
        ("c1", "reason"),
        [
            ({}, "is not deprecated"),
            ({"replaced_by": "c2"}, "is not deprecated"),
            ({"deprecated": True}, "does not name 'c2'"),
            ({"deprecated": True, "replaced_by": "c3"}, "does not name 'c2'"),
        ],
    )
    def test_replaces_but_not_nominated(self, tmp_path: Path, c1: dict[str, Any], reason: str) -> None:
        """The other one is deployed and not deprecated; the warning says why."""
        resolved, collected = self.resolve(tmp_path, replaces=True, deployed=True, **c1)
        assert resolved == ["CMD-DEP-035"]
        (warning,) = collected
        assert isinstance(warning, Warned)
        assert warning.code == "CMD-DEP-037"
        assert reason in warning.message

    @pytest.mark.requirement("C54")
    def test_nominated_but_does_not_replace(self, tmp_path: Path) -> None:
        """It does not say `replaces`."""
        resolved = self.resolve(tmp_path, replaces=False, deployed=True, deprecated=True, replaced_by="c2")
        assert resolved == (["CMD-DEP-035"], [])

    @pytest.mark.requirement("C50")
    def test_only_aliases_are_taken_over(self, tmp_path: Path) -> None:
        """A component that replaces another one follows the rule, too: its own files have its own name."""
        assert codes(owner(tmp_path, "c2", "c1.libsonnet", replaces="c1")) == ["CMD-DEP-031"]

    @pytest.mark.requirement("C52", "C54")
    def test_both_publish_the_alias(self, tmp_path: Path) -> None:
        """Replacing a component does not allow one alias twice."""
        c1 = owner(tmp_path, "c1", "c1-2.l", deprecated=True, replaced_by="c2", library_aliases={"c1.l": "c1-2.l"})
        c2 = owner(tmp_path, "c2", "c2.l", replaces="c1", library_aliases={"c1.l": "c2.l"})
        assert codes(c1, c2) == ["CMD-DEP-033"]
