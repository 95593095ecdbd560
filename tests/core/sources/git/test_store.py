"""All repositories of a run: one clone each, fetched at most once, in parallel."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from commodore.base.documents import plain
from commodore.base.errors import CommodoreError, EnvironmentFault, Findings, InputError
from commodore.base.events import StageAdvanced, StageGrown
from commodore.core.sources.git import FETCH_STAGE, RepositoryStore
from tests.core.sources.git.conftest import Heard
from tests.world.git_server import GitServer
from tests.world.repos import GitCalls, GitWorld, failing_server, git

NewRun = Callable[..., RepositoryStore]


@pytest.mark.requirement("C16")
def test_one_fetch_per_repository_and_run(
    store: RepositoryStore, world: GitWorld, calls: GitCalls, collected: Heard
) -> None:
    """Two network fetches per dependency and run, repeated for every user of the repository."""
    first, two = world.remote("one", {"a": "1"}), world.remote("two", {"a": "1"})
    first.tag("v1")
    calls.forget()
    store.sync([(first.url, "master"), (first.url, "v1"), (two.url, "master"), (first.url, "master")])
    assert calls.count("fetch") == 2
    store.sync([(first.url, "v1"), (two.url, "master")])
    assert calls.count("fetch") == 2
    advanced = [event for event in collected if isinstance(event, StageAdvanced)]
    assert sorted(event.item for event in advanced if event.seconds) == [first.url, two.url]
    assert len(advanced) == sum(event.items for event in collected if isinstance(event, StageGrown)) == 4
    assert {event.stage for event in collected if isinstance(event, StageAdvanced)} == {FETCH_STAGE}


def test_a_full_commit_id_that_is_there_needs_no_network(new_run: NewRun, world: GitWorld, collected: Heard) -> None:
    """Fetched even when the pinned commit is already present."""
    remote = world.remote(files={"a": "1"})
    sha = remote.sha()
    new_run().sync([(remote.url, "master")])
    remote.vanish()
    collected.clear()
    store = new_run()
    store.sync([(remote.url, sha)])
    assert store.repository(remote.url).resolve(sha).sha == sha
    assert collected == [StageGrown(FETCH_STAGE, 1), StageAdvanced(FETCH_STAGE, remote.url)]
    with pytest.raises(EnvironmentFault):
        store.sync([(remote.url, sha), (remote.url, "master")])


def test_a_version_that_appears_during_a_run_is_fetched(store: RepositoryStore, world: GitWorld) -> None:
    remote = world.remote(files={"a": "1"})
    store.sync([(remote.url, "master")])
    remote.commit({"a": "2"})
    remote.tag("late")
    store.sync([(remote.url, "master")])
    with pytest.raises(InputError):
        store.repository(remote.url).resolve("late")
    store.sync([(remote.url, "late")])
    assert store.repository(remote.url).resolve("late").kind == "tag"


def test_a_version_that_does_not_exist_is_sought_once(store: RepositoryStore, world: GitWorld, calls: GitCalls) -> None:
    remote = world.remote(files={"a": "1"})
    calls.forget()
    for _ in range(3):
        store.sync([(remote.url, "nope")])
    assert calls.count("fetch") == 2


@pytest.mark.requirement("C12")
def test_a_commit_that_no_branch_contains_is_asked_for(store: RepositoryStore, world: GitWorld) -> None:
    """A full commit id of a deleted branch works as long as the server has it."""
    remote = world.remote(files={"a": "1"})
    sha = remote.commit({"a": "2"}, branch="short-lived")
    remote.delete_branch("short-lived")
    store.sync([(remote.url, sha)])
    assert store.repository(remote.url).resolve(sha).sha == sha


def test_the_first_url_is_fetched_unless_a_later_one_is_ssh(store: RepositoryStore) -> None:
    """`ssh://` wins, `git@host:path` and others do not."""
    first = store.repository("https://git.example.com/x.git")
    assert store.repository("git@git.example.com:x.git") is first
    assert store.repository("https://tess@git.example.com/x") is first
    assert first.url == "https://git.example.com/x.git"
    first.ensure()
    assert store.repository("ssh://git@git.example.com/x.git") is first
    assert store.repository("https://git.example.com/x.git") is first
    first.ensure()
    assert git(first.path, "remote", "get-url", "origin") == "ssh://git@git.example.com/x.git"
    assert git(first.path, "remote", "get-url", "--push", "origin") == "ssh://git@git.example.com/x.git"


@pytest.mark.parametrize("served", [["x", "x.git"], ["x.git"]])
def test_one_repository_with_two_endings_has_one_clone(
    store: RepositoryStore, world: GitWorld, served: list[str]
) -> None:
    """A server that knows both, or one of them alone."""
    remote = world.remote("x", files={"a": "1"})
    with GitServer(world.root) as server:
        for name in served:
            server.moved[f"/there/{name}"] = f"{server.site}/x.git"
        url, other = f"{server.site}/there/x.git", f"{server.site}/there/x"
        store.sync([(url, "master"), (other, "master"), (other, None)])
        for spelling in (url, other):
            assert store.repository(spelling).resolve("master").sha == remote.sha()
        assert store.repository(url) is store.repository(other)


def test_servers_on_two_ports_do_not_share_a_clone(store: RepositoryStore) -> None:
    """Ports were not part of the key."""
    repository = store.repository("https://git.example.com:8443/x.git")
    assert store.repository("https://git.example.com/x.git").path != repository.path


def test_a_local_and_a_remote_repository_do_not_share_a_clone(store: RepositoryStore) -> None:
    store.repository("https://srv/x.git")
    with pytest.raises(InputError) as error:
        store.repository("/srv/x.git")
    assert error.value.code == "CMD-GIT-013"


def test_all_failures_are_reported_and_the_rest_is_fetched(store: RepositoryStore, world: GitWorld) -> None:
    """An unreachable remote ended in a traceback quoting git commands."""
    good = world.remote("good", {"a": "1"})
    gone = world.remote("gone", {"a": "1"})
    gone.vanish()
    with failing_server(500) as url, pytest.raises(Findings) as findings:
        store.sync([(gone.url, "x"), (f"{url}/x.git", None), ("ext::x", "y"), (good.url, "master")])
    assert sorted(error.code for error in findings.value.errors) == ["CMD-GIT-005", "CMD-GIT-005", "CMD-GIT-011"]
    assert store.repository(good.url).resolve("master").sha == good.sha()
    named = " ".join(error.message for error in findings.value.errors)
    assert f"git fetch of {gone.url} did not reach" in named
    assert f"git fetch of {url}/x.git did not reach" in named
    for error in findings.value.errors:
        assert "-c " not in error.message
        assert error.hint


@pytest.mark.parametrize(("status", "code"), [(401, "CMD-GIT-004"), (403, "CMD-GIT-004"), (404, "CMD-GIT-005")])
def test_web_servers_that_refuse(store: RepositoryStore, status: int, code: str) -> None:
    """No prompt, no credentials in the message, and a hint that fits."""
    with failing_server(status) as url:
        private = url.replace("http://", "http://tess:geheim@") + "/x.git"
        with pytest.raises(EnvironmentFault) as error:
            store.sync([(private, "master")])
    assert error.value.code == code
    assert "geheim" not in f"{error.value} {error.value.hint} {plain(error.value)}"


def test_offline_uses_what_is_there(new_run: NewRun, world: GitWorld, calls: GitCalls) -> None:
    remote = world.remote(files={"a": "1"})
    store = new_run(offline=True)
    with pytest.raises(EnvironmentFault) as error:
        store.sync([(remote.url, "master")])
    assert error.value.code == "CMD-GIT-023"
    new_run().sync([(remote.url, "master")])
    remote.vanish()
    calls.forget()
    store = new_run(offline=True)
    store.sync([(remote.url, "master"), (remote.url, None), (remote.url, "new"), (remote.url, "0" * 40)])
    assert store.repository(remote.url).resolve("master").kind == "branch"
    with pytest.raises(EnvironmentFault) as unknown:
        store.repository(remote.url).resolve("new")
    assert unknown.value.code == "CMD-GIT-025"
    assert "'new'" in unknown.value.message
    assert remote.url in unknown.value.message
    with pytest.raises(EnvironmentFault):
        store.repository(remote.url).fetch()
    assert not {"fetch", "ls-remote"} & set(calls.verbs)


def test_many_threads_may_use_one_store(store: RepositoryStore, world: GitWorld, calls: GitCalls) -> None:
    remote = world.remote(files={"a": "1"})
    calls.forget()
    failures: list[CommodoreError] = []

    def work() -> None:
        try:
            store.sync([(remote.url, "master")])
            store.repository(remote.url).resolve("master")
        except CommodoreError as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert calls.count("init") == 1
    assert calls.count("fetch") == 1


def test_a_damaged_remote_is_not_taken_for_a_damaged_clone(new_run: NewRun, world: GitWorld, collected: Heard) -> None:
    """A server's message about its own objects leads to an error about the server, and leaves the clone alone."""
    remote = world.remote()
    git(remote.path, "config", "fastimport.unpackLimit", "100")  # without its packs a remote does not know the commit
    remote.commit({"a": "1"})
    new_run().sync([(remote.url, "master")])
    remote.commit({"a": "2"})
    for path in sorted(remote.path.glob("objects/??/*")):
        path.chmod(0o644)
        path.write_bytes(b"")
    with pytest.raises(EnvironmentFault) as error:
        new_run().sync([(remote.url, "master")])
    assert error.value.code != "CMD-GIT-021"
    assert remote.url in error.value.message
    assert collected.codes == []
