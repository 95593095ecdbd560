"""The state of a run is the sum of its journal: a process that goes on has the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault, InputError, PolicyError
from commodore.clusters.compiled import Compiled
from commodore.clusters.journal import PlannedRun, new_run
from commodore.clusters.ledger import Ledger, may_be_repaired
from commodore.clusters.outcome import ClusterOutcome
from commodore.clusters.report.model import FleetReport
from commodore.core.review import DiffLine, FileDiff, Hunk, Placeholders

PLAN = PlannedRun("1", "", "", {}, push=True, shard=None, clusters={})
OUTCOMES = tuple(ClusterOutcome(name, "", "t-one", "one") for name in ("c-1", "c-2", "c-3"))


def compiled(name: str) -> Compiled:
    diff = FileDiff("modified", f"manifests/{name}.yaml", (DiffLine("add", f"+name: {name}"),))
    hunk = Hunk.of(diff, Placeholders([("cluster.name", name)]))
    [item] = [outcome for outcome in OUTCOMES if outcome.id == name]
    return Compiled(replace(item, state="changed", seconds=1.5, groups=(hunk.id,)), (hunk,))


@pytest.mark.requirement("FC8")
def test_a_process_that_goes_on_has_the_same_state(tmp_path: Path) -> None:
    run = new_run(tmp_path, PLAN)
    ledger = Ledger(run, OUTCOMES)
    pins = {("https://x/g.git", "master"): "a" * 40}
    ledger.compiled(compiled("c-1"), pins)
    ledger.compiled(compiled("c-2"), pins)
    ledger.compiled(Compiled(OUTCOMES[2].failing(EnvironmentFault("CMD-WORK-003", "no space", hint=""))), pins)
    ledger.write("judged", wave="one")
    ledger.write("pushing", cluster="c-1", commit="b" * 40)
    ledger.write("published", cluster=replace(ledger.state.outcomes["c-1"], state="pushed", commit="b" * 40))
    ledger.write("soaking", wave="one", until=12.0)
    ledger.write("soaked", wave="one")
    ledger.close()
    again = Ledger(run, OUTCOMES)
    assert again.state == replace(ledger.state, exhausted=0)
    assert again.groups() == ledger.groups()
    assert [(group.clusters, group.differs_in) for group in again.groups()] == [(["c-1", "c-2"], {"cluster.name"})]
    assert [item.state for item in again.state.of(["c-1", "c-2", "c-3"])] == ["pushed", "changed", "failed"]
    assert (ledger.state.exhausted, again.state.commits) == (1, {"c-1": ("b" * 40,)})
    assert (again.state.judged, again.state.soaked, again.state.pins) == (frozenset({"one"}), frozenset({"one"}), pins)
    again.close()


@pytest.mark.requirement("FC8", "FC9")
def test_a_cluster_that_is_compiled_again_has_its_new_changes_alone(tmp_path: Path) -> None:
    """One that has failed as it was pushed has changes already; they are counted once, in this process and the next."""
    run = new_run(tmp_path, PLAN)
    ledger = Ledger(run, OUTCOMES)
    ledger.compiled(compiled("c-1"), {})
    ledger.compiled(compiled("c-2"), {})
    failed = ledger.state.outcomes["c-2"].failing(EnvironmentFault("CMD-GIT-001", "gone", hint=""))
    ledger.write("published", cluster=failed)
    ledger.forget([failed])
    assert [group.clusters for group in ledger.groups()] == [["c-1"]]
    ledger.compiled(compiled("c-2"), {})
    ledger.close()
    again = Ledger(run, OUTCOMES)
    assert [group.clusters for group in ledger.groups()] == [["c-1", "c-2"]]
    assert [group.clusters for group in again.groups()] == [["c-1", "c-2"]]
    again.close()


def test_failed_clusters_are_compiled_again_but_for_those_refused_for_safety(tmp_path: Path) -> None:
    ledger = Ledger(new_run(tmp_path, PLAN), OUTCOMES)
    ledger.compiled(compiled("c-1"), {})
    ledger.compiled(Compiled(OUTCOMES[1].failing(EnvironmentFault("CMD-GIT-001", "gone", hint=""))), {})
    ledger.compiled(Compiled(OUTCOMES[2].failing(PolicyError("CMD-FLT-110", "other trees", hint=""))), {})
    ledger.write("judged", wave="one")
    before = ledger.state
    ledger.forget([outcome for outcome in before.outcomes.values() if may_be_repaired(outcome)])
    assert [item.state for item in ledger.state.of(["c-1", "c-2", "c-3"])] == ["changed", "not-begun", "failed"]
    assert (before.judged, ledger.state.judged) == (frozenset({"one"}), frozenset())
    ledger.close()


def test_a_wave_whose_clusters_are_compiled_again_is_judged_again_by_each_process(tmp_path: Path) -> None:
    """The process that has compiled them ended before it judged; what is pushed next was never judged."""
    run = new_run(tmp_path, PLAN)
    ledger = Ledger(run, OUTCOMES)
    failed = OUTCOMES[1].failing(EnvironmentFault("CMD-GIT-001", "gone", hint=""))
    ledger.compiled(Compiled(failed), {})
    ledger.write("judged", wave=failed.wave)
    ledger.forget([ledger.state.outcomes[failed.id]])
    ledger.compiled(compiled(failed.id), {})
    ledger.close()
    again = Ledger(run, OUTCOMES)
    assert again.state.judged == frozenset()
    again.close()


@pytest.mark.parametrize(
    "entry", ['{"event": "compiled", "cluster": {"id": "c-1"}}', '{"event": "judged"}', '{"cluster": "c-1"}', "[]"]
)
def test_a_journal_that_is_damaged_is_named(tmp_path: Path, entry: str) -> None:
    run = new_run(tmp_path, PLAN)
    run.journal.write_text(f"{entry}\n")
    with pytest.raises(InputError) as error:
        Ledger(run, OUTCOMES)
    assert (error.value.code, str(error.value.locations[0])) == ("CMD-FLT-115", str(run.journal))


def test_failures_of_another_run_are_not_counted_as_those_of_this_machine(tmp_path: Path) -> None:
    first = Ledger(new_run(tmp_path / "first", PLAN), OUTCOMES)
    for outcome in OUTCOMES:
        first.compiled(Compiled(outcome.failing(EnvironmentFault("CMD-WORK-003", "no space", hint=""))), {})
    outcomes = tuple(first.state.of(["c-1", "c-2", "c-3"]))
    first.close()
    report = FleetReport("r", "", "", "", "", 3, True, None, (), (), outcomes, ())
    ledger = Ledger(new_run(tmp_path / "second", PLAN), OUTCOMES)
    ledger.take_over(report)
    assert [item.state for item in ledger.state.of(["c-1", "c-2", "c-3"])] == ["failed"] * 3
    assert (first.state.exhausted, ledger.state.exhausted) == (3, 0)
    ledger.close()
