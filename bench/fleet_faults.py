"""Disturb runs over many clusters, and look at what the next run makes of it.

    scripts/fleet-faults [--real FOLDER] [--clusters N] [--kills N] [--only LIST] [--seed N]

Each cluster is compiled and pushed alone first, by `catalog compile`. Then all of them are compiled by `fleet compile`,
each time into empty catalogs and a new working directory, with the cache of results that is there by then, in the
order of the list, and each N times with NAME=N:

  local      by the local engine
  dask       by a scheduler of Dask with two workers on this machine
  shards     in three shards, whose reports are merged and published from
  kill       by the local engine, which is killed with all of its processes at a random moment, and goes on; N times
  worker     on Dask, whose workers are killed at random moments and started again; N/3 times
  scheduler  on Dask, whose scheduler is killed at a random moment; the run goes on with a new one; N/3 times
  store      without results of its own, with those of a store (S3) behind a slow network that fails now and then; the
             store is killed at a random moment and comes back empty; N/3 times
  together   on Dask and with such a store; a worker, the store, the scheduler and the run are killed one after another,
             and the run goes on; N/3 times

It is a failure if a catalog is not the one of the single compile, if a catalog has not exactly one commit, or if
something was pushed of a wave that the journal does not call judged. The clusters are those of `--real`, a folder with
the scripts `world` and `env.sh`, or made-up ones. Linux only; Dask must be installed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from _fleet_services import Store, dask, end, store
from _fleets import Fleet, add_fleet_options, open_fleet
from _measure import children_seconds
from _tools import BenchError, end_of

_PROGRAM = Path(sys.executable).with_name("commodore")
_CANARY = "3"
_PUSH = ("--push", "--canary", _CANARY)


@dataclass
class Trial:
    """Runs over one fleet, each in a new working directory.

    Attributes:
        expected: the tree of each catalog.
        seconds: that a run by the local engine takes without disturbance, about.
        troubles: what went wrong.
        more: variables of the next runs, in addition to those of the fleet.
    """

    fleet: Fleet
    expected: dict[str, str]
    random: random.Random
    seconds: float = 10.0
    number: int = 0
    troubles: list[str] = field(default_factory=list)
    more: dict[str, str] = field(default_factory=dict)

    @property
    def work(self) -> Path:
        return self.fleet.folder / f"work-{self.number}"

    @property
    def log(self) -> Path:
        return self.fleet.folder / "run.log"

    def begin(self) -> None:
        """Forget all runs."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.fleet.reset()
        self.more = {}
        self.number += 1

    @property
    def environment(self) -> dict[str, str]:
        return self.fleet.environment | self.more

    def forget_results(self) -> None:
        """Leave no results in the cache of this machine."""
        shutil.rmtree(Path(self.environment["XDG_CACHE_HOME"]) / "commodore" / "results", ignore_errors=True)

    def wait(self, running: subprocess.Popen[bytes], least: float, most: float) -> float:
        """Wait for a run, at most a random part of the time that one takes. Returns the seconds."""
        start = time.monotonic()
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(self.random.uniform(least, most) * self.seconds)
        return time.monotonic() - start

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start `fleet compile` in a group of processes of its own."""
        command = [_PROGRAM, "-d", self.work, "fleet", "compile", "--cluster-file", self.fleet.file, *words]
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0
            )

    def run(self, *words: str) -> None:
        """Run it to its end."""
        code = self.start(*words).wait()
        if code != 0:
            raise BenchError(f"fleet compile {' '.join(words)} ended with {code}:\n{end_of(self.log)}")

    def go_on(self, *words: str) -> None:
        """Go on with the run; if nothing was begun yet, begin. A run that was done in time is left alone."""
        begun = list((self.work / "fleet" / "runs").glob("*/plan.json"))
        if any('"event": "ended"' in plan.with_name("journal.jsonl").read_text() for plan in begun):
            return
        self.run(*words, *(["--resume"] if begun else []))

    def check(self, what: str) -> None:
        """Compare all catalogs with those of single compiles."""
        trees = self.fleet.trees()
        wrong = [name for name, tree in self.expected.items() if trees.get(name) != tree]
        several = {name: count for name in trees if (count := self.fleet.commits(name)) != 1}
        if wrong:
            self.troubles.append(f"{what}: other catalogs, or none, of {', '.join(wrong)}")
        if several:
            self.troubles.append(f"{what}: numbers of commits {several}")

    def check_judged(self, what: str) -> int:
        """See that only judged waves have been pushed from; how many clusters have been pushed."""
        pushed, judged, waves = self.fleet.trees(), set(), {}
        for path in (self.work / "fleet" / "runs").glob("*/journal.jsonl"):
            for line in path.read_text().splitlines(keepends=True):
                entry = json.loads(line) if line.endswith("\n") else {"event": ""}
                if entry["event"] == "judged":
                    judged.add(entry["wave"])
        for path in (self.work / "fleet" / "runs").glob("*/plan.json"):
            waves = dict(json.loads(path.read_text())["clusters"])
        early = [name for name in pushed if waves.get(name) not in judged]
        if early:
            self.troubles.append(f"{what}: pushed before their wave was judged: {', '.join(early)}")
        return len(pushed)


def compile_alone(fleet: Fleet) -> dict[str, str]:
    """The trees that `catalog compile` pushes, cluster by cluster."""
    for name in fleet.clusters:
        words = ["catalog", "compile", name, "--cluster-file", fleet.file, "--push"]
        command = [_PROGRAM, "-d", fleet.folder / "alone" / name, *words]
        done = subprocess.run(command, env=fleet.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise BenchError(f"catalog compile {name} failed:\n{done.stderr[-2000:]}")
    trees = fleet.trees()
    shutil.rmtree(fleet.folder / "alone")
    return trees


def try_local(trial: Trial, _: int) -> str:
    start = time.monotonic()
    trial.run(*_PUSH)
    trial.seconds = time.monotonic() - start
    return ""


def try_dask(trial: Trial, _: int) -> str:
    trial.run(*_PUSH, "--engine", "dask", "--workers", "2")
    return ""


def try_shards(trial: Trial, _: int) -> str:
    reports = [str(trial.fleet.folder / f"{number}.json") for number in (1, 2, 3)]
    for number, report in enumerate(reports, 1):
        trial.run("--canary", _CANARY, "--shard", f"{number}/3", "--report", report)
    if trial.fleet.trees():
        trial.troubles.append("shards: a shard has pushed")
    trial.run(*_PUSH, *(word for report in reports for word in ("--from-report", report)))
    return ""


def try_kill(trial: Trial, number: int) -> str:
    running = trial.start(*_PUSH)
    after = trial.wait(running, 0.2, 0.9)
    if running.poll() is not None:
        return f"was done after {after:.1f} s, and not killed"
    if number % 2:
        end(running)  # with git, helm and the workers
    else:
        running.kill()
        running.wait()
    pushed = trial.check_judged("kill")
    trial.go_on(*_PUSH)
    return f"killed after {after:.1f} s, {pushed} pushed by then"


def try_worker(trial: Trial, _: int) -> str:
    with dask(trial.fleet.folder, trial.environment) as machines:
        running = trial.start(*_PUSH, "--scheduler", machines.address)
        killed = 0
        while running.poll() is None:
            trial.wait(running, 0.3, 0.6)
            if running.poll() is None and killed < 4:
                machines.replace_worker()
                killed += 1
                trial.check_judged("worker")
        if running.returncode != 0:
            trial.troubles.append(f"worker: ended with {running.returncode}: {end_of(trial.log)}")
    return f"{killed} workers killed"


def try_scheduler(trial: Trial, _: int) -> str:
    with dask(trial.fleet.folder, trial.environment) as machines:
        running = trial.start(*_PUSH, "--scheduler", machines.address)
        after = trial.wait(running, 0.2, 1.0)
        end(machines.scheduler)
        code = running.wait()
        pushed = trial.check_judged("scheduler")
    if code not in (0, 3):
        trial.troubles.append(f"scheduler: ended with {code}: {end_of(trial.log)}")
    if code == 0:
        return f"was done before {after:.1f} s"
    with dask(trial.fleet.folder, trial.environment) as machines:
        trial.go_on(*_PUSH, "--scheduler", machines.address)
    return f"killed after {after:.1f} s, {pushed} pushed by then"


def try_store(trial: Trial, _: int) -> str:
    with store(trial.fleet.folder) as shared:
        fill(trial, shared)
        filled = len(shared.names())
        running = trial.start(*_PUSH)
        after = trial.wait(running, 0.1, 0.7)
        shared.restart()
        code = running.wait()
        if code != 0:
            trial.troubles.append(f"store: ended with {code}: {end_of(trial.log)}")
        return f"{filled} objects, killed after {after:.1f} s and {shared.answers} answers"


def try_together(trial: Trial, number: int) -> str:
    with store(trial.fleet.folder) as shared:
        fill(trial, shared)
        with dask(trial.fleet.folder, trial.environment) as machines:
            running = trial.start(*_PUSH, "--scheduler", machines.address)
            disturb: list[Callable[[], None]] = [machines.replace_worker, shared.restart]
            trial.random.shuffle(disturb)
            for item in disturb:
                trial.wait(running, 0.1, 0.4)
                item()
                trial.check_judged("together")
            after = trial.wait(running, 0.1, 0.4)
            if number % 2:
                end(machines.scheduler)
                trial.wait(running, 0.1, 0.4)
            end(running)
            pushed = trial.check_judged("together")
        with dask(trial.fleet.folder, trial.environment) as machines:
            trial.go_on(*_PUSH, "--scheduler", machines.address)
        return f"killed {after:.1f} s after the others, {pushed} pushed by then; {shared.answers} answers of the store"


def fill(trial: Trial, shared: Store) -> None:
    """Let another machine fill a store, and forget here what it has made. The next runs use the store."""
    trial.more = shared.environment
    trial.forget_results()
    trial.run()
    trial.forget_results()
    shutil.rmtree(trial.work)
    shared.disturb(trial.random)


TRIALS: dict[str, Callable[[Trial, int], str]] = {
    "local": try_local,
    "dask": try_dask,
    "shards": try_shards,
    "kill": try_kill,
    "worker": try_worker,
    "scheduler": try_scheduler,
    "store": try_store,
    "together": try_together,
}
_SOME = ("worker", "scheduler", "store", "together")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_fleet_options(parser, instances=6)
    parser.add_argument("--kills", type=int, default=10, metavar="N")
    parser.add_argument(
        "--only", default=",".join(TRIALS), metavar="LIST", help=f"NAME or NAME=N of {', '.join(TRIALS)}"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parsed = parser.parse_args()
    usual = {"kill": parsed.kills} | dict.fromkeys(_SOME, parsed.kills // 3)
    named = [word.partition("=") for word in parsed.only.split(",")]
    if unknown := [name for name, _, count in named if name not in TRIALS or (count and not count.isdecimal())]:
        parser.error(f"unknown: {', '.join(unknown)}")
    parsed.only = [(name, int(count or usual.get(name, 1))) for name, _, count in named]
    return parsed


def main() -> int:
    arguments = parse()
    with tempfile.TemporaryDirectory(prefix="fleet-faults-") as scratch:
        try:
            with open_fleet(arguments, Path(scratch) / "fleet") as fleet:
                return try_all(fleet, arguments)
        except BenchError as error:
            print(error, file=sys.stderr)
            return 1


def try_all(fleet: Fleet, arguments: argparse.Namespace) -> int:
    start = time.monotonic()
    trial = Trial(fleet, compile_alone(fleet), random.Random(arguments.seed))
    took = f"{time.monotonic() - start:.0f} s, CPU {children_seconds():.0f} s"
    print(f"{len(trial.expected)} clusters, each compiled alone in {took} together", flush=True)
    if arguments.only[0][0] != "local":  # others need to know how long a run takes
        arguments.only.insert(0, ("local", 1))
    for kind, count in arguments.only:
        for number in range(count):
            trial.begin()
            start, cpu, before, said = time.monotonic(), children_seconds(), len(trial.troubles), ""
            try:
                said = TRIALS[kind](trial, number)
                trial.check(kind)
            except BenchError as error:
                trial.troubles.append(f"{kind}: {error}")
            result = "equal" if len(trial.troubles) == before else "; ".join(trial.troubles[before:])
            took = f"{time.monotonic() - start:6.1f} s, CPU {children_seconds() - cpu:5.1f} s"
            print(f"{kind:10} {took}  {said + ': ' if said else ''}{result}", flush=True)
    print(f"{len(trial.troubles)} failures")
    return 1 if trial.troubles else 0


if __name__ == "__main__":
    sys.exit(main())
