"""The report of a run over many clusters, as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.base.documents import plain
from commodore.clusters import FleetReport, Wave, read_report, render_markdown, render_text
from commodore.clusters.outcome import ClusterOutcome, Instances
from commodore.clusters.report.model import WaveResult, report_bytes
from commodore.core.review import FileGroup


@pytest.mark.requirement("FC9")
def test_what_came_from_the_remote_cache_is_counted(tmp_path: Path) -> None:
    """Also in a report that was written and read again."""
    clusters = (
        ClusterOutcome("c-1", "One", "t-1", "all", "unchanged", instances=Instances(1, 5, 4)),
        ClusterOutcome("c-2", "Two", "t-1", "all", "unchanged", instances=Instances(2, 3)),
    )
    report = FleetReport(
        run="r",
        started="",
        finished="",
        commodore="",
        options_digest="",
        planned=2,
        push=False,
        shard=None,
        pins=(),
        waves=(WaveResult.of(Wave("all"), "compiled"),),
        clusters=clusters,
        groups=(),
    )
    (tmp_path / "report.json").write_bytes(report_bytes(report))
    again = read_report(tmp_path / "report.json")
    assert again.clusters == clusters
    assert ("plain", "Instances: 3 rendered, 4 from the remote cache.") in render_text(again)
    assert plain(report)["clusters"][0]["instances"] == {"rendered": 1, "reused": 5, "remote": 4, "total": 6}


@pytest.mark.requirement("FC9")
def test_the_report_as_markdown_fits_into_a_number_of_bytes() -> None:
    """Anything that does not fit is left out as a whole, and counted; characters of several bytes count as such."""
    groups = tuple(
        FileGroup(f"{number}", {}, "modified", "a", "a", (("add", f"+{'é' * size}"),), clusters=[f"c-{number}"])
        for number, size in enumerate((100, 3000, 100))
    )
    report = FleetReport("r", "", "", "", "", 3, False, None, (), (), (), groups)
    whole = render_markdown(report)
    assert [whole.count("```diff"), whole.count("é"), "left out" in whole] == [3, 3200, False]
    short = render_markdown(report, 2000)
    assert len(short.encode()) <= 2000
    assert (short.count("é"), short.count("```")) == (200, 4)
    assert short.endswith("1 parts of the report are left out: there is no room for them.\n")
