"""The Promotion: a name that Kargo records, labels, and all that an older Kargo needs."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.observe.kargo import Stage
from commodore.observe.promotion import label_value, name_time, new_time, promotion_name
from tests.observe.conftest import decide, read
from tests.world import kargo
from tests.world.kargo import NOW, STEPS, drifted, freight_name, promotion, stage


def made(*more: kargo.Object, **options: Any) -> dict[str, Any]:
    promotion = decide(drifted(*more), **options).verdict.promotion
    assert promotion is not None
    return promotion


@pytest.mark.requirement("O12")
def test_the_object() -> None:
    variables = stage(spec={"vars": [{"name": "a", "value": "1"}]})
    variables["spec"]["promotionTemplate"]["spec"]["vars"] = [{"name": "b", "value": "2"}]
    result = made(variables)
    assert (result["apiVersion"], result["kind"]) == ("kargo.akuity.io/v1alpha1", "Promotion")
    assert result["metadata"]["namespace"] == "shop"
    assert result["spec"] == {
        "stage": "prod",
        "freight": freight_name("2"),
        "vars": [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}],
        "steps": STEPS,
    }
    assert "vars" not in made()["spec"]
    observed = json.loads(result["metadata"]["annotations"]["observe.commodore.dev/observed"])
    assert observed["applications"] == ["argocd/web"]
    assert observed["drift"] == [{"repository": kargo.REPOSITORY, "deployed": "2", "recorded": ["1"]}]


@pytest.mark.requirement("O13")
def test_labels() -> None:
    prefix = "kargo-observer.mkutlak.github.io"
    meta = made()["metadata"]
    assert meta["labels"] == {
        "app.kubernetes.io/managed-by": "kargo-argocd-observer",
        f"{prefix}/stage": "prod",
        f"{prefix}/freight": freight_name("2"),
    }
    assert meta["annotations"][f"{prefix}/stage"] == "prod"
    assert "x.example.com/stage" in made(label_prefix="x.example.com")["metadata"]["labels"]


@pytest.mark.requirement("O13")
def test_long_values_of_labels_are_shortened() -> None:
    long = "s" * 64
    assert label_value("s" * 63) == "s" * 63
    assert label_value(long) == f"{'s' * 54}-{hashlib.sha256(long.encode()).hexdigest()[:8]}"
    assert len(label_value("s." * 100)) == 63


def the_stage(**fields: Any) -> Stage:
    (result,) = read([stage(**fields)])
    assert isinstance(result, Stage)
    return result


@pytest.mark.requirement("O23")
def test_the_name_is_of_kargos_form_and_sorts_just_after_the_last_one() -> None:
    before = the_stage(last=(30, "1"))
    assert before.last is not None
    name = promotion_name(before, freight_name("2"), 0)
    assert name.startswith("prod.")
    assert name.endswith(f".{freight_name('2')[:7]}")
    assert name > before.last.name
    time = name_time(name, "prod")
    assert time == NOW - timedelta(minutes=30) + timedelta(milliseconds=1)
    assert name < kargo.promotion_name("prod", 29, "9")


def test_the_name_without_a_last_promotion_has_the_time_of_the_stage() -> None:
    assert new_time(the_stage(last=None)) == NOW - timedelta(minutes=10_000)


@pytest.mark.requirement("O37")
def test_the_name_follows_from_what_was_seen() -> None:
    """Two observers that have seen the same make the same name; another try, Freight or Stage gives another one."""
    item = the_stage()
    names = [
        promotion_name(item, freight_name("2"), 0),
        promotion_name(item, freight_name("2"), 1),
        promotion_name(item, "2" * 7 + freight_name("2")[7:], 0),
        promotion_name(the_stage(last=(29, "1")), freight_name("2"), 0),
    ]
    assert len(set(names)) == len(names)
    assert names[0] == promotion_name(the_stage(), freight_name("2"), 0)


def test_each_try_has_a_name_of_its_own() -> None:
    first = made()
    again = made(promotion("2", "Failed", ago=40, ours=True), promotion("2", ago=35))
    assert again["metadata"]["name"] != first["metadata"]["name"]
    assert again["metadata"]["name"][:-8] != first["metadata"]["name"][:-8]


@pytest.mark.parametrize("stage_name", ["s" * 253, "s" * 217 + ".-" + "s" * 30])
def test_long_stages_are_cut(stage_name: str) -> None:
    name = promotion_name(the_stage(name=stage_name), freight_name("2"), 0)
    assert len(name) <= 253
    short = name.split(".")[0]
    assert not short.endswith(("-", "."))
    assert name_time(name, stage_name) is not None


@given(st.integers(0, 220_000_000_000))
def test_names_carry_their_time_and_sort_by_it(seconds: int) -> None:
    time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds, milliseconds=seconds % 1000)

    def named(moment: datetime) -> str:
        return f"prod.{kargo.ulid_of(moment, 0)}.abcdefa"

    assert name_time(named(time), "prod") == time
    assert named(time) < named(time + timedelta(milliseconds=1))
