"""Reports that are kept until they are sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import EnvironmentFault
from commodore.base.events import Event, Warned, ignore
from commodore.base.files.sealed import read_sealed
from commodore.base.files.workspace import Workspace
from commodore.base.limits import DEFAULT_LIMITS
from commodore.catalog import expect_report, pending_file, report_pending
from commodore.core.sources.git import PublishedClone
from tests.world.context import make_context
from tests.world.repos import GitWorld, git

COMPILE = "Automated catalog update from Commodore\n\nof this and that\n"


class Lieutenant:
    """Takes reports, or refuses them."""

    def __init__(self) -> None:
        self.received: list[Mapping[str, Any]] = []
        self.down = False

    def send(self, body: Mapping[str, Any]) -> None:
        if self.down:
            raise EnvironmentFault("CMD-LIEU-001", "lieutenant is down")
        self.received.append(body)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.at(tmp_path / "wd")


@pytest.fixture
def lieutenant() -> Lieutenant:
    return Lieutenant()


class Catalog:
    """The catalog's clone, and commits in it."""

    def __init__(self, root: Path) -> None:
        self._remote = GitWorld(root).remote("catalog", {"README.md": ""})
        self._folder = root / "clone"
        git(root, "clone", "--quiet", self._remote.url, str(self._folder))

    def add(self, message: str = COMPILE, branch: str = "master") -> str:
        sha = self._remote.commit({"n": message}, branch=branch, message=message)
        git(self._folder, "fetch", "--quiet")
        return sha

    def at(self, sha: str) -> Callable[[], PublishedClone]:
        return lambda: PublishedClone(self._folder, "", "master", sha, empty=False)


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return Catalog(tmp_path / "remotes")


def kept(workspace: Workspace) -> Any:
    file = pending_file(workspace)
    return json.loads(read_sealed(file, ("pending reports",)) or b"") if file.exists() else {}


def unasked() -> PublishedClone:
    raise AssertionError("nothing is kept, so the catalog does not matter")


def test_a_report_that_is_sent_leaves_nothing_behind(
    workspace: Workspace, catalog: Catalog, lieutenant: Lieutenant
) -> None:
    sha = catalog.add()
    expect_report(workspace, "c-1", sha, {"n": 1}, make_context())
    assert kept(workspace) == {"c-1": [{"commit": sha, "report": {"n": 1}}]}
    assert report_pending(workspace, "c-1", catalog.at(sha), lieutenant.send, make_context())
    assert lieutenant.received == [{"n": 1}]
    assert not pending_file(workspace).exists()
    assert report_pending(workspace, "c-1", unasked, lieutenant.send, make_context())


def test_a_report_that_fails_is_sent_by_the_next_run(
    workspace: Workspace, catalog: Catalog, lieutenant: Lieutenant
) -> None:
    """The published tool fails although the catalog is pushed, and never reports it."""
    sha, collected = catalog.add(), list[Event]()
    lieutenant.down = True
    expect_report(workspace, "c-1", sha, {"n": 1}, make_context())
    assert not report_pending(
        workspace, "c-1", catalog.at(sha), lieutenant.send, make_context(announce=collected.append), settled=True
    )
    (warning,) = collected
    assert isinstance(warning, Warned)
    assert warning.code == "CMD-CAT-010"
    assert warning.message == "the sources of the catalog of c-1 could not be reported: lieutenant is down"
    assert str(pending_file(workspace)) in warning.hint
    assert not report_pending(workspace, "c-1", catalog.at(sha), lieutenant.send, make_context())
    lieutenant.down = False
    assert report_pending(workspace, "c-1", catalog.at(sha), lieutenant.send, make_context())
    assert lieutenant.received == [{"n": 1}]


def test_only_the_newest_published_report_of_a_cluster_is_sent(
    workspace: Workspace, catalog: Catalog, lieutenant: Lieutenant
) -> None:
    shas = [catalog.add(COMPILE + str(number)) for number in range(3)]
    for number, sha in enumerate(shas):
        expect_report(workspace, "c-1", sha, {"n": number}, make_context())
    assert report_pending(workspace, "c-1", catalog.at(shas[1]), lieutenant.send, make_context())
    assert lieutenant.received == [{"n": 1}]
    assert kept(workspace) == {"c-1": [{"commit": shas[2], "report": {"n": 2}}]}


def test_what_others_commit_does_not_matter_unless_it_is_a_compile(
    workspace: Workspace, catalog: Catalog, lieutenant: Lieutenant
) -> None:
    sha = catalog.add()
    by_hand = catalog.add("By hand")
    expect_report(workspace, "c-1", sha, {"n": 1}, make_context())
    assert report_pending(workspace, "c-1", catalog.at(by_hand), lieutenant.send, make_context())
    assert lieutenant.received == [{"n": 1}]
    expect_report(workspace, "c-1", sha, {"n": 2}, make_context())
    assert report_pending(workspace, "c-1", catalog.at(catalog.add()), lieutenant.send, make_context(), settled=True)
    assert lieutenant.received == [{"n": 1}]
    assert kept(workspace) == {}


@pytest.mark.parametrize("known", [True, False], ids=["another branch", "no such commit"])
def test_a_push_that_may_still_arrive_is_waited_for(
    workspace: Workspace, catalog: Catalog, lieutenant: Lieutenant, known: bool
) -> None:
    """One report is enough: older pushes have come to an end. When the run is over, it is too late."""
    head = catalog.add()
    commit = catalog.add("x", branch="other") if known else "f" * 40
    expect_report(workspace, "c-1", "e" * 40, {"n": 1}, make_context())
    expect_report(workspace, "c-1", commit, {"n": 2}, make_context())
    assert report_pending(workspace, "c-1", catalog.at(head), lieutenant.send, make_context())
    assert kept(workspace) == {"c-1": [{"commit": commit, "report": {"n": 2}}]}
    assert report_pending(workspace, "c-1", catalog.at(head), lieutenant.send, make_context(), settled=True)
    assert lieutenant.received == []
    assert kept(workspace) == {}


def test_reports_of_other_clusters_stay(workspace: Workspace, catalog: Catalog, lieutenant: Lieutenant) -> None:
    sha = catalog.add()
    expect_report(workspace, "c-1", sha, {"n": 1}, make_context())
    assert report_pending(workspace, "c-2", unasked, lieutenant.send, make_context())
    expect_report(workspace, "c-2", sha, {"n": 2}, make_context())
    assert report_pending(workspace, "c-2", catalog.at(sha), lieutenant.send, make_context())
    assert lieutenant.received == [{"n": 2}]
    assert kept(workspace) == {"c-1": [{"commit": sha, "report": {"n": 1}}]}


def test_a_report_is_sent_as_it_was_or_not_at_all(
    workspace: Workspace, catalog: Catalog, lieutenant: Lieutenant
) -> None:
    sha = catalog.add()
    expect_report(workspace, "c-1", sha, {"version": "abc"}, make_context())
    file = pending_file(workspace)
    file.write_bytes(file.read_bytes().replace(b"abc", b"abd"))
    collected: list[Event] = []
    assert report_pending(workspace, "c-1", catalog.at(sha), lieutenant.send, make_context(announce=collected.append))
    assert lieutenant.received == []
    assert [event.code for event in collected if isinstance(event, Warned)] == ["CMD-CAT-011"]


def test_it_survives_the_sweep_of_the_next_run(workspace: Workspace, catalog: Catalog, lieutenant: Lieutenant) -> None:
    sha = catalog.add()
    expect_report(workspace, "c-1", sha, {"n": 1}, make_context())
    with workspace.locked(DEFAULT_LIMITS):
        report_pending(workspace, "c-1", catalog.at(sha), lieutenant.send, make_context())
    assert lieutenant.received == [{"n": 1}]


@pytest.mark.parametrize(
    "content",
    [
        *(b"{", b"\xff", b"[]", b'{"c-1": 1}', b'{"c-1": [1]}', b'{"c-1": [{"commit": ""}]}', b"[" * 100_000),
        b'{"c-1": [{"commit": "--all", "report": {}}]}',
        b'{"c-1": [{"commit": "", "report": []}]}',
    ],
)
def test_a_damaged_file_is_removed_with_a_warning(workspace: Workspace, lieutenant: Lieutenant, content: bytes) -> None:
    workspace.state.mkdir(parents=True)
    pending_file(workspace).write_bytes(content)
    collected: list[Event] = []
    assert report_pending(workspace, "c-1", unasked, lieutenant.send, make_context(announce=collected.append))
    assert [event.code for event in collected if isinstance(event, Warned)] == ["CMD-CAT-011"]
    assert not pending_file(workspace).exists()
    assert report_pending(workspace, "c-1", unasked, lieutenant.send, make_context(announce=ignore))
