"""Shards of a fleet: compiled apart, merged, and published together."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.documents import document_text
from commodore.base.errors import CommodoreError
from commodore.clusters import FleetReport, Shard, Wave, as_pins, merge_reports, read_report
from commodore.clusters.outcome import Instances
from commodore.core.results.remote_store import RemoteOptions
from tests.world.context import make_context
from tests.world.many_clusters import FleetWorld


@pytest.fixture
def world(tmp_path: Path) -> FleetWorld:
    return FleetWorld(tmp_path, 4)


def shards(world: FleetWorld, *waves: Wave) -> list[FleetReport]:
    """The reports of three shards, as other machines read them."""
    reports = []
    for index in (1, 2, 3):
        report = world.run(*waves, push=False, shard=Shard(index, 3), pins=_pins(reports))
        path = world.root / f"report-{index}.json"
        path.write_text(document_text("fleet-report", report))
        reports.append(read_report(path))
        assert document_text("fleet-report", reports[-1]) == path.read_text()
    return reports


def _pins(reports: list[FleetReport]) -> dict[tuple[str, str], str]:
    return as_pins(pin for report in reports for pin in report.pins)


@pytest.mark.requirement("FC2", "FC6", "FC11")
def test_shards_are_merged_and_published(world: FleetWorld) -> None:
    """The order of reports does not matter; what moves in between is not what is published."""
    waves = (Wave("one"),)
    reports = shards(world, *waves)
    assert sorted(cluster.id for report in reports for cluster in report.clusters) == world.names
    merged = merge_reports(reports[::-1], make_context())
    assert merged == merge_reports(reports, make_context())
    assert (merged.shard, [cluster.state for cluster in merged.clusters]) == (None, ["changed"] * 4)
    [group] = merged.groups
    assert group.clusters == world.names
    alone = world.single("c-2")
    world.change({"value": "2"})
    published = world.run(*waves, judged=merged)
    assert [cluster.state for cluster in published.clusters] == ["pushed"] * 4
    assert [world.commits(name) for name in world.names] == [1] * 4
    assert world.files("c-2") == alone


def test_shards_may_use_different_caches(world: FleetWorld) -> None:
    expected = world.request(push=False)
    options = replace(
        expected.request.options, processes=8, cached=False, remote=RemoteOptions(("memory:",), write=True)
    )
    assert replace(expected, request=replace(expected.request, options=options)).digest == expected.digest
    options = replace(expected.request.options, fetch=False)
    assert replace(expected, request=replace(expected.request, options=options)).digest != expected.digest


def test_reports_that_do_not_belong_together(world: FleetWorld) -> None:
    reports = shards(world)
    item, two, three = reports
    for wrong in ([item, two], [item, two, two], [item, two, replace(three, options_digest="x")]):
        with pytest.raises(CommodoreError) as error:
            merge_reports(wrong, make_context())
        assert error.value.code == "CMD-FLT-122"
    with pytest.raises(CommodoreError) as error:
        world.run(judged=item)
    assert error.value.code == "CMD-FLT-111"
    collected: list[object] = []
    [pin, *others] = two.pins
    moved = replace(two, pins=(replace(pin, commit="0" * 40), *others))
    merge_reports([item, moved, three], make_context(collected.append))
    assert [getattr(event, "code", "") for event in collected] == ["CMD-FLT-114"]


def test_a_report_without_the_name_of_its_form_is_read(tmp_path: Path) -> None:
    """As reports were written before the forms had names, with instances of which none is said to be remote."""
    error = {"code": "CMD-X-001", "family": "input", "message": "c-1 is wrong", "hint": "", "exit_code": 1}
    error["locations"] = [{"place": "a.yml", "line": 3, "column": None}]
    cluster = {"id": "c-1", "display_name": "One", "tenant": "t-1", "wave": "all", "state": "failed", "attempts": 1}
    cluster |= {"seconds": 1.5, "instances": {"total": 3, "rendered": 1, "reused": 2}, "tree": "", "base_commit": ""}
    cluster |= {
        "commit": "",
        "summary": {},
        "groups": ["a" * 12],
        "error": error,
        "notices": [],
        "log": "logs/c-1.jsonl",
    }
    group = {"id": "a" * 12, "clusters": ["c-1"], "kind": "modified", "path": "a", "normalised": "a", "left_out": 0}
    group |= {"differs_in": [], "values": {"cluster.name": "c-1"}, "diff": [["add", "+c-1"]]}
    wave = {"name": "all", "max_failures": "0", "max_changed": None, "gate": "automated", "soak": 0}
    report = {"version": 1, "run": "r", "started": "s", "finished": "f", "commodore": "1", "options_digest": "sha256:x"}
    report |= {"planned": 2, "push": False, "shard": {"index": 1, "of": 2}, "clusters": [cluster], "groups": [group]}
    report |= {
        "pins": [{"url": "u", "ref": "r", "commit": "c"}],
        "waves": [{**wave, "state": "compiled", "reason": ""}],
    }
    path = tmp_path / "report.json"
    path.write_text(json.dumps({**report, "errors": []}))
    result = read_report(path)
    [read] = result.clusters
    assert (result.shard, as_pins(result.pins), result.folder) == (Shard(1, 2), {("u", "r"): "c"}, tmp_path)
    assert (read.instances, read.exit_code, [item.clusters for item in result.errors]) == (
        Instances(1, 2),
        1,
        [("c-1",)],
    )
    assert (result.groups[0].diff, result.waves[0].state) == ((("add", "+c-1"),), "compiled")


def test_what_is_no_report(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    for text in ("", "[]", '{"version": 2}', '{"version": 1}'):
        path.write_text(text)
        with pytest.raises(CommodoreError) as error:
            read_report(path)
        assert error.value.code == "CMD-FLT-113"
