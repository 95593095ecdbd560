"""The set-ups that `bench/synthetic.py` makes, and one run of it. Nothing here measures time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from _measure import Cost
from _page import write_page
from _phases import impossible_phases
from _scaling import differences, growth, to_plot, to_table
from _synthetic import Plan, Size, change_parameter, generate, make_plan
from _tools import Rounds, Sample, make_tool
from synthetic import parse

from tests.bench.conftest import BENCH
from tests.world.folders import write_script

TENANT = Path("tenants/t-bench.git")


def heads(folder: Path) -> dict[str, str]:
    """The commits of all repositories below a folder, by their place in it."""
    results = {}
    for path in sorted(folder.rglob("*.git")):
        shown = subprocess.run(
            ["git", "--git-dir", str(path), "for-each-ref", "--format=%(refname) %(objectname)"],
            capture_output=True,
            text=True,
            check=True,
        )
        results[str(path.relative_to(folder))] = shown.stdout
    return results


def test_the_same_size_makes_the_same_bytes(tmp_path: Path) -> None:
    plan = make_plan(Size(instances=8, inventory=60_000, clusters=2))
    item, other = (generate(plan, tmp_path / name) for name in ("one", "other"))
    assert heads(item.repositories) == heads(other.repositories)
    charts = {path.name: path.read_bytes() for path in item.charts.iterdir()}
    assert charts == {path.name: path.read_bytes() for path in other.charts.iterdir()}
    assert set(charts) > {"index.yaml"}


def test_another_seed_makes_another_set_up() -> None:
    sizes = [Size(instances=40, clusters=3, seed=seed) for seed in (1, 2)]
    item, other = map(make_plan, sizes)
    assert item.clusters != other.clusters


@pytest.mark.parametrize("instances", [1, 2, 4, 10, 31, 300])
def test_a_cluster_has_as_many_instances_as_asked_for(instances: int) -> None:
    plan = make_plan(Size(instances=instances, clusters=3))
    for cluster in plan.clusters:
        deployed = plan.instances(cluster)
        assert len(deployed) == len({instance.name for instance in deployed}) == instances
        assert {instance.component for instance in deployed} <= set(plan.components)
        assert "argocd" in {instance.name for instance in deployed}


def test_kinds_come_as_often_as_the_mix_says() -> None:
    plan = make_plan(Size(instances=126, mix={"jsonnet": 1, "helm": 2, "kustomize": 1}))
    counted = Counter(component.kind for component in plan.components if component.number)
    assert sum(counted.values()) == 100
    assert counted == {"jsonnet": 25, "helm": 50, "kustomize": 25}
    assert sum(instance.name != instance.component.name for instance in plan.clusters[0].own + plan.shared) == 25


def test_similar_clusters_share_most_and_differ_in_some() -> None:
    plan = make_plan(Size(instances=50, clusters=5))
    applications = [{instance.name for instance in plan.instances(cluster)} for cluster in plan.clusters]
    assert len(set.intersection(*applications)) >= 45
    assert len({frozenset(each) for each in applications}) > 1
    assert len({tuple(cluster.facts.items()) for cluster in plan.clusters}) > 1


@pytest.mark.parametrize(
    "size", [Size(instances=0), Size(clusters=0), Size(mix={}), Size(mix={"helm": -1, "jsonnet": 2})]
)
def test_a_size_of_nothing_is_refused(size: Size) -> None:
    with pytest.raises(ValueError, match="at least one cluster"):
        make_plan(size)


def test_a_changed_parameter_is_one_commit_in_the_copy_alone(tmp_path: Path) -> None:
    plan = make_plan(Size(instances=4, inventory=0))
    setup = generate(plan, tmp_path / "setup")
    before = heads(setup.repositories)
    configuration = setup.copy_changing(tmp_path / "copy")
    change_parameter(plan, tmp_path / "copy", 17)
    shown = subprocess.run(
        ["git", "--git-dir", str(tmp_path / "copy" / TENANT), "show", "--format=", "--unified=0", "main"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "+      replicas: 17" in shown
    assert heads(setup.repositories) == before
    assert str(tmp_path / "copy" / "tenants") in configuration


def test_a_run_compiles_everything_and_compares_the_catalogs(tmp_path: Path) -> None:
    """With charts, kustomizations, filters, aliases and references; what changed shows in the catalog."""
    commodore = Path(sys.executable).parent / "commodore"
    options = ["--commodore", str(commodore), "--instances", "4", "--inventory", "60KiB", "--runs", "1"]
    options += ["--phases", "cold,rerender", "--fleet", "1", "--mix", "jsonnet=1,helm=1,kustomize=1"]
    options += ["--json", str(tmp_path / "all.json")]
    ended = subprocess.run(
        [sys.executable, str(BENCH / "synthetic.py"), *options], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    content = json.loads((tmp_path / "all.json").read_text())
    (samples,) = content["sizes"]["4"]["commodore"]
    assert [sample["phase"] for sample in samples] == ["cold", "rerender"]
    assert all(sample["cost"]["code"] == 0 and sample["cost"]["pss"] > 0 for sample in samples)
    assert len({sample["result"] for sample in samples}) == 2
    assert [sample["phase"] for sample in content["fleet"]["commodore"][0]] == [
        "first cluster",
        "each later one",
        "all 1",
    ]
    assert "| cold | 4 |" in ended.stdout


def rounds(seconds: float, result: str = "same") -> list[list[Sample]]:
    """One round with a cold and a noop run."""
    cost = Cost(0, seconds, 2 * seconds, 2**20, 2**21, 0.0, 0.5)
    return [[Sample(phase, cost, result) for phase in ("cold", "noop")]]


SIZES: dict[int, Rounds] = {
    10: {"commodore": rounds(1.0), "peer": rounds(4.0)},
    100: {"commodore": rounds(10.0), "peer": rounds(50.0, "other")},
    300: {"commodore": rounds(90.0)},
}


def test_the_table_has_a_line_for_each_phase_and_size() -> None:
    first = next(line for line in to_table(SIZES, ["cold", "noop"]).splitlines() if line.startswith("| cold | 10 |"))
    assert "| 1.00 (1.00-1.00) | 2.00 (2.00-2.00) | 1 | 2 | 4.00 (4.00-4.00) |" in first
    assert first.endswith("| 4.0 | 4.0 | 1.0 | yes |")
    assert len(to_table(SIZES, ["cold", "noop"]).splitlines()) == 2 + 2 * 3


def test_other_catalogs_are_told() -> None:
    assert differences(SIZES, ["cold", "noop"]) == ["cold with 100 instances", "noop with 100 instances"]
    assert " NO |" in to_table(SIZES, ["cold"])


def test_growth_is_the_power_of_the_number_of_instances() -> None:
    """Ten times as much for ten times as many, then nine times as much for three times as many."""
    assert growth(SIZES, ["cold"]).splitlines()[2] == "| cold | 1.00 | 2.00 | 0.307 |"


def test_the_plot_has_a_point_for_each_size_that_was_measured() -> None:
    plot = to_plot(SIZES, ["cold", "noop"])
    assert plot.startswith("<svg")
    assert plot.count("<circle") == 2 * (3 + 2)
    assert {"commodore, cold", "peer, noop"} <= set(re.findall(">([^<]+)</text>", plot))


def test_the_page_tells_how_it_was_measured(tmp_path: Path) -> None:
    machine = {
        "cores": 2,
        "cpu": "model",
        "memory_bytes": 2**34,
        "system": "Linux",
        "git": "2.40",
        "commit": "abc",
        "tools": {"commodore": {"version": "1", "python": "3.11"}},
    }
    options = ["--docs", str(tmp_path), "--phases", "cold,noop", "--instances", "10,100,300", "--fleet", "2"]
    write_page(parse(options), machine, SIZES, {"commodore": rounds(1.0)})
    page = (tmp_path / "scaling.md").read_text()
    for text in (
        "from 10 to 300 instances",
        "](scaling.svg)",
        "2 cores (model), 16 GiB",
        "## How it grows",
        "| noop |",
    ):
        assert text in page
    assert (tmp_path / "scaling.svg").read_text() == to_plot(SIZES, ["cold", "noop"])


@pytest.mark.parametrize(
    "options",
    [
        ["--phases", "noop"],
        ["--phases", "cold,cold"],
        ["--phases", "cold,nothing"],
        ["--mix", "ruby=1"],
        ["--runs", "0"],
    ],
)
def test_wrong_options_are_refused(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(options)
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_a_plan_names_what_changes() -> None:
    def changed(size: Size) -> tuple[Plan, str]:
        plan = make_plan(size)
        return plan, plan.changed.kind

    assert changed(Size(instances=10))[1] == "helm"
    assert changed(Size(instances=4, mix={"jsonnet": 1}))[1] == "jsonnet"
    plan, _ = changed(Size(instances=1))
    assert plan.changed == plan.components[0]


def test_phases_need_a_tool_that_has_their_option(tmp_path: Path) -> None:
    script = tmp_path / "tool"
    for options, impossible in (("--push", {"uncached", "shadow"}), ("--push --no-cache", {"shadow"})):
        write_script(script, f"echo Usage: {options}")
        assert impossible_phases(make_tool("tool", str(script)), tmp_path) == impossible
