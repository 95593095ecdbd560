from __future__ import annotations

from typing import Any

import pytest

from commodore.base.kubernetes import ObjectKey, is_well_formed, key_of
from commodore.base.kubernetes.objects import in_order, sort_key

DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "shop", "name": "web"}}


def test_the_key_of_an_object() -> None:
    assert key_of(DEPLOYMENT) == ObjectKey("apps", "Deployment", "shop", "web")
    assert key_of({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}) == (
        ObjectKey("", "Namespace", "", "shop")
    )


def test_the_version_of_the_api_does_not_count() -> None:
    assert key_of(DEPLOYMENT | {"apiVersion": "apps/v1beta1"}) == key_of(DEPLOYMENT)
    assert key_of(DEPLOYMENT | {"apiVersion": "extensions/v1beta1"}) != key_of(DEPLOYMENT)


def test_a_key_reads_like_kubectl() -> None:
    assert str(key_of(DEPLOYMENT)) == "Deployment.apps shop/web"
    assert str(ObjectKey("", "Namespace", "", "shop")) == "Namespace shop"


JUNK: list[Any] = [
    None,
    [],
    "text",
    1,
    {},
    {"metadata": None},
    {"metadata": []},
    {"kind": None, "metadata": {"name": None}},
    {"kind": 1, "apiVersion": 2, "metadata": {"name": ["x"], "namespace": {}}},
]


@pytest.mark.parametrize("document", JUNK)
def test_junk_has_an_empty_key(document: Any) -> None:
    assert key_of(document) == ObjectKey("", "", "", "")
    assert sort_key(document) == ("", "", "")


def test_objects_are_ordered_by_kind_namespace_and_name() -> None:
    def make(kind: str, namespace: str, name: str, mark: int = 0) -> dict[str, Any]:
        return {"kind": kind, "metadata": {"namespace": namespace, "name": name}, "mark": mark}

    ordered = [
        None,
        make("A", "n", "z"),
        make("B", "", "z"),
        make("B", "a", "z"),
        make("B", "b", "a", 2),
        make("B", "b", "a", 1),
        make("B", "b", "b"),
    ]
    assert in_order(reversed(ordered[:4])) == ordered[:4]
    assert in_order([*ordered[4:], *ordered[:4]]) == ordered, "equal keys keep their order"


@pytest.mark.parametrize(
    ("document", "answer"),
    [
        (DEPLOYMENT, True),
        ({"some": "values"}, True),
        ({}, True),
        ({"kind": 1}, False),
        ({"kind": None}, False),
        ({"kind": "A", "metadata": None}, False),
        ({"kind": "A", "metadata": {"name": 1}}, False),
        ({"apiVersion": 1}, False),
        (None, False),
        (["A"], False),
        ("A", False),
    ],
)
def test_well_formed(document: Any, answer: bool) -> None:
    assert is_well_formed(document) is answer
