"""The planner over generated worlds: what holds whatever Applications, Stages, Freights and Promotions there are."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from commodore.base.documents import plain
from commodore.base.kubernetes.images import read_image
from commodore.observe import Decision
from tests.observe.conftest import plan
from tests.world.kargo import (
    NOW,
    Object,
    application,
    at,
    digest,
    freight,
    images_of,
    promotion,
    recorded,
    request,
    stage,
    warehouse,
)

REPOSITORIES = ("web", "db", "job")
TAGS = st.sampled_from(["1", "2", f"2@{digest('x')}", f"2@{digest('y')}", "3"])
PHASES = st.sampled_from(["Running", *["Succeeded", "Failed", "Errored", "Aborted"] * 3])
WORDS = st.sampled_from(["a", "b", "c", "d"])


def mostly(usual: Any, *others: Any) -> st.SearchStrategy[Any]:
    """The usual value in most cases, so that many worlds reach a Promotion."""
    return st.sampled_from([*[usual] * (6 * len(others)), *others])


@st.composite
def applications(draw: st.DrawFn, number: int, running: dict[str, str]) -> Object:
    names = draw(st.sets(st.sampled_from(REPOSITORIES), min_size=1))
    images = [(name, draw(mostly(running[name], "1", "9"))) for name in sorted(names)]
    return application(
        f"app{number}",
        stage=draw(mostly("shop:prod,shop:test", "shop:prod", "shop:test", "broken", "shop:gone")),
        images=[f"registry.example.com/shop/{name}:{tag}" for name, tag in images],
        sync=draw(mostly("Synced", "OutOfSync")),
        health=draw(mostly("Healthy", "Progressing")),
        synced=draw(mostly(1, 25, 100, None)),
        annotations=draw(mostly({}, {"observe.commodore.dev/ignore": "true"})),
    )


@st.composite
def contents(draw: st.DrawFn, running: dict[str, str]) -> dict[str, Any]:
    names = draw(st.sets(st.sampled_from(REPOSITORIES), min_size=1))
    tags = {name: draw(st.one_of(st.just(running[name]), st.just(running[name]), TAGS)) for name in sorted(names)}
    commits = draw(mostly([], [{"repoURL": "r", "id": "c1"}], [{"repoURL": "r", "id": "c2"}]))
    return {"images": images_of(**tags), **({"commits": commits} if commits else {})}


@st.composite
def worlds(draw: st.DrawFn) -> list[Object]:
    """Two Stages, two Warehouses, and some of everything else."""
    origins = ("web", "other")
    running = {name: draw(TAGS) for name in REPOSITORIES}
    objects: list[Object] = [draw(applications(number, running)) for number in range(draw(st.integers(1, 2)))]
    for origin in origins:
        subscribed = draw(st.sets(st.sampled_from(REPOSITORIES), min_size=1))
        objects.append(warehouse(origin, repositories=sorted(subscribed)))
    freights = {
        word: freight(
            word,
            warehouse=draw(st.sampled_from(origins)),
            discovered=draw(st.integers(1, 99)),
            **draw(contents(running)),
        )
        for word in sorted(draw(st.sets(WORDS, min_size=2)))
    }
    objects += freights.values()
    for name in ("prod", "test"):
        history = [
            recorded(
                "old",
                warehouse=origin,
                images=images_of(**{repository: draw(mostly("0", "1", "2")) for repository in REPOSITORIES}),
            )
            for origin in origins
            if draw(st.booleans())
        ]
        objects.append(
            stage(
                name,
                requests=[request(origin) for origin in origins],
                history=history,
                last=draw(st.sampled_from([None, (30, "a"), (90, "b")])),
                verifications=draw(mostly([], ["Running"], ["Successful"])),
                autoPromotionEnabled=draw(mostly(False, True)),
            )
        )
    for number, word in enumerate(draw(st.lists(WORDS, max_size=2))):
        stage_name = draw(st.sampled_from(["prod", "test"]))
        objects.append(promotion(word, draw(PHASES), ago=20 + number * 7, ours=draw(st.booleans()), stage=stage_name))
    return objects


def made(decision: Decision) -> Object:
    assert decision.verdict.promotion is not None
    return decision.verdict.promotion


def after(objects: Iterable[Object], decisions: Iterable[Decision], phase: str) -> list[Object]:
    """The world in which the Promotions of these decisions have been made."""
    created = [made(decision) for decision in decisions if decision.kind == "promote"]
    return [*objects, *({**copy.deepcopy(item), "status": {"phase": phase, "finishedAt": at(0)}} for item in created)]


@pytest.mark.requirement("O27")
@given(worlds(), st.randoms())
def test_the_order_of_objects_does_not_matter(objects: list[Object], shuffler: random.Random) -> None:
    expected = plain(plan(objects))
    shuffled = list(objects)
    shuffler.shuffle(shuffled)
    assert plain(plan(shuffled)) == expected
    assert plain(plan(copy.deepcopy(objects))) == expected


@pytest.mark.requirement("O9", "O27")
@given(worlds())
def test_a_second_pass_writes_nothing(objects: list[Object]) -> None:
    decisions = plan(objects)
    event(f"promoting {sum(decision.kind == 'promote' for decision in decisions)}")
    assert all((decision.verdict.promotion is not None) is (decision.kind == "promote") for decision in decisions)
    again = plan(after(objects, decisions, ""))
    promoted = {decision.stage for decision in decisions if decision.kind == "promote"}
    assert [item.reason for item in again if item.stage in promoted] == ["PromotionInFlight"] * len(promoted)


@pytest.mark.requirement("O29")
@given(worlds())
def test_nothing_moves_that_runs(objects: list[Object]) -> None:
    """A Freight that is promoted has every drifted version of its origin, and no other version of what runs."""
    by_name = {item["metadata"]["name"]: item for item in objects if item["kind"] == "Freight"}
    for decision in plan(objects):
        if decision.kind != "promote":
            continue
        running = [
            read_image(text)
            for item in objects
            if item["kind"] == "Application"
            and f"{item['metadata']['namespace']}/{item['metadata']['name']}" in decision.applications
            and "observe.commodore.dev/ignore" not in item["metadata"]["annotations"]
            for text in item["status"]["summary"]["images"]
        ]
        for image in by_name[str(decision.verdict.freight)]["images"]:
            tags = {item.version.tag for item in running if item.name == image["repoURL"]}
            assert not tags or image["tag"] in tags


@pytest.mark.requirement("O17")
@given(worlds(), st.sampled_from(["Failed", "Errored", "Aborted"]))
def test_what_failed_is_not_repeated(objects: list[Object], phase: str) -> None:
    decisions = plan(objects)
    tried = {(decision.stage, decision.verdict.freight) for decision in decisions if decision.kind == "promote"}
    later = {
        (item.stage, item.verdict.freight) for item in plan(after(objects, decisions, phase)) if item.kind == "promote"
    }
    assert not tried & later


@pytest.mark.requirement("O34")
@settings(max_examples=30)
@given(worlds(), st.integers(1, 3))
def test_what_is_never_recorded_ends(objects: list[Object], seed: int) -> None:
    """Promotions that succeed without Kargo recording them are not made again and again."""
    for _ in range(10):
        decisions = plan(objects)
        promoting = [decision for decision in decisions if decision.kind == "promote"]
        if not promoting:
            return
        objects = after(objects, promoting, "Succeeded")
    pytest.fail(f"still promoting: {plain(promoting)}")


@given(worlds())
def test_every_decision_says_why(objects: list[Object]) -> None:
    for item in plan(objects, NOW):
        assert item.message
        assert item.steps[-1].decided
        assert item.steps[-1].reason
