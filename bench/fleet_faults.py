"""Disturb runs over many clusters, and look at what the next run makes of it.

    scripts/fleet-faults [--real FOLDER] [--clusters N] [--kills N] [--only LIST] [--seed N]

Each cluster is compiled and pushed alone first, by `catalog compile`. Then all of them are compiled by `fleet compile`,
each time into empty catalogs and a new working directory, with the cache of results that is there by then:

  local      by the local engine
  dask       by a scheduler of Dask with two workers on this machine
  shards     in three shards, whose reports are merged and published from
  kill       by the local engine, which is killed with all of its processes at a random moment, and goes on; N times
  worker     on Dask, whose workers are killed at random moments and started again; N/3 times
  scheduler  on Dask, whose scheduler is killed at a random moment; the run goes on with a new one; N/3 times

It is a failure if a catalog is not the one of the single compile, if a catalog has not exactly one commit, or if
something was pushed of a wave that the journal does not call judged. The clusters are those of `--real`, a folder with
the scripts `world` and `env.sh`, or made-up ones. Linux only; Dask must be installed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from _fleets import Fleet, real_fleet, synthetic_fleet
from _tools import BenchError, end_of

KINDS = ("local", "dask", "shards", "kill", "worker", "scheduler")
_PROGRAM = Path(sys.executable).with_name("commodore")
_CANARY = "3"


@dataclass
class Trial:
    """Runs over one fleet, each in a new working directory."""

    fleet: Fleet
    wanted: dict[str, str]
    random: random.Random
    seconds: float = 10.0
    number: int = 0
    troubles: list[str] = field(default_factory=list)

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
        self.number += 1

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start `fleet compile` in a group of processes of its own."""
        command = [_PROGRAM, "-d", self.work, "fleet", "compile", "--cluster-file", self.fleet.file, *words]
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command, env=self.fleet.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0
            )

    def run(self, *words: str, wanted: int = 0) -> None:
        """Run it to its end."""
        start = time.monotonic()
        code = self.start(*words).wait()
        self.seconds = time.monotonic() - start
        if code != wanted:
            raise BenchError(f"fleet compile {' '.join(words)} ended with {code}:\n{end_of(self.log)}")

    def go_on(self, *words: str) -> None:
        """Go on with the newest run; if nothing was begun yet, begin."""
        unfinished = any((self.work / "fleet" / "runs").glob("*/plan.json"))
        self.run(*words, *(["--resume", "newest"] if unfinished else []))

    def check(self, what: str) -> None:
        """Compare all catalogs with those of single compiles."""
        found = self.fleet.trees()
        wrong = [name for name, tree in self.wanted.items() if found.get(name) != tree]
        several = {name: count for name in found if (count := self.fleet.commits(name)) != 1}
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


class Dask:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path, environment: dict[str, str], workers: int) -> None:
        self._file = folder / "scheduler.json"
        self._file.unlink(missing_ok=True)
        self._environment = environment | {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "20"}
        self._folder = folder
        words = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        self.scheduler = self._start("scheduler", *words)
        self.workers = [self.add_worker() for _ in range(workers)]
        self.address = ""
        while not self.address:
            time.sleep(0.05)
            with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):  # it is not written at once
                self.address = str(json.loads(self._file.read_text())["address"])

    def add_worker(self) -> subprocess.Popen[bytes]:
        words = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", str(self._folder))
        return self._start("worker", *words)

    def _start(self, kind: str, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--scheduler-file", self._file, *words]
        null = subprocess.DEVNULL
        return subprocess.Popen(command, env=self._environment, stdin=null, stdout=null, stderr=null, process_group=0)

    def close(self) -> None:
        for one in (self.scheduler, *self.workers):
            end(one)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextlib.contextmanager
def dask_of(trial: Trial) -> Iterator[Dask]:
    made = Dask(trial.fleet.folder, trial.fleet.environment, 2)
    try:
        yield made
    finally:
        made.close()


def compile_alone(fleet: Fleet) -> dict[str, str]:
    """The trees that `catalog compile` pushes, cluster by cluster."""
    for name in fleet.clusters:
        words = ["catalog", "compile", name, "--cluster-file", fleet.file, "--push"]
        command = [_PROGRAM, "-d", fleet.folder / "alone" / name, *words]
        done = subprocess.run(command, env=fleet.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise BenchError(f"catalog compile {name} failed:\n{done.stderr[-2000:]}")
    return fleet.trees()


def try_local(trial: Trial, _: int) -> str:
    trial.run("--push", "--canary", _CANARY)
    return ""


def try_dask(trial: Trial, _: int) -> str:
    trial.run("--push", "--canary", _CANARY, "--engine", "dask", "--workers", "2")
    return ""


def try_shards(trial: Trial, _: int) -> str:
    reports = [str(trial.fleet.folder / f"{number}.json") for number in (1, 2, 3)]
    for number, report in enumerate(reports, 1):
        trial.run("--canary", _CANARY, "--shard", f"{number}/3", "--report", report)
    if trial.fleet.trees():
        trial.troubles.append("shards: a shard has pushed")
    trial.run("--push", "--canary", _CANARY, *(word for report in reports for word in ("--from-report", report)))
    return ""


def try_kill(trial: Trial, number: int) -> str:
    words = ("--push", "--canary", _CANARY)
    running = trial.start(*words)
    after = trial.random.uniform(0.2, 1.0) * trial.seconds
    with contextlib.suppress(subprocess.TimeoutExpired):
        running.wait(after)
    if number % 2:
        end(running)  # with git, helm and the workers
    else:
        running.kill()
        running.wait()
    pushed = trial.check_judged("kill")
    kept = trial.seconds
    trial.go_on(*words)
    trial.seconds = kept
    return f"killed after {after:.1f} s, {pushed} pushed by then"


def try_worker(trial: Trial, _: int) -> str:
    with dask_of(trial) as dask:
        running = trial.start("--push", "--canary", _CANARY, "--scheduler", dask.address)
        killed = 0
        while running.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(trial.random.uniform(0.3, 0.6) * trial.seconds)
            if running.poll() is None and killed < 4:
                end(dask.workers.pop(0))
                dask.workers.append(dask.add_worker())
                killed += 1
                trial.check_judged("worker")
        if running.returncode != 0:
            trial.troubles.append(f"worker: ended with {running.returncode}: {end_of(trial.log)}")
    return f"{killed} workers killed"


def try_scheduler(trial: Trial, _: int) -> str:
    words = ("--push", "--canary", _CANARY)
    with dask_of(trial) as dask:
        running = trial.start(*words, "--scheduler", dask.address)
        after = 2 + trial.random.random() * trial.seconds
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(after)
        end(dask.scheduler)
        code = running.wait()
        pushed = trial.check_judged("scheduler")
    if code not in (0, 3):
        trial.troubles.append(f"scheduler: ended with {code}: {end_of(trial.log)}")
    if code == 0:
        return f"was done before {after:.1f} s"
    with dask_of(trial) as dask:
        kept = trial.seconds
        trial.go_on(*words, "--scheduler", dask.address)
        trial.seconds = kept
    return f"killed after {after:.1f} s, {pushed} pushed by then"


TRIALS: dict[str, Callable[[Trial, int], str]] = {
    "local": try_local,
    "dask": try_dask,
    "shards": try_shards,
    "kill": try_kill,
    "worker": try_worker,
    "scheduler": try_scheduler,
}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", type=Path, metavar="FOLDER", help="the folder with `world`; otherwise made up")
    parser.add_argument("--clusters", type=int, default=20, metavar="N")
    parser.add_argument("--instances", type=int, default=6, metavar="N", help="of each made-up cluster")
    parser.add_argument("--kills", type=int, default=10, metavar="N")
    parser.add_argument("--only", default=",".join(KINDS), metavar="LIST", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parsed = parser.parse_args()
    parsed.only = parsed.only.split(",")
    if unknown := [one for one in parsed.only if one not in KINDS]:
        parser.error(f"unknown: {', '.join(unknown)}")
    return parsed


def main() -> int:
    arguments = parse()
    with tempfile.TemporaryDirectory(prefix="fleet-faults-") as scratch:
        folder = Path(scratch) / "fleet"
        if arguments.real:
            opened = real_fleet(arguments.real, arguments.clusters, folder)
        else:
            opened = synthetic_fleet(arguments.clusters, arguments.instances, 50_000, folder)
        try:
            with opened as fleet:
                return try_all(fleet, arguments)
        except BenchError as error:
            print(error, file=sys.stderr)
            return 1


def try_all(fleet: Fleet, arguments: argparse.Namespace) -> int:
    start = time.monotonic()
    trial = Trial(fleet, compile_alone(fleet), random.Random(arguments.seed))
    print(f"{len(trial.wanted)} clusters, each compiled alone in {time.monotonic() - start:.0f} s together", flush=True)
    for kind in arguments.only:
        several = {"kill": arguments.kills, "worker": arguments.kills // 3, "scheduler": arguments.kills // 3}
        for number in range(several.get(kind, 1)):
            trial.begin()
            start, before = time.monotonic(), len(trial.troubles)
            said = TRIALS[kind](trial, number)
            trial.check(kind)
            result = "equal" if len(trial.troubles) == before else "; ".join(trial.troubles[before:])
            print(f"{kind:10} {time.monotonic() - start:6.1f} s  {said + ': ' if said else ''}{result}", flush=True)
    print(f"{len(trial.troubles)} failures")
    return 1 if trial.troubles else 0


if __name__ == "__main__":
    sys.exit(main())
