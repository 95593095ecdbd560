"""Checks before a compile, on whole clusters."""

from __future__ import annotations

import pytest

from tests.world.cluster import ClusterWorld


@pytest.mark.requirement("C49", "C51", "C58")
def test_libraries_and_aliases_reach_other_components(world: ClusterWorld) -> None:
    """A library, its alias, and the libraries that commodore brings can be imported by all."""
    world.component(
        "maker",
        {"lib/maker.libsonnet": "{ made: 'by maker' }"},
        metadata={"library_aliases": {"common.libsonnet": "maker.libsonnet"}},
    )
    world.component(
        "user",
        {
            "component/main.jsonnet": """{
              out: (import 'lib/maker.libsonnet') + { alias: (import 'lib/common.libsonnet').made }
                + { builtin: std.objectHas(import 'lib/commodore.libjsonnet', 'inventory') },
            }"""
        },
    )
    result = world.compile()
    assert result.code == 0, result.stderr
    assert world.manifest("user/out.yaml") == {"made": "by maker", "alias": "by maker", "builtin": True}
    folder = world.work / "dependencies" / "lib"
    assert sorted(path.name for path in folder.iterdir()) == ["common.libsonnet", "maker.libsonnet"]


@pytest.mark.requirement("C55")
def test_libraries_declare_no_interface(world: ClusterWorld) -> None:
    """Every file of `lib/` can be imported as it is, on any level and of any kind, with all its fields."""
    world.component(
        "maker",
        {
            "lib/maker-parts/deep/part.libsonnet": "{ _inner:: 'field', part: 1 }",
            "lib/maker-number.json": "[2]",
            "lib/maker.txt": "text",
        },
    )
    world.component(
        "user",
        {
            "component/main.jsonnet": """
              local part = import 'lib/maker-parts/deep/part.libsonnet';
              local more = { number: import 'lib/maker-number.json', text: importstr 'lib/maker.txt' };
              { out: part + more + { inner: part._inner } }
            """
        },
    )
    result = world.compile()
    assert (result.code, result.warnings) == (0, []), result.stderr
    assert world.manifest("user/out.yaml") == {"inner": "field", "number": [2], "part": 1, "text": "text"}


@pytest.mark.requirement("C50", "C52", "C53")
def test_libraries_of_foreign_names(world: ClusterWorld) -> None:
    """All wrong libraries of a run are reported."""
    alias = {"library_aliases": {"b-lib.libsonnet": "a.libsonnet", "shared.libsonnet": "a.libsonnet"}}
    world.component("a", {"lib/a.libsonnet": "{}", "lib/stray.libsonnet": "{}"}, metadata=alias)
    world.component("b", {"lib/b.libsonnet": "{}"}, metadata={"library_aliases": {"shared.libsonnet": "b.libsonnet"}})
    result = world.compile()
    assert result.code == 1
    assert [error["code"] for error in result.errors[:1]] == ["CMD-DEP-031"]
    text = " ".join(error["message"] for error in result.errors)
    assert len(result.errors) == 3
    assert "'b-lib.libsonnet'" in text
    assert "'shared.libsonnet'" in text


@pytest.mark.requirement("C54")
def test_taking_over_a_deprecated_component(world: ClusterWorld) -> None:
    """The new component may publish libraries under the old one's name; the old one's notice is shown once."""
    world.component(
        "old",
        metadata={
            "deprecated": True,
            "replaced_by": "new",
            "multi_instance": True,
            "deprecation_notice": "See https://example.com/why.",
        },
    )
    world.component(
        "new",
        {"lib/new.libsonnet": "{ a: 1 }"},
        metadata={"replaces": "old", "library_aliases": {"old.libsonnet": "new.libsonnet"}},
    )
    world.applications.append("old as older")
    result = world.compile()
    assert result.code == 0, result.stderr
    notices = [event["message"] for event in result.events if event["event"] == "Notice"]
    assert notices == ["Component old is deprecated. Use component new instead. See https://example.com/why."]


def test_removed_features(world: ClusterWorld) -> None:
    """Settings that would be ignored silently are refused, with their place."""
    world.component("app")
    world.parameters["component_versions"] = {"app": {"version": "v1"}}
    result = world.compile()
    assert (result.code, result.error["code"]) == (1, "CMD-DEP-050")


def test_removed_variables(world: ClusterWorld) -> None:
    """All of them are reported, in component classes and in the configuration, before anything is rendered."""
    world.component("app", customer="${customer:name}", cloud="${cloud:provider}")
    result = world.compile()
    assert result.code == 1
    assert {error["code"] for error in result.errors} == {"CMD-INV-008"}
    assert len(result.errors) == 2
    world.tenant_parameters = {"distribution": "${cluster:dist}"}
    result = world.compile()
    assert result.code == 1
    assert "c-one.yml" in result.error["locations"][0]["place"]
