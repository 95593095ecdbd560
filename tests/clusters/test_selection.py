"""The clusters that are compiled, in waves and shards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.errors import CommodoreError, UsageError
from commodore.clusters import ClusterSelection, Shard, allow_failures, canary, parse_fact, read_cluster_files
from commodore.clusters.selection import Candidate
from commodore.clusters.waves import ALL_CLUSTERS, Amount, Match, Wave, assign, check_waves
from tests.world import lieutenant
from tests.world.context import make_context

KNOWN = [
    Candidate("c-1", "One", "t-a", {"region": "eu-1", "canary": True}),
    Candidate("c-2", "Two", "t-a", {"region": "eu-2"}),
    Candidate("c-3", "Three", "t-b", {"region": "us-1", "size": 3}),
]


def chosen(**selection: tuple[object, ...]) -> list[str]:
    return [item.id for item in ClusterSelection(**selection).choose(KNOWN)]  # type: ignore[arg-type]


@pytest.mark.requirement("FC1")
def test_what_chooses_clusters() -> None:
    assert chosen() == ["c-1", "c-2", "c-3"]
    assert chosen(ids=("c-3", "c-1")) == ["c-1", "c-3"]
    assert chosen(tenants=("t-b",)) == ["c-3"]
    assert chosen(facts=(("region", "eu-*"),), exclude=("c-2",)) == ["c-1"]
    assert chosen(facts=(("canary", "true"),)) == ["c-1"]
    assert chosen(facts=(("size", "3"),)) == ["c-3"]


def test_what_chooses_nothing() -> None:
    with pytest.raises(CommodoreError) as error:
        chosen(ids=("c-4",))
    assert error.value.code == "CMD-FLT-100"
    assert "did you mean" in error.value.hint
    for selection, said in (
        ({"tenants": ("t-a", "t-c")}, "no cluster has the tenant 't-c'"),
        ({"facts": (("reggion", "eu-1"),)}, "no cluster has a fact 'reggion'"),
        ({"facts": (("region", "eu-3"),)}, "no cluster has the fact region with the value 'eu-3'"),
        ({"tenants": ("t-b",), "facts": (("region", "eu-1"),)}, "none of 3 clusters is chosen"),
    ):
        with pytest.raises(CommodoreError) as error:
            chosen(**selection)  # type: ignore[arg-type]
        assert (error.value.code, error.value.message) == ("CMD-FLT-101", said)
        assert error.value.hint
    with pytest.raises(CommodoreError) as error:
        Candidate.of({"id": "../c-1"})
    assert error.value.code == "CMD-NAME-001"


@pytest.mark.requirement("FC6")
@given(st.sets(st.text("abc-123", min_size=1, max_size=12), max_size=20), st.integers(1, 7))
def test_each_cluster_is_in_one_shard(names: set[str], of: int) -> None:
    shards = [Shard.parse(f"{index}/{of}") for index in range(1, of + 1)]
    for name in names:
        assert sum(shard.holds(name) for shard in shards) == 1


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "a/b", "1/2/3", "-1/2"])
def test_malformed_shards(text: str) -> None:
    with pytest.raises(CommodoreError) as error:
        Shard.parse(text)
    assert error.value.code == "CMD-FLT-116"


def ids(waves: tuple[Wave, ...]) -> dict[str, list[str]]:
    return {wave.name: [item.id for item in ones] for wave, ones in assign(KNOWN, waves)}


def test_shortcuts() -> None:
    assert ids(canary("c-3,c-1")) == {"canary": ["c-1", "c-3"], "rest": ["c-2"]}
    assert [len(item) for item in ids(canary("1")).values()] == [1, 2]
    assert [len(item) for item in ids(canary("70%")).values()] == [2, 1]
    assert ids(ALL_CLUSTERS) == {"all": ["c-1", "c-2", "c-3"]}
    assert ids(canary("2")) == ids(canary("2"))


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (lambda: canary(","), "CMD-FLT-121"),
        (lambda: canary("0"), "CMD-FLT-121"),
        (lambda: canary("0%"), "CMD-FLT-121"),
        (lambda: canary("101%"), "CMD-FLT-121"),
        (lambda: allow_failures(ALL_CLUSTERS, "many"), "CMD-FLT-121"),
        (lambda: allow_failures(ALL_CLUSTERS, "101%"), "CMD-FLT-121"),
        (lambda: parse_fact("region"), "CMD-FLT-124"),
        (lambda: parse_fact("=eu"), "CMD-FLT-124"),
    ],
)
def test_malformed_options(wrong: Callable[[], object], code: str) -> None:
    with pytest.raises(CommodoreError) as error:
        wrong()
    assert error.value.code == code


def test_a_cluster_without_a_wave() -> None:
    with pytest.raises(CommodoreError) as error:
        assign(KNOWN, [Wave("a", Match(ids=("c-1",)))])
    assert error.value.code == "CMD-FLT-103"
    assert error.value.message == "these clusters belong to no wave: c-2, c-3"


REST = Wave("rest")


@pytest.mark.requirement("FC10")
@pytest.mark.parametrize(
    ("waves", "said", "hint"),
    [
        (canary("c-9"), "--canary names 'c-9', an unknown chosen cluster", "did you mean 'c-3'"),
        (canary("c-1,c-9"), "--canary names 'c-9', an unknown chosen cluster", "did you mean 'c-3'"),
        (canary("3"), "--canary takes all 3 clusters: none is held back for wave rest", "fewer"),
        (canary("100%"), "--canary takes all 3 clusters: none is held back for wave rest", "fewer"),
        (canary("c-1,c-2,c-3"), "--canary takes all 3 clusters: none is held back for wave rest", "fewer"),
        ((Wave("a", Match(ids=("c-1", "c-9"))), REST), "wave a names 'c-9', an unknown cluster", "'c-3'"),
        ((Wave("a", Match(tenants=("t-aa",))), REST), "wave a names 't-aa', an unknown tenant", "'t-a'"),
        ((Wave("a", Match(facts=(("canry", "true"),))), REST), "wave a has no cluster: none fits", "correct"),
        (
            (Wave("a", Match(ids=("c-1",))), Wave("b", Match(ids=("c-1",))), REST),
            "wave b has no cluster: matching clusters belong to earlier waves",
            "correct",
        ),
        ((Wave("a", Match(most=Amount(9))), REST), "wave a takes all 3 clusters: none is held back", "fewer"),
    ],
)
def test_waves_that_hold_nothing_back(waves: tuple[Wave, ...], said: str, hint: str) -> None:
    """A misspelt canary is not a canary: nothing is begun."""
    with pytest.raises(UsageError) as error:
        check_waves(waves, KNOWN, KNOWN)
    assert (error.value.code, said in error.value.message) == ("CMD-FLT-121", True), error.value.message
    assert hint in error.value.hint


@pytest.mark.requirement("FC10")
def test_waves_of_a_file_serve_several_selections() -> None:
    """They must make sense for all clusters; the canary of an option for the ones that are chosen."""
    waves = (Wave("a", Match(ids=("c-1",))), REST)
    check_waves(waves, KNOWN, KNOWN[:1])
    check_waves(waves, KNOWN, KNOWN[1:])
    check_waves(waves, KNOWN[:1], KNOWN[:1])
    check_waves((Wave("int", Match(facts=(("stage", "int"),)), origin="sequence"), REST), KNOWN, KNOWN)
    with pytest.raises(UsageError):
        check_waves(canary("c-1"), KNOWN, KNOWN[1:])
    with pytest.raises(UsageError):
        check_waves(canary("c-1"), KNOWN, KNOWN[:1])


@pytest.mark.requirement("FC1")
def test_folders_of_cluster_files(tmp_path: Path) -> None:
    """All files of a folder count; an id in two of them is an error that names both."""
    for name, cluster in (("a.json", "c-1"), ("b.yml", "c-2")):
        content = {"cluster": lieutenant.cluster(cluster), "tenant": lieutenant.tenant()}
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "README.md").write_text("no cluster")
    source = read_cluster_files([tmp_path], {}, make_context())
    assert [item["id"] for item in source.list(make_context())] == ["c-1", "c-2"]
    assert source.load("c-2", make_context()).id == "c-2"
    with pytest.raises(CommodoreError) as error:
        read_cluster_files([tmp_path / "a.json", tmp_path / "a.json"], {}, make_context())
    assert (error.value.code, len(error.value.locations)) == ("CMD-FLT-102", 2)
