"""Runs of a tool on a synthetic set-up: one cluster through phases, or many clusters one after another."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from _api import serve_api
from _measure import measuring, read_costs
from _synthetic import Setup, change_parameter, generate_classes, serve_charts
from _tools import BenchError, Sample, Tool, digest_tree, end_of, home_environment

PHASES = ("cold", "noop", "change", "warm", "nofetch", "rerender", "uncached", "shadow")
OFFLINE = ["--local", "--no-fetch-dependencies"]
OPTIONS = {
    "nofetch": OFFLINE,
    "rerender": OFFLINE,
    "uncached": [*OFFLINE, "--no-cache"],
    "shadow": [*OFFLINE, "--shadow", "100"],
}
# Phases for tools that have this option.
NEEDED_OPTIONS = {"uncached": "--no-cache", "shadow": "--shadow"}


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a tool: a folder of its own for everything that it reads or writes, and its environment."""

    setup: Setup
    tool: Tool
    folder: Path
    environment: dict[str, str]

    @property
    def repositories(self) -> Path:
        return self.folder / "repositories"

    def work(self, cluster: str) -> Path:
        return self.folder / "work" / cluster


def run_phases(setup: Setup, tool: Tool, phases: Sequence[str], folder: Path) -> list[Sample]:
    """Run one tool on the first cluster of a set-up.

    Args:
        setup: the set-up; it is not changed.
        tool: the tool.
        phases: phases in their order, each once; the first is cold.
        folder: an empty folder for everything that is made.

    Returns:
        One sample for each phase; its result is the digest of the catalog.

    Raises:
        BenchError: the tool failed.
    """
    cluster = setup.plan.clusters[0].id
    with _place(setup, tool, folder) as place:
        samples = []
        for number, phase in enumerate(phases):
            if phase == "change":
                change_parameter(setup.plan, place.repositories, 10 + number)
            if phase == "warm":
                shutil.rmtree(place.work(cluster))
            with _everything_changed(place, f"phase {number}") if phase == "rerender" else _unchanged():
                samples.append(_compile(place, phase, cluster, OPTIONS.get(phase, ["--push"])))
        return samples


def run_fleet(setup: Setup, tool: Tool, folder: Path) -> list[Sample]:
    """Compile and push all clusters of a set-up once, each in a new working directory, with the caches of one home.

    Returns:
        One sample for each cluster.

    Raises:
        BenchError: the tool failed.
    """
    with _place(setup, tool, folder) as place:
        return [_compile(place, cluster.id, cluster.id, ["--push"]) for cluster in setup.plan.clusters]


def impossible_phases(tool: Tool, scratch: Path) -> set[str]:
    """The phases for which a tool lacks an option, as its help on compiling tells."""
    ended = subprocess.run(
        [*tool.command, "catalog", "compile", "--help"],
        env=home_environment(scratch / "home"),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    known = set(ended.stdout.split())
    return {phase for phase, option in NEEDED_OPTIONS.items() if option not in known}


@contextmanager
def _place(setup: Setup, tool: Tool, folder: Path) -> Iterator[_Place]:
    configuration = setup.copy_changing(folder / "repositories")
    environment = home_environment(folder / "home")
    with (folder / "home" / ".gitconfig").open("a") as file:
        file.write(configuration)
    with serve_api(setup.clusters(), [setup.tenant()]) as url, serve_charts(setup.charts) as proxy:
        environment |= {"COMMODORE_API_URL": url, "COMMODORE_API_TOKEN": "token", **proxy}
        yield _Place(setup, tool, folder, environment)


@contextmanager
def _unchanged() -> Iterator[None]:
    yield


@contextmanager
def _everything_changed(place: _Place, generation: str) -> Iterator[None]:
    """Another value of a parameter that every instance reads, in the working directory's own copy of the hierarchy."""
    cluster = place.setup.plan.clusters[0]
    changed = generate_classes(place.setup.plan, generation)
    classes = place.work(cluster.id) / "inventory" / "classes"
    originals = {classes / name: (classes / name).read_text() for name in changed}
    for name, content in changed.items():
        (classes / name).write_text(content)
    try:
        yield
    finally:
        for path, content in originals.items():
            path.write_text(content)


def _compile(place: _Place, phase: str, cluster: str, options: Sequence[str]) -> Sample:
    record, log, work = place.folder / "costs.jsonl", place.folder / f"{phase}.log", place.work(cluster)
    work.mkdir(parents=True, exist_ok=True)
    command = [*place.tool.command, "catalog", "compile", cluster, *options]
    with log.open("wb") as output:
        code = subprocess.run(
            measuring(command, record, path_prefix=place.tool.path_prefix),
            cwd=work,
            env=place.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        ).returncode
    if code != 0:
        raise BenchError(f"{place.tool.name}: {phase} failed:\n{end_of(log)}")
    return Sample(phase, read_costs(record)[-1], digest_tree(work / "catalog"))
