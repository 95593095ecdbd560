"""Objects from files: several documents, the ones that cannot be read, and content that makes no sense."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
import yaml

from commodore.base.documents import plain
from commodore.base.limits import DEFAULT_LIMITS
from commodore.observe import (
    ObjectText,
    PlanOptions,
    WatchScope,
    annotation_problems,
    build_worlds,
    explain,
    plan_stage,
    read_objects,
)
from commodore.observe.kargo import Application
from tests.world.kargo import NOW, REPOSITORY, Object, application, drifted, freight, promotion, stage


def text_of(*objects: Object) -> str:
    return yaml.safe_dump_all(objects, explicit_start=True)


def planned(*texts: str) -> tuple[list[str], list[str]]:
    """The reasons of the decisions, and the messages of what could not be read."""
    given = read_objects([ObjectText(f"file-{number}", text.encode()) for number, text in enumerate(texts)])
    worlds = build_worlds(given.objects, WatchScope(), holds=None, unreadable=given.unreadable)
    decisions = [plan_stage(world, PlanOptions(), NOW) for world in worlds]
    assert all(list(explain(decision)) and json.dumps(plain(decision)) for decision in decisions)
    return [decision.reason for decision in decisions], [finding.message for finding in given.findings]


@pytest.mark.parametrize("bad", ["kind: [", "a: b: c", "\t- x", "kind: Stage\nmetadata: {name: a", "\x00"])
def test_a_document_that_is_no_yaml_leaves_the_others_alone(bad: str) -> None:
    objects = drifted()
    reasons, findings = planned(text_of(*objects[:2]) + f"---\n{bad}\n" + text_of(*objects[2:]))
    assert reasons == ["Promote"]
    assert len(findings) == 1


def test_a_file_that_is_no_yaml_leaves_the_others_alone() -> None:
    reasons, findings = planned("kind: [", text_of(*drifted()))
    assert (reasons, len(findings)) == (["Promote"], 1)


def test_one_json_text_after_the_other() -> None:
    assert planned("\n".join(json.dumps(item) for item in drifted())) == (["Promote"], [])
    assert planned(json.dumps({"apiVersion": "v1", "kind": "List", "items": drifted()}, indent=1)) == (["Promote"], [])


def test_times_without_quotes() -> None:
    text = text_of(*drifted())
    assert planned(text.replace("'20", "20").replace("Z'", "Z")) == (["Promote"], [])


@pytest.mark.parametrize("text", ["metadata: 7", "spec: []", "status: x"])
def test_an_object_without_a_name_is_told(text: str) -> None:
    _, findings = planned(text_of(*drifted()), f"apiVersion: kargo.akuity.io/v1alpha1\nkind: Promotion\n{text}")
    assert any("it has no name" in finding for finding in findings)


def test_the_first_of_two_equal_ones_counts() -> None:
    reasons, findings = planned(text_of(*drifted()), text_of(application(images=[f"{REPOSITORY}:1"])))
    assert reasons == ["Promote"]
    assert findings == ["Application argocd/web is there twice: the first one counts"]


def test_too_many_images_and_too_many_stages() -> None:
    many = [f"{REPOSITORY}:2", *(f"other:{number}" for number in range(DEFAULT_LIMITS.observed_images))]
    reasons, findings = planned(text_of(*drifted(application(images=many))))
    assert reasons == ["Promote"]
    assert "the others are ignored" in findings[0]
    named = ["shop:prod", *(f"shop:s{number}" for number in range(DEFAULT_LIMITS.authorized_stages))]
    given = read_objects([ObjectText("file", text_of(*drifted(application(stage=",".join(named)))).encode())])
    assert len(build_worlds(given.objects, WatchScope(), holds=None)) == DEFAULT_LIMITS.authorized_stages
    (named_too_often,) = annotation_problems(next(item for item in given.objects if isinstance(item, Application)))
    assert "all entries after the first" in named_too_often.message


@pytest.mark.requirement("O3")
@pytest.mark.parametrize(("value", "problems"), [("True", 1), ("yes", 1), ("", 1), ("true", 0), ("false", 0)])
def test_a_switch_of_another_spelling_is_reported(value: str, problems: int) -> None:
    text = text_of(application(annotations={"kargo-observer.kutlak.cc/ignore": value, "example.com/ignore": "No"}))
    (read,) = read_objects([ObjectText("file", text.encode())]).objects
    assert isinstance(read, Application)
    assert [problem.reason for problem in annotation_problems(read)] == ["AnnotationInvalid"] * problems


ODD: list[Any] = [
    *(None, True, 7, 1.5, "", "x", [], {}, [None], [7], ["x"], [{}], {"a": None}, {"": {}}),
    *("9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "-1h", "shop:prod", "Warehouse/web", "\x00\x1b[31m"),
    *(f"prod.{'7' + 'z' * 25}.abc", "prod.zzz", "zz", "é" * 300, [[[]]], {"name": 7}, {"kind": [], "name": {}}),
]


def everywhere(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places in a value."""
    result = [path] if path else []
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        result += everywhere(inner, (*path, key))
    return result


def changed(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    made = copy.deepcopy(value)
    at = made
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = odd
    return made


def test_no_content_ends_in_a_traceback() -> None:
    """Any field may have any value: it is reported, or it does not matter."""
    objects = [
        *drifted(stage(verifications=["Successful"], autoPromotionEnabled=True, currentPromotion=None)),
        promotion("2", "Failed", ago=20, ours=True),
        freight(
            "3",
            status={
                "verifiedIn": {"prod": {"longestSoak": "1h"}},
                "currentlyIn": {"prod": {"since": "2026-01-01T00:00:00Z"}},
            },
        ),
    ]
    places = everywhere(objects)
    chosen = random.Random(18)
    for path in places:
        if len(path) > 1:
            for odd in chosen.sample(ODD, 3):
                planned(json.dumps({"apiVersion": "v1", "kind": "List", "items": changed(objects, path, odd)}))
