"""Ctrl-C ends the programs that a command has started, and the command does not wait for them, in every system."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.argocd.comparing.conftest import URL, app
from tests.argocd.conftest import chart
from tests.fleet.conftest import charts
from tests.world.cluster import CLASS, ClusterWorld, Running
from tests.world.folders import write_files, write_script
from tests.world.many_clusters import FleetWorld
from tests.world.processes import is_running
from tests.world.repos import GitWorld

# It does not care to be asked to end. What it starts outlives each limit of a test.
STUBBORN = """
if [ "$1" = version ]; then echo v3.20.0; exit; fi
trap '' INT TERM
echo $$ > {folder}/pids/$$
sleep 1000 &
echo $! > {folder}/pids/$!
while :; do sleep 1000; done
"""
PATIENT = "argocd_source_seconds=1000 helm_timeout=1000 rendering_seconds=1000"
HELM = """
      - input_paths: ['${_base_directory}/web']
        input_type: helm
        output_path: ${_instance}/
        helm_params: {name: web}
"""
HYDRATE = """
apiVersion: commodore.dev/v1alpha1
kind: HydrateConfig
defaults: {{drySource: {{repoURL: '{url}', targetRevision: main}}}}
entries:
- {{name: a, drySource: {{path: web}}, syncSource: {{targetBranch: env/dev, path: a}}}}
- {{name: b, drySource: {{path: web}}, syncSource: {{targetBranch: env/dev, path: b}}}}
"""


@dataclass
class Place:
    """A folder for a command whose helm does not end."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def start(self, *words: str) -> Running:
        return Running(["--log-format", "json", *words], self.folder, self.environment)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    (tmp_path / "pids").mkdir()
    write_script(tmp_path / "bin" / "helm", STUBBORN.format(folder=tmp_path))
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    yield Place(tmp_path, {"PATH": path, "COMMODORE_LIMITS": PATIENT})
    for pid in filter(is_running, pids(tmp_path)):  # if the test has failed
        os.kill(pid, signal.SIGKILL)


def pids(folder: Path) -> list[int]:
    return [int(entry.name) for entry in (folder / "pids").iterdir()]


def argocd_render(place: Place) -> Running:
    write_files(place.folder, {"a.yaml": app("a", "web"), "b.yaml": app("b", "web")})
    write_files(place.folder / "web", chart())
    return place.start("argocd", "render", "a", "b", "--self-url", URL)


def fleet_generate(place: Place) -> Running:
    write_files(place.folder, charts())
    return place.start("-d", str(place.folder), "fleet", "generate", "--processes", "2")


def hydrate_run(place: Place) -> Running:
    remote = GitWorld(place.folder / "remotes").remote("shop", {f"web/{name}": text for name, text in chart().items()})
    (place.folder / "hydrate.yaml").write_text(HYDRATE.format(url=remote.url).replace("main", remote.branch))
    return place.start("-d", str(place.folder / "work"), "hydrate", "run", str(place.folder / "hydrate.yaml"))


def with_chart() -> dict[str, str]:
    return {"class/app.yml": CLASS + HELM} | {f"web/{name}": text for name, text in chart().items()}


def catalog_compile(place: Place) -> Running:
    world = ClusterWorld(place.folder)
    world.component("app", with_chart(), data={"a": "1"})
    world.environment.update(place.environment)
    return world.start()


def fleet_compile(place: Place) -> Running:
    world = FleetWorld(place.folder, 2)
    world.world.remotes["app"].commit(with_chart())
    world.world.publish()
    return place.start(*world.command()[2:])


def component_compile(place: Place) -> Running:
    folder = place.folder / "app"
    write_files(folder, with_chart())
    write_files(folder, {"class/defaults.yml": "parameters: {app: {}}\n", "component/main.jsonnet": "{}"})
    return place.start("component", "compile", str(folder))


STARTS: list[Callable[[Place], Running]] = [
    *(argocd_render, fleet_generate, hydrate_run),
    *(catalog_compile, fleet_compile, component_compile),
]


@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.__name__)
def test_an_interruption_ends_what_was_started(place: Place, start: Callable[[Place], Running]) -> None:
    """The signal reaches the command alone, and its programs would go on for a quarter of an hour."""
    assert shutil.which("sleep")
    running = start(place)
    for _ in range(900):
        if len(pids(place.folder)) >= 2 or running._process.poll() is not None:
            break
        signal.sigtimedwait([], 0.1)
    started = pids(place.folder)
    if not started:
        pytest.fail(running.finish().stderr)
    running.signal_process(signal.SIGINT)
    result = running.finish()
    assert result.code == 130, result.stderr
    assert result.errors == []
    assert running.orphans() == []
    assert list(filter(is_running, pids(place.folder))) == []
