"""Reports that could not be sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from commodore.catalog import pending_file, report, report_pending
from commodore.errors import EnvironmentFault
from commodore.events import Event, Warned, ignore
from commodore.workspace import Workspace


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


def test_a_report_that_is_sent_leaves_nothing_behind(workspace: Workspace) -> None:
    lieutenant = Lieutenant()
    assert report(workspace, "c-1", {"n": 1}, lieutenant.send)
    assert lieutenant.received == [{"n": 1}]
    assert not pending_file(workspace).exists()


def test_a_report_that_fails_is_sent_by_the_next_run(workspace: Workspace) -> None:
    """The published tool fails although the catalog is pushed, and never reports it."""
    lieutenant, heard = Lieutenant(), list[Event]()
    lieutenant.down = True
    assert not report(workspace, "c-1", {"n": 1}, lieutenant.send, heard.append)
    (warning,) = heard
    assert isinstance(warning, Warned)
    assert warning.code == "CMD-CAT-010"
    assert warning.message == "what the catalog of c-1 was compiled from could not be reported: lieutenant is down"
    assert str(pending_file(workspace)) in warning.hint
    assert not report_pending(workspace, "c-1", lieutenant.send)
    lieutenant.down = False
    assert report_pending(workspace, "c-1", lieutenant.send)
    assert report_pending(workspace, "c-1", lieutenant.send)
    assert lieutenant.received == [{"n": 1}]
    assert not pending_file(workspace).exists()


def test_only_the_newest_report_of_a_cluster_is_kept(workspace: Workspace) -> None:
    lieutenant = Lieutenant()
    lieutenant.down = True
    report(workspace, "c-1", {"n": 1}, lieutenant.send)
    report(workspace, "c-1", {"n": 2}, lieutenant.send)
    lieutenant.down = False
    report_pending(workspace, "c-1", lieutenant.send)
    assert lieutenant.received == [{"n": 2}]


def test_reports_of_other_clusters_stay(workspace: Workspace) -> None:
    lieutenant = Lieutenant()
    lieutenant.down = True
    report(workspace, "c-1", {"n": 1}, lieutenant.send)
    lieutenant.down = False
    assert report_pending(workspace, "c-2", lieutenant.send)
    assert report(workspace, "c-2", {"n": 2}, lieutenant.send)
    assert lieutenant.received == [{"n": 2}]
    assert json.loads(pending_file(workspace).read_bytes()) == {"c-1": {"n": 1}}


def test_it_survives_the_sweep_of_the_next_run(workspace: Workspace) -> None:
    lieutenant = Lieutenant()
    lieutenant.down = True
    report(workspace, "c-1", {"n": 1}, lieutenant.send)
    lieutenant.down = False
    with workspace.locked():
        report_pending(workspace, "c-1", lieutenant.send)
    assert lieutenant.received == [{"n": 1}]


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[]", b'{"c-1": 1}'])
def test_a_damaged_file_is_removed_with_a_warning(workspace: Workspace, content: bytes) -> None:
    workspace.state.mkdir(parents=True)
    pending_file(workspace).write_bytes(content)
    heard: list[Event] = []
    assert report_pending(workspace, "c-1", Lieutenant().send, heard.append)
    assert [event.code for event in heard if isinstance(event, Warned)] == ["CMD-CAT-011"]
    assert not pending_file(workspace).exists()
    assert report_pending(workspace, "c-1", Lieutenant().send, ignore)
