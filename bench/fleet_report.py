"""Measure the process that begins a run over many clusters: grouping, journal, report.

    scripts/bench fleet_report [--clusters LIST] [--instances N]

Generated outcomes of clusters pass through the code of `fleet compile`, once for each number of clusters and each of:

  one    one file has the same change in all clusters, but for their names
  all    all files are new (five of each instance), as in the first run; a tenth of them differs in each cluster

Each line is a process of its own: seconds of CPU time to group and journal all outcomes, to write the report, to read
the journal as a run does that goes on, and to read the report and show it; sizes of both files; the peak of its memory.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from commodore.catalog import FileDiff
from commodore.clusters import ALL_CLUSTERS, FleetReport, read_report, render_text, report_bytes
from commodore.clusters.compiled import Compiled, values_of
from commodore.clusters.journal import PlannedRun, RunFolder, new_run
from commodore.clusters.ledger import Ledger
from commodore.clusters.outcome import ClusterOutcome
from commodore.clusters.report.model import WaveResult
from commodore.core.lieutenant import Cluster, Tenant
from commodore.core.review import DiffLine, Hunk, Placeholders

KINDS = ("one", "all")
_FILES = 5
_HEAD = "| clusters | change | collect s | write s | go on s | show s | journal MB | report MB | peak MiB |"


def diffs(kind: str, name: str, instances: int) -> Iterator[FileDiff]:
    """The changes of a cluster."""
    if kind == "one":
        lines = [
            ("hunk", "@@ -1,3 +1,3 @@"),
            ("context", f"   name: {name}"),
            ("remove", "-  v: 1"),
            ("add", "+  v: 2"),
        ]
        yield FileDiff("modified", "manifests/argocd/10_app.yaml", tuple(DiffLine(*line) for line in lines))
        return
    for number in range(instances * _FILES):
        path = f"manifests/component-{number // _FILES}/{number % _FILES}0_object.yaml"
        if number % 10 == 0:
            path = path.replace("component", f"only-{hash(name) % 10**6}")
        yield FileDiff("added", path, (DiffLine("summary", f"Added file {path}"),))


def begin(run: RunFolder, clusters: int) -> Ledger:
    """The ledger of a run, with the entries that it has."""
    names = [f"c-{number:05}" for number in range(clusters)]
    return Ledger(run, [ClusterOutcome(name, f"Cluster {name}", "t-1", "all") for name in names])


def collect(run: RunFolder, kind: str, clusters: int, instances: int) -> Ledger:
    """Do what the run does as clusters are compiled."""
    tenant = Tenant("t-1", "Tenant", "https://git.example.com/t.git", "https://git.example.com/g.git", None, None)
    ledger = begin(run, clusters)
    for number in range(clusters):
        name, facts = f"c-{number:05}", {"region": f"region-{number % 7}", "cloud": "cloudscale"}
        url = f"https://git.example.com/catalog-{number:05}.git"
        cluster = Cluster(name, f"Cluster {number}", tenant, facts, {}, url, None, None)
        placeholders = Placeholders(values_of(cluster))
        hunks = [Hunk.of(diff, placeholders) for diff in diffs(kind, name, instances)]
        ids = tuple(hunk.id for hunk in hunks)
        done = ClusterOutcome(name, f"Cluster {number}", "t-1", "all", "changed", 1, 1.0, tree="0" * 64, groups=ids)
        ledger.compiled(Compiled(done, tuple(hunks)), {})
    ledger.close()
    return ledger


def write(run: RunFolder, ledger: Ledger) -> None:
    outcomes = tuple(ledger.state.outcomes.values())
    waves = (WaveResult.of(ALL_CLUSTERS[0], "compiled"),)
    known = {"run": run.name, "started": "", "finished": "", "commodore": "", "options_digest": "", "push": False}
    report = FleetReport(
        **known,  # type: ignore[arg-type]
        planned=len(outcomes),
        shard=None,
        pins=(),
        waves=waves,
        clusters=outcomes,
        groups=ledger.groups(),
    )
    run.report.write_bytes(report_bytes(report))


def measure(kind: str, clusters: int, instances: int, folder: Path) -> str:
    """One line of the table."""
    run = new_run(folder, PlannedRun("", "", "", {}, push=False, shard=None, clusters={}))
    seconds = []

    def took(work: Callable[[], object]) -> object:
        start = time.process_time()
        done = work()
        seconds.append(time.process_time() - start)
        return done

    ledger: Ledger = took(lambda: collect(run, kind, clusters, instances))  # type: ignore[assignment]
    took(lambda: write(run, ledger))
    took(lambda: begin(run, clusters).close())
    took(lambda: sum(1 for _ in render_text(read_report(run.report))))
    sizes = [path.stat().st_size / 1e6 for path in (run.journal, run.report)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cells = [*(f"{second:.1f}" for second in seconds), *(f"{size:.1f}" for size in sizes), f"{peak:.0f}"]
    return f"| {clusters} | {kind} | {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clusters", default="500,5000", metavar="LIST")
    parser.add_argument("--instances", type=int, default=60, metavar="N", help="of each cluster")
    parser.add_argument("--only", choices=KINDS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
            print(measure(arguments.only, int(arguments.clusters), arguments.instances, Path(scratch)))
        return 0
    print(_HEAD + "\n|" + " --- |" * (_HEAD.count("|") - 1), flush=True)
    for clusters in arguments.clusters.split(","):
        for kind in KINDS:
            words = ["--clusters", clusters, "--instances", str(arguments.instances), "--only", kind]
            subprocess.run([sys.executable, __file__, *words], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
