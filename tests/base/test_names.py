"""Names become folders and class names: what is safe passes, everything else is refused in words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.errors import InputError
from commodore.base.names import (
    RESERVED_CLASSES,
    RESERVED_INSTANCES,
    check_instance_name,
    check_name,
    check_package_name,
    parameter_key,
)


@pytest.mark.parametrize("name", ["a", "0", "cert-manager", "a_b", "a.b", "c-green-test-1234", "x" * 200])
def test_good_names(name: str) -> None:
    assert check_name(name, "component") == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../evil",
        "../../evil",
        "/abs",
        "a/b",
        "a\\b",
        "-option",
        ".hidden",
        "_a",
        "A",
        "ä",
        " a",
        "a ",
        "a b",
        "a\n",
        "a\0b",
        "a\x1b[31m",
        "~a",
        "$HOME",
        "${x}",
        "a:b",
        "٣",  # a digit, but not one of ours
        None,
        3,
        ["a"],
    ],
)
def test_bad_names(name: object) -> None:
    """Path traversal and option injection in every spelling."""
    with pytest.raises(InputError) as error:
        check_name(name, "component")
    assert error.value.code == "CMD-NAME-001"
    assert "cannot be the name of a component" in error.value.message
    assert "lower-case letters" in error.value.hint


@given(st.text(max_size=20))
def test_what_passes_is_one_harmless_path_segment(name: str) -> None:
    try:
        check_name(name, "component")
    except InputError:
        return
    assert re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name)
    assert name not in (".", "..")


def test_messages_do_not_repeat_endless_names() -> None:
    with pytest.raises(InputError) as error:
        check_name("A" * 100_000, "component")
    assert len(error.value.message) < 200


def test_a_name_has_a_limit() -> None:
    with pytest.raises(InputError) as error:
        check_name("a" * 201, "cluster")
    assert error.value.code == "CMD-NAME-006"
    assert "201 characters" in error.value.message
    assert error.value.hint == "use at most 200"
    assert check_name("a" * 200, "cluster")


@pytest.mark.parametrize("name", sorted(RESERVED_INSTANCES))
def test_reserved_instances(name: str) -> None:
    """`cluster` collides with the bootstrap target, `lib` and `libs` with folders."""
    with pytest.raises(InputError) as error:
        check_instance_name(name, "component instance")
    assert error.value.code == "CMD-NAME-002"
    assert repr(name) in error.value.message


def test_an_instance_has_no_dot() -> None:
    """Kapitan turns dots into path separators."""
    with pytest.raises(InputError) as error:
        check_instance_name("a.b", "component instance")
    assert error.value.code == "CMD-NAME-003"


@pytest.mark.parametrize("name", ["kapitan", "components", "packages", "facts", "dynamic-facts", "dynamic_facts"])
def test_an_instance_does_not_take_a_parameter_with_a_meaning(name: str) -> None:
    """Its key would be overwritten: the target of an alias `kapitan` would lose `kapitan.vars`."""
    with pytest.raises(InputError) as error:
        check_instance_name(name, "component")
    assert error.value.code == "CMD-NAME-005"
    assert f"parameters.{parameter_key(name)}" in error.value.message


@pytest.mark.parametrize("name", sorted(RESERVED_CLASSES))
def test_reserved_packages(name: str) -> None:
    with pytest.raises(InputError) as error:
        check_package_name(name)
    assert error.value.code == "CMD-NAME-002"


@pytest.mark.parametrize("name", ["t-x", "t-"])
def test_packages_are_no_tenants(name: str) -> None:
    with pytest.raises(InputError) as error:
        check_package_name(name)
    assert error.value.code == "CMD-NAME-004"


@pytest.mark.parametrize("name", ["t", "tenant", "monitoring", "a.b", "lib", "One", "T-x"])
def test_good_packages(name: str) -> None:
    assert check_package_name(name) == name


@pytest.mark.requirement("C40")
@pytest.mark.parametrize(("name", "key"), [("cert-manager", "cert_manager"), ("a--b-c_d", "a__b_c_d"), ("a.b", "a.b")])
def test_parameter_keys(name: str, key: str) -> None:
    """Every `-` becomes `_`, nothing else changes."""
    assert parameter_key(name) == key
