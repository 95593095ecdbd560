"""Everything that a run writes down, and what is read of it after it was killed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError
from commodore.clusters.journal import Journal, PlannedRun, find_run, new_run, runs

PLAN = PlannedRun("1", "", "d", {}, push=False, shard=None, clusters={"c-1": "all"})


@pytest.mark.requirement("FC8")
def test_a_line_that_was_cut_off_does_not_count(tmp_path: Path) -> None:
    run = new_run(tmp_path, PLAN)
    journal = Journal(run)
    journal.write("judged", wave="one")
    journal.close()
    with run.journal.open("ab") as file:
        file.write(b'{"event": "judg')
    assert [entry["event"] for entry in run.entries()] == ["judged"]
    journal = Journal(run)
    journal.write("judged", wave="two")
    assert [entry["wave"] for entry in run.entries()] == ["one", "two"]
    assert find_run(tmp_path, "") == run
    journal.end()
    journal.close()
    assert not run.is_unfinished


def test_an_old_run_is_not_gone_on_with_by_chance(tmp_path: Path) -> None:
    """A newer one has pushed: the commits of the old one would take catalogs back. With its name it can be."""
    old = new_run(tmp_path, replace(PLAN, push=True))
    for push in (False, True):
        run = new_run(tmp_path, replace(PLAN, push=push))
        journal = Journal(run)
        journal.end()
        journal.close()
        if not push:
            assert find_run(tmp_path, "") == old
    with pytest.raises(CommodoreError) as error:
        find_run(tmp_path, "")
    assert f"{old.name} (unfinished)" in error.value.hint
    assert find_run(tmp_path, old.name) == old


def test_runs_that_are_not_there(tmp_path: Path) -> None:
    for name in ("", "20260101T000000Z-abcd"):
        with pytest.raises(CommodoreError) as error:
            find_run(tmp_path, name)
        assert error.value.code == "CMD-FLT-115"
    run = new_run(tmp_path, PLAN)
    assert runs(tmp_path) == [run]
    earlier = '{"version": 1, "commodore": "1", "digest": "", "push": false, "clusters": [["c-1", "all"]]}'
    for path, content in ((run.plan, "{}"), (run.plan, earlier), (run.journal, "no JSON\n")):
        path.write_text(content)
        with pytest.raises(CommodoreError) as error:
            (run.read_plan() if path == run.plan else list(run.entries()))
        assert (error.value.code, str(error.value.locations[0])) == ("CMD-FLT-115", str(path))
