"""Anything that counts as one version, and which Freight would move something."""

from __future__ import annotations

import pytest

from tests.observe.conftest import decide
from tests.world.kargo import REPOSITORY, application, digest, drifted, freight, images_of, recorded, stage, warehouse


def test_a_tag_and_its_digest_are_one_version() -> None:
    images = [f"{REPOSITORY}:2", f"{REPOSITORY}:2@{digest('2')}", f"{REPOSITORY}@{digest('2')}"]
    decision = decide(drifted(application(images=images), freight("2", images=images_of(web=f"2@{digest('2')}"))))
    assert decision.reason == "Promote"
    assert [str(item.deployed) for item in decision.drift] == [f"2@{digest('2')}"]


def test_two_digests_of_one_tag_are_two_versions() -> None:
    images = [f"{REPOSITORY}:2@{digest(word)}" for word in ("2", "2b")]
    assert decide(drifted(application(images=images))).reason == "Settling"


@pytest.mark.requirement("O28")
def test_a_digest_that_is_not_the_recorded_one_is_a_drift() -> None:
    running = application(images=[f"{REPOSITORY}:1@{digest('new')}"])
    known = stage(history=[recorded("1", images=images_of(web=f"1@{digest('old')}"))])
    new = freight("1b", images=images_of(web=f"1@{digest('new')}"))
    assert decide(drifted(running, known, new)).verdict.freight == new["metadata"]["name"]


def test_spellings_of_a_repository_are_one() -> None:
    hub = freight("2", images=[{"repoURL": "docker.io/library/nginx", "tag": "2"}])
    subscribed = warehouse(subscriptions=[{"image": {"repoURL": "nginx"}}])
    assert decide(drifted(application(images=["index.docker.io/nginx:2"]), hub, subscribed)).reason == "Promote"


@pytest.mark.requirement("O29")
def test_one_version_in_place_of_two_is_a_conflict() -> None:
    two = warehouse(repositories=("web", "web"))
    running = application(images=[f"{REPOSITORY}:1", f"{REPOSITORY}:2"])
    assert decide(drifted(running, two)).reason == "FreightConflict"


@pytest.mark.requirement("O29")
def test_an_image_that_runs_but_is_not_subscribed_counts_too() -> None:
    running = application(images=[f"{REPOSITORY}:2", "registry.example.com/shop/db:5"])
    assert decide(drifted(running, freight("2", images=images_of(web="2", db="4")))).reason == "FreightConflict"


def test_an_image_that_does_not_run_is_no_conflict() -> None:
    assert decide(drifted(freight("2", images=images_of(web="2", db="4")))).reason == "Promote"
