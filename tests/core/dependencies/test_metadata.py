"""`_metadata`: what components say about themselves."""

from __future__ import annotations

from typing import Any

import pytest

from commodore.base.errors import InputError
from commodore.core.dependencies import ComponentMetadata, check_alias, deprecation_notices, read_metadata


def parameters(metadata: Any) -> dict[str, Any]:
    return {"my_component": {"_metadata": metadata, "multi_instance": True}}


def error_of(metadata: Any) -> InputError:
    with pytest.raises(InputError) as raised:
        read_metadata(parameters(metadata), "my-component")
    return raised.value


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"my_component": None},
        {"my_component": "text"},
        {"my_component": {}},
        {"my_component": {"_metadata": None}},
        {"my_component": {"_metadata": {}}},
        {"my-component": {"_metadata": {"multi_instance": True}}},
        {"my_component": {"multi_instance": True}},
    ],
)
def test_no_metadata(given: dict[str, Any]) -> None:
    """A missing key does not end in a traceback. The old top-level `multi_instance` does not count."""
    assert read_metadata(given, "my-component") == ComponentMetadata()


@pytest.mark.requirement("C40")
def test_all_fields() -> None:
    """The key is the name with every `-` as `_`."""
    metadata = {
        "multi_instance": True,
        "multi_version": True,
        "deprecated": True,
        "replaced_by": "other",
        "deprecation_notice": "Read https://example.com",
        "replaces": "older",
        "library_aliases": {"a.libsonnet": "b.libsonnet"},
        "unknown": 1,
    }
    assert read_metadata(parameters(metadata), "my-component") == ComponentMetadata(
        multi_instance=True,
        multi_version=True,
        deprecated=True,
        replaced_by="other",
        deprecation_notice="Read https://example.com",
        replaces="older",
        library_aliases={"a.libsonnet": "b.libsonnet"},
    )


@pytest.mark.parametrize("metadata", [[], "x", True])
def test_it_must_be_a_map(metadata: Any) -> None:
    error = error_of(metadata)
    assert error.code == "CMD-DEP-020"
    assert "parameters.my_component._metadata" in error.message


@pytest.mark.parametrize("aliases", [["a"], "a", {"a": 1}, {1: "a"}, {"a": None}])
def test_aliases_map_texts_to_texts(aliases: Any) -> None:
    assert error_of({"library_aliases": aliases}).code == "CMD-DEP-021"


@pytest.mark.parametrize("key", ["replaced_by", "deprecation_notice", "replaces"])
def test_texts(key: str) -> None:
    error = error_of({key: ["x"]})
    assert error.code == "CMD-DEP-022"
    assert f"_metadata.{key} must be a string" in error.message
    assert read_metadata(parameters({key: None}), "my-component") == ComponentMetadata()


@pytest.mark.parametrize("key", ["multi_instance", "multi_version", "deprecated"])
@pytest.mark.parametrize(("value", "taken"), [("yes", True), ("false", True), (1, True), ("", False), ([], False)])
def test_switches(key: str, value: Any, taken: bool) -> None:
    """`yes` is text in reclass's YAML. It is read as in syn-commodore, with a warning."""
    metadata = read_metadata(parameters({key: value}), "my-component")
    assert getattr(metadata, key) is taken
    (doubt,) = metadata.doubts
    assert doubt.code == "CMD-DEP-025"
    assert f"_metadata.{key} should be true or false, not {value!r}" in doubt.message
    assert read_metadata(parameters({key: False}), "my-component") == ComponentMetadata()


class TestCheckAlias:
    def codes(self, instance: str, metadata: ComponentMetadata, own: ComponentMetadata, overrides: bool) -> list[str]:
        return [error.code for error in check_alias(instance, "c", metadata, own, overrides)]

    MANY = ComponentMetadata(multi_instance=True)
    BOTH = ComponentMetadata(multi_instance=True, multi_version=True)

    @pytest.mark.requirement("C32")
    def test_another_name_needs_multi_instance(self) -> None:
        """An alias is allowed only with `_metadata.multi_instance: true`."""
        assert self.codes("x", self.MANY, self.MANY, False) == []
        (error,) = check_alias("x", "c", ComponentMetadata(), self.MANY, False)
        assert error.code == "CMD-DEP-023"
        assert "'c'" in error.message
        assert "'x'" in error.message
        assert "multi_instance: true" in error.hint

    @pytest.mark.requirement("C36")
    def test_the_own_name_needs_nothing(self) -> None:
        """`c as c` is allowed even without multi-instance support."""
        assert self.codes("c", ComponentMetadata(), ComponentMetadata(), True) == []

    @pytest.mark.parametrize(
        ("metadata", "own", "overrides", "codes"),
        [
            (BOTH, BOTH, True, []),
            (BOTH, MANY, True, ["CMD-DEP-024"]),
            (MANY, BOTH, True, ["CMD-DEP-024"]),
            (MANY, MANY, True, ["CMD-DEP-024"]),
            (MANY, MANY, False, []),
            (ComponentMetadata(), ComponentMetadata(), True, ["CMD-DEP-023", "CMD-DEP-024"]),
        ],
    )
    def test_a_version_of_its_own_needs_multi_version(
        self, metadata: ComponentMetadata, own: ComponentMetadata, overrides: bool, codes: list[str]
    ) -> None:
        """In the bootstrap target and in the instance's own."""
        assert self.codes("x", metadata, own, overrides) == codes


class TestDeprecationNotices:
    def test_one_notice_for_each_component(self) -> None:
        """Empty fields leave no hole, what is not deprecated says nothing."""
        given = {
            "a": {"_metadata": {"deprecated": True}},
            "b_c": {"_metadata": {"deprecated": True, "replaced_by": "d", "deprecation_notice": "See https://x.y"}},
            "e": {"_metadata": {"deprecated": True, "replaced_by": "", "deprecation_notice": ""}},
            "f": {"_metadata": {"deprecated": False, "deprecation_notice": "not yet"}},
            "h": {"_metadata": {"deprecated": True, "deprecation_notice": "Gone soon."}},
        }
        assert deprecation_notices(given, ("a", "b-c", "e", "f", "g", "h")) == (
            "Component a is deprecated.",
            "Component b-c is deprecated. Use component d instead. See https://x.y",
            "Component e is deprecated.",
            "Component h is deprecated. Gone soon.",
        )
