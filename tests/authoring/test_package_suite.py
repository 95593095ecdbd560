"""`package test`, as authors and CI run it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.authoring.suite_world import run, snapshot, write
from tests.world.cluster import ClusterWorld
from tests.world.repos import GitCalls


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package that includes the component c-one, with two cases of which one adds an instance."""
    world = ClusterWorld(tmp_path)
    remote = world.component("c-one", data={"answer": "42"}, metadata={"multi_instance": True})
    folder = tmp_path / "package-demo"
    common = {
        "applications": ["c-one"],
        "parameters": {"components": {"c-one": {"url": remote.url, "version": "master"}}},
    }
    write(
        folder,
        {
            "common.yml": common,
            "tests/defaults.yml": {"classes": ["..common"]},
            "tests/second.yml": {"classes": ["..common"], "applications": ["c-one as second"]},
        },
    )
    return folder


def test_a_life_of_golden_trees(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = snapshot(package)
    first = run("package", "test", str(package))
    assert (first.code, first.statuses) == (0, {"defaults": "ok", "second": "ok"}), first.stderr
    assert snapshot(package) == before

    made = run("package", "test", str(package), "--update")
    assert made.statuses == {"defaults": "updated", "second": "updated"}
    golden = package / "tests" / "golden"
    assert list(snapshot(golden)) == [
        "defaults/c-one/c-one/config.yaml",
        "second/c-one/c-one/config.yaml",
        "second/second/second/config.yaml",
    ]

    write(package, {"tests/defaults.yml": {"classes": ["..common"], "parameters": {"c_one": {"data": {"new": "x"}}}}})
    write(package, {"tests/wrong.yml": {"classes": ["..nowhere"]}})
    calls = GitCalls(tmp_path / "calls", monkeypatch)
    broken = run("package", "test", str(package), "--case", "defaults", "--case", "second", "--case", "wrong")
    assert broken.code == 1
    assert broken.statuses == {"defaults": "differs", "second": "ok", "wrong": "failed"}
    assert (calls.count("ls-remote"), calls.count("fetch")) == (1, 0)  # one component, in two cases
    (difference,) = broken.cases["defaults"]["differences"]
    assert [line for line in difference["lines"] if line[0] in "+-"] == ["+  new: x"]
    assert [error["code"] for error in broken.cases["wrong"]["errors"]] == ["CMD-INV-002"]


def test_references_and_facts(package: Path) -> None:
    own = {"data": {"secret": "?{vaultkv:t/c/key}", "cloud": "${facts:cloud}"}, "lost": "?{vaultkv:t/c/lost}"}
    write(package, {"tests/second.yml": None})
    write(package, {"tests/defaults.yml": {"classes": ["..common"], "parameters": {"c_one": own}}})
    result = run("package", "test", str(package), "--update", "--fact", "cloud=moon")
    assert result.statuses == {"defaults": "updated"}, result.stdout
    (text,) = snapshot(package / "tests" / "golden").values()
    assert b"cloud: moon" in text
    findings = [(finding["code"], "t/c/lost" in finding["message"]) for finding in result.cases["defaults"]["findings"]]
    assert findings == [("CMD-TEST-021", False), ("CMD-TEST-023", True)]


def test_a_wrong_case(package: Path) -> None:
    result = run("package", "test", str(package), "--case", "secnd")
    assert (result.code, result.error["code"], result.error["hint"]) == (2, "CMD-TEST-001", "did you mean 'second'?")
