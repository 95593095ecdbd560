"""Waves out of a file of their own, and out of the sequence of a fleet."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError
from commodore.base.limits import Limits
from commodore.clusters import allow_failures, read_waves
from commodore.clusters.selection import Candidate
from commodore.clusters.waves import Amount, Match, assign

KNOWN = [
    Candidate("c-1", "One", "t-a", {"canary": True}),
    Candidate("c-2", "Two", "t-a", {}),
    Candidate("c-3", "Three", "t-b", {}),
]
SEQUENCE = """\
dimensions: [environments, regions]
sequence:
  environments:
    - {name: int, soak: 2h, regions: [r1, {name: r2, soak: 1h}]}
    - {name: prod, promotion: manual, regions: [r1, {name: r2, promotion: manual}, r3]}
cluster_types: [main]
"""


def problem(path: Path, text: str, level: str = "") -> CommodoreError:
    path.write_text(text)
    with pytest.raises(CommodoreError) as error:
        read_waves(path, level, Limits())
    return error.value


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "config" / "main").mkdir(parents=True)
    path = tmp_path / "config" / "config.yaml"
    path.write_text(SEQUENCE)
    return path


@pytest.mark.requirement("FC10")
def test_waves(tmp_path: Path) -> None:
    """A cluster belongs to the first wave that it fits."""
    path = tmp_path / "waves.yml"
    path.write_text(
        "waves:\n"
        "  - {name: canary, clusters: {facts: {canary: true}}, max_changed: 2, soak: 2h}\n"
        "  - {name: eu, clusters: {tenants: [t-a]}, max_failures: 50%, gate: manual, parallel: 2}\n"
        "  - {name: rest, clusters: {}}\n"
    )
    waves = read_waves(path, "", Limits())
    results = {wave.name: [item.id for item in ones] for wave, ones in assign(KNOWN, waves)}
    assert results == {"canary": ["c-1"], "eu": ["c-2"], "rest": ["c-3"]}
    first, second, last = waves
    assert (first.max_changed, first.soak, first.manual, first.max_failures) == (2, 7200, False, Amount(0))
    assert (second.max_failures.of(5), second.manual, second.parallel) == (2, True, 2)
    assert allow_failures([last], "3")[0].max_failures == Amount(3)


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("", "CMD-FLT-003", "waves.yml: / is null, must be a map"),
        ("waves: []", "CMD-FLT-003", "waves.yml: /waves"),
        ("waves: [{clusters: {}}]", "CMD-FLT-003", "/waves/0 has no 'name'"),
        ("waves: [{name: a, max_fails: 1}]", "CMD-FLT-003", "/waves/0/max_fails is unknown"),
        ("waves: [{name: a, gate: open}]", "CMD-FLT-003", "/waves/0/gate is 'open'"),
        ("waves: [{name: a, soak: 2 weeks}]", "CMD-FLT-003", "/waves/0/soak is '2 weeks'"),
        ("waves: [{name: a, max_failures: some}]", "CMD-FLT-003", "/waves/0/max_failures is 'some'"),
        ("waves: [{name: a, max_failures: -1}]", "CMD-FLT-003", "/waves/0/max_failures is -1"),
        ("waves: [{name: a, clusters: {ids: c-1}}]", "CMD-FLT-003", "/waves/0/clusters/ids is text"),
        ("waves: [{name: a, clusters: {percent: 1, count: 1}}]", "CMD-FLT-103", "has both percent and count"),
        ("waves: [{name: a, max_failures: 101%}]", "CMD-FLT-003", "/waves/0/max_failures is '101%'"),
        ("waves: [{name: a, clusters: {ids: []}}]", "CMD-FLT-003", "/waves/0/clusters/ids is empty"),
        ("waves: [{name: a, clusters: {facts: {}}}]", "CMD-FLT-003", "/waves/0/clusters/facts is empty"),
        ("waves: [{name: a, clusters: {count: 0}}]", "CMD-FLT-003", "/waves/0/clusters/count is 0"),
        ("waves: [{name: a}, {name: a}]", "CMD-FLT-103", "has two waves 'a'"),
        (SEQUENCE, "CMD-FLT-103", "has a sequence, and is not config/config.yaml"),
    ],
)
def test_malformed_waves(tmp_path: Path, text: str, code: str, said: str) -> None:
    error = problem(tmp_path / "waves.yml", text)
    assert (error.code, said in error.message) == (code, True), error.message


@pytest.mark.requirement("FC10")
def test_the_sequence_of_a_fleet(config: Path) -> None:
    """Its nodes are waves; a gate is at the first wave that enters a node, a soak after the last one in it."""
    first, second = read_waves(config, "", Limits())
    assert (first.name, first.clusters, first.manual, first.soak) == (
        "int",
        Match(facts=(("environment", "int"),)),
        False,
        7200,
    )
    assert (second.name, second.manual, second.soak) == ("prod", True, 0)
    waves = read_waves(config, "regions", Limits())
    assert [(wave.name, wave.manual, wave.soak) for wave in waves] == [
        ("int/r1", False, 0),
        ("int/r2", False, 7200),
        ("prod/r1", True, 0),
        ("prod/r2", True, 0),
        ("prod/r3", False, 0),
    ]
    assert waves[1].clusters == Match(facts=(("environment", "int"), ("region", "r2")))


def test_unknown_levels(config: Path, tmp_path: Path) -> None:
    error = problem(config, SEQUENCE, "region")
    assert (error.code, error.hint) == ("CMD-FLT-121", "did you mean 'regions'?")
    assert problem(tmp_path / "waves.yml", "waves: [{name: a}]", "regions").code == "CMD-FLT-121"
