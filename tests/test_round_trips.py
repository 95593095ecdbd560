"""The number of connections of a compile to remotes, counted at the remotes."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.base.files.sealed import seal
from tests.world.cluster import ClusterWorld
from tests.world.lieutenant import failing
from tests.world.repos import RoundTrips

NETWORK = {"fetch", "ls-remote", "clone", "fetch-pack", "upload-pack", "push"}


@pytest.fixture
def world(tmp_path: Path) -> ClusterWorld:
    made = ClusterWorld(tmp_path)
    made.component("app", data={"a": "1"}, metadata={"multi_instance": True})
    made.component("other", data={"a": "1"})
    made.applications += ["app as one", "app as two"]
    made.package("extra", {"a.yml": ""})
    return made


@pytest.fixture
def trips(world: ClusterWorld, tmp_path: Path) -> RoundTrips:
    made = RoundTrips(tmp_path / "trips")
    world.environment = made.environment
    return made


def test_nothing_changed_is_one_question_per_repository(world: ClusterWorld, trips: RoundTrips) -> None:
    """Whatever uses a repository (a component and its aliases here), its remote is asked once, and nothing is fetched;
    a repository that is new is fetched at once.
    """
    assert world.compile("--push").code == 0
    assert {name: trips.by_remote[name] for name in ("app", "other", "pkg-extra")} == {
        "app": 1,
        "other": 1,
        "pkg-extra": 1,
    }
    trips.forget()
    again = world.compile("--push")
    assert (again.code, again.stdout) == (0, "")
    assert trips.by_remote == dict.fromkeys(("app", "catalog", "defaults", "other", "pkg-extra", "tenant"), 1)
    assert not any("fetch" in words for words in trips.commands)
    assert world.compile("--push").code == 0  # the first push has brought the catalog its first branch to follow
    trips.forget()
    assert world.compile("--push").code == 0
    words = {word for words in trips.commands for word in words}
    assert {"checkout", "config", "for-each-ref", "add", "diff", "rev-parse", "log", "update-ref"}.isdisjoint(words)


def test_only_what_is_wanted_and_new_is_fetched(world: ClusterWorld, trips: RoundTrips) -> None:
    """A branch that nobody wants may move; one that is used is fetched, with one more connection, and compiled."""
    assert world.compile("--push").code == 0
    world.remotes["other"].commit({"a": "b"}, branch="feature")
    trips.forget()
    assert world.compile("--push").code == 0
    assert trips.by_remote["other"] == 1
    world.remotes["app"].commit(world.component_files("app", {"a": "2"}, {"multi_instance": True}))
    trips.forget()
    changed = world.compile("--push")
    assert changed.code == 0, changed.stderr
    assert world.manifest("two/config.yaml")["data"] == {"a": "2"}
    assert {name: count for name, count in trips.by_remote.items() if count > 1} == {"app": 2}


@pytest.mark.requirement("C12")
def test_pinned_commits_need_no_question(world: ClusterWorld, trips: RoundTrips) -> None:
    """A full commit id that is there already is neither asked for nor fetched."""
    for name in ("app", "other"):
        world.descriptions[name]["version"] = world.remotes[name].sha()
    world.packages["extra"]["version"] = world.remotes["pkg.extra"].sha()
    assert world.compile("--push").code == 0
    for name in ("app", "other", "pkg.extra"):
        world.remotes[name].vanish()
    trips.forget()
    result = world.compile("--push")
    assert result.code == 0, result.stderr
    assert trips.by_remote == {"catalog": 1, "defaults": 1, "tenant": 1}


def test_offline_nobody_is_asked(world: ClusterWorld, trips: RoundTrips) -> None:
    assert world.compile("--push").code == 0
    trips.forget()
    result = world.compile("--offline")
    assert result.code == 0, result.stderr
    assert not any(NETWORK & set(words) for words in trips.commands)
    assert trips.by_remote == {}


def test_remotes_of_the_last_run_are_asked_at_once(world: ClusterWorld, trips: RoundTrips) -> None:
    """They are asked before anybody knows whether they are wanted: here the API never tells who the cluster is."""
    with world.lieutenant() as api:
        assert world.compile("--push").code == 0
        trips.forget()
        api.script(failing(403, "no"), times=99)
        assert world.compile("--push").code != 0
    assert set(trips.by_remote) <= {"app", "catalog", "defaults", "other", "pkg-extra", "tenant"}
    noted = (world.work / ".commodore" / "remotes.json").read_text(encoding="utf-8")
    assert noted.count("file://") == 6


def test_a_damaged_note_of_the_last_run_does_no_harm(world: ClusterWorld, trips: RoundTrips) -> None:
    assert world.compile("--push").code == 0
    note = world.work / ".commodore" / "remotes.json"
    for content in (b"{", b'{"a": 1}', b'[1, "ext::sh -c true", "--upload-pack=x", "file:///nowhere/at-all.git"]'):
        note.write_bytes(content if content == b"{" else seal(("note", "remotes.json"), content))
        result = world.compile("--push")
        assert (result.code, result.warnings) == (0, []), result.stderr


def test_another_working_directory_fetches_only_what_is_new(world: ClusterWorld, trips: RoundTrips) -> None:
    """One question per repository, as in a directory that was used; and the same catalog as without the cache."""
    assert world.compile("--push").code == 0
    assert world.compile("--push").code == 0  # the catalog has a commit now
    everything = dict.fromkeys(("app", "defaults", "other", "pkg-extra", "tenant"), 1)
    world.work = world.root / "second"
    trips.forget()
    assert world.compile("--push").code == 0
    assert trips.by_remote == {**everything, "catalog": 2}
    world.work = world.root / "third"
    trips.forget()
    result = world.compile("--push")
    assert (result.code, result.stdout, result.warnings) == (0, "", [])
    assert trips.by_remote == {**everything, "catalog": 1}
    assert not any("fetch" in words for words in trips.commands)
    third = world.local_tree()
    world.work = world.root / "fourth"
    trips.forget()
    assert world.compile("--push", "--no-cache").code == 0
    assert sum("fetch" in words for words in trips.commands) == 6
    assert world.local_tree() == third


def test_pinned_commits_in_another_working_directory(world: ClusterWorld, trips: RoundTrips) -> None:
    """Asked for once, so that the remote can refuse, and not by the runs after that."""
    world.descriptions["app"]["version"] = world.remotes["app"].sha()
    assert world.compile("--push").code == 0
    world.work = world.root / "second"
    trips.forget()
    assert world.compile("--push").code == 0
    assert trips.by_remote["app"] == 1
    trips.forget()
    assert world.compile("--push").code == 0
    assert "app" not in trips.by_remote
    world.work = world.root / "third"
    world.remotes["app"].vanish()
    assert world.compile("--push").code == 3
