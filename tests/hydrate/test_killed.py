"""Runs that are killed at a change of the disk, here or at the remote, and what another run makes of that."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.world.repos import GitWorld, Remote, git
from tests.world.syscalls import Call, Tapped, why_not

pytestmark = pytest.mark.skipif(why_not() != "", reason="calls cannot be tapped here")

CONFIG = """\
apiVersion: commodore.dev/v1alpha1
kind: HydrateConfig
defaults: {{drySource: {{repoURL: '{url}', targetRevision: main}}}}
entries:
- {{name: a, drySource: {{path: apps/a}}, syncSource: {{targetBranch: env/dev, path: a}}}}
- {{name: b, drySource: {{path: apps/b}}, syncSource: {{targetBranch: env/prod, path: b}},
   hydrateTo: {{targetBranch: env/prod-next}}}}
"""
PARTS = 4


@dataclass
class Place:
    """A remote and a working directory, of which every change is seen."""

    folder: Path
    remote: Remote
    changes: list[Call] = field(default_factory=list)

    @property
    def command(self) -> list[str]:
        words = ["-d", str(self.folder / "work"), "hydrate", "run", str(self.folder / "hydrate.yaml")]
        return [sys.executable, "-m", "commodore", *words]

    def run(self, killed: Callable[[int], bool] = lambda _: False) -> int:
        """The exit code of a run. `killed` says whether it is killed at the change with this number."""
        self.changes.clear()
        tapped: list[Tapped] = []

        def decide(call: Call) -> int:
            if not call.path.startswith(str(self.folder)):
                return 0
            self.changes.append(call)
            if killed(len(self.changes)):
                os.kill(tapped[0].process.pid, signal.SIGKILL)
            return 0

        tapped.append(
            Tapped(
                self.command,
                decide,
                directory=self.folder,
                environment={**os.environ, "COMMODORE_HYDRATE_COMMIT_DATE": "dry"},
                output=subprocess.DEVNULL,
            )
        )
        with tapped[0] as run:
            assert run.is_gone(60)
        return run.process.wait()

    def reset(self) -> None:
        """As before the first run."""
        for name in git(self.remote.path, "for-each-ref", "--format=%(refname)").splitlines():
            if name != "refs/heads/main":
                git(self.remote.path, "update-ref", "-d", name)
        shutil.rmtree(self.folder / "work")

    def end(self) -> tuple[str, set[str]]:
        """Anything that is at the remote: its branches with their commits, and the notes of these."""
        branches = git(self.remote.path, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads")
        notes = git(self.remote.path, "notes", "--ref=hydrator.metadata", "list").splitlines()
        return branches, set(notes)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, int, tuple[str, set[str]]]:
    """A place, how many changes a run makes there, and what it comes to."""
    folder = tmp_path_factory.mktemp("killed")
    files = {f"apps/{name}/x.yaml": f"apiVersion: v1\nkind: X\nmetadata: {{name: {name}}}\n" for name in "ab"}
    remote = GitWorld(folder / "remotes").remote("shop", files, branch="main")
    (folder / "hydrate.yaml").write_text(CONFIG.format(url=remote.url))
    place = Place(folder, remote)
    assert place.run() == 0  # what it keeps in caches, later runs do not make
    place.reset()
    assert place.run() == 0
    return place, len(place.changes), place.end()


@pytest.mark.parametrize("part", range(1, PARTS))
def test_killed_at_any_point(undisturbed: tuple[Place, int, tuple[str, set[str]]], part: int) -> None:
    """The same commits and notes as without that, and nothing next to them."""
    place, number, end = undisturbed
    place.reset()
    assert place.run(lambda count: count == number * part // PARTS) == -signal.SIGKILL
    assert place.run() == 0
    assert place.end() == end
