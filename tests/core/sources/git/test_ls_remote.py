"""Asking remotes what they have: once each, all at once, without moving objects."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.base.limits import Limits
from commodore.core.sources.git import RepositoryStore, check_out
from commodore.core.sources.git.ls_remote import RemoteAnswers, RemoteQueries, RemoteState, ask
from tests.core.sources.git.conftest import Heard
from tests.world.context import make_context
from tests.world.repos import GitCalls, GitWorld, RoundTrips, git

NewRun = Callable[..., RepositoryStore]


def test_what_a_remote_has(world: GitWorld) -> None:
    remote = world.remote(files={"a": "1"})
    remote.tag("light")
    remote.tag("heavy", annotated=True)
    remote.start_branch("feature/x")
    state = ask(remote.url, make_context())
    sha = remote.sha()
    assert state.branches == {"master": sha, "feature/x": sha}
    assert state.tags.keys() == {"light", "heavy"}
    assert state.peeled == {"heavy": sha}
    assert (state.head, state.head_sha) == ("master", sha)
    assert [state.find(name) for name in ("heavy", "refs/tags/heavy", "light", "refs/heads/master")] == [sha] * 4
    assert state.find("nope") is None
    assert ask(world.remote("empty").url, make_context()) == RemoteState(
        head=ask(world.remote("bare").url, make_context()).head
    )


def test_a_branch_beats_a_tag() -> None:
    assert RemoteState(branches={"v1": "b"}, tags={"v1": "t"}).find("v1") == "b"
    assert RemoteState(branches={"v1": "b"}, tags={"v1": "t"}).find("refs/tags/v1") == "t"


def test_each_remote_is_asked_once(world: GitWorld, tmp_path: Path, calls: GitCalls) -> None:
    remotes = [world.remote(f"r{number}", {"a": "1"}) for number in range(3)]
    commits = {remote.url: remote.sha() for remote in remotes}
    questions = RemoteQueries(tmp_path, make_context())
    calls.forget()
    questions.foresee(commits)
    for url in [*commits, *commits]:
        assert questions.answer(url).branches == {"master": commits[url]}
    questions.end()
    assert calls.verbs == ["ls-remote"] * 3
    assert questions.used == sorted(remote.url for remote in remotes)


def test_a_remote_that_nobody_wants_may_fail(world: GitWorld, tmp_path: Path) -> None:
    remote = world.remote(files={"a": "1"})
    remote.vanish()
    questions = RemoteQueries(tmp_path, make_context())
    questions.foresee([remote.url])
    assert questions.used == []
    with pytest.raises(EnvironmentFault) as error:
        questions.answer(remote.url)
    assert (error.value.code, str(error.value.locations[0])) == ("CMD-GIT-005", remote.url)
    questions.end()


def test_credentials_do_not_get_on_command_lines(tmp_path: Path, calls: GitCalls) -> None:
    questions = RemoteQueries(tmp_path, make_context())
    questions.foresee(["https://tess:geheim@127.0.0.1:1/x.git"])
    with pytest.raises(EnvironmentFault):
        questions.answer("https://tess:geheim@127.0.0.1:1/x.git")
    questions.end()
    assert calls.verbs == ["ls-remote"]
    assert "geheim" not in calls.lines


def test_offline_nothing_is_foreseen(new_run: NewRun, world: GitWorld, calls: GitCalls) -> None:
    remote = world.remote(files={"a": "1"})
    calls.forget()
    with new_run(offline=True) as store:
        store.foresee([remote.url])
        with pytest.raises(EnvironmentFault) as error:
            store.repository(remote.url).ask()
    assert error.value.code == "CMD-GIT-023"
    assert calls.verbs == []


def test_unchanged_repositories_are_asked_and_not_fetched(new_run: NewRun, world: GitWorld, calls: GitCalls) -> None:
    """One process per repository: its configuration and its refs are known from the last run."""
    remotes = [world.remote(f"r{number}", {"a": "1"}) for number in range(3)]
    for remote in remotes:
        remote.tag("v1", annotated=True)
    requests = [(remote.url, version) for remote in remotes for version in ("master", "v1", None)]
    for _ in range(2):  # the second run sees the default branch, and notes it
        new_run().sync(requests)
    commits = {remote.url: remote.sha() for remote in remotes}
    calls.forget()
    store = new_run()
    store.sync(requests)
    for url, sha in commits.items():
        repository = store.repository(url)
        assert repository.resolve("v1").sha == repository.resolve(None).sha == sha
        assert repository.short_sha(sha) == sha[:6]
    assert calls.verbs == ["ls-remote"] * 3


@pytest.mark.parametrize("version", ["master", "v1", "master~1", "new", None])
def test_what_is_wanted_and_moved_is_fetched(new_run: NewRun, world: GitWorld, version: str | None) -> None:
    remote = world.remote(files={"a": "1"})
    remote.commit({"a": "2"})
    remote.tag("v1")
    new_run().sync([(remote.url, "master"), (remote.url, "v1"), (remote.url, None)])
    remote.commit({"a": "3"})
    remote.tag("v1")
    remote.tag("new")
    store = new_run()
    store.sync([(remote.url, version)])
    assert store.repository(remote.url).resolve(version).sha == remote.sha(
        "master~1" if version == "master~1" else None
    )


def test_what_nobody_wants_is_not_fetched(new_run: NewRun, world: GitWorld, calls: GitCalls) -> None:
    """Other branches may move; a version that is asked for later in the run is brought then."""
    remote = world.remote(files={"a": "1"})
    remote.tag("v1")
    new_run().sync([(remote.url, "v1")])
    newest = remote.commit({"a": "2"})
    calls.forget()
    store = new_run()
    store.sync([(remote.url, "v1")])
    assert calls.count("fetch") == 0
    store.sync([(remote.url, "master")])
    assert store.repository(remote.url).resolve("master").sha == newest
    assert (calls.count("ls-remote"), calls.count("fetch")) == (1, 1)


def test_a_branch_that_is_gone_is_noticed(new_run: NewRun, world: GitWorld) -> None:
    remote = world.remote(files={"a": "1"})
    remote.start_branch("feature")
    new_run().sync([(remote.url, "feature")])
    remote.delete_branch("feature")
    store = new_run()
    store.sync([(remote.url, "feature")])
    assert "feature" not in store.repository(remote.url).refs().branches


def test_refs_that_somebody_has_changed_in_the_clone(new_run: NewRun, world: GitWorld) -> None:
    """Cached refs of a clone are dropped as soon as their files change."""
    remote = world.remote(files={"a": "1"})
    first = remote.sha()
    newest = remote.commit({"a": "2"})
    store = new_run()
    store.sync([(remote.url, "master")])
    clone = store.repository(remote.url).path
    git(clone, "update-ref", "refs/remotes/origin/master", first)
    store = new_run()
    store.sync([(remote.url, "master")])
    assert store.repository(remote.url).resolve("master").sha == newest
    git(clone, "pack-refs", "--all")
    git(clone, "update-ref", "-d", "refs/remotes/origin/master")
    store = new_run()
    store.sync([(remote.url, "master")])
    assert store.repository(remote.url).resolve("master").sha == newest


def test_a_configuration_that_somebody_has_changed(new_run: NewRun, world: GitWorld, calls: GitCalls) -> None:
    remote, other = world.remote("one", {"a": "1"}), world.remote("two", {"a": "1"})
    store = new_run()
    store.sync([(remote.url, "master")])
    clone = store.repository(remote.url).path
    git(clone, "remote", "set-url", "origin", other.url)
    new_run().sync([(remote.url, "master")])
    assert git(clone, "remote", "get-url", "origin") == remote.url


@pytest.mark.requirement("C18")
def test_an_unchanged_worktree_needs_no_git(
    workspace: Path, world: GitWorld, collected: Heard, calls: GitCalls
) -> None:
    """Git is asked again when a file, HEAD or the index changes, and finds what has changed."""
    remote = world.remote(files={"a": "1", "sub/b": "2"})
    remote.commit({"a": "2"})
    store = RepositoryStore(
        workspace / ".repos", make_context(announce=collected.append, limits=Limits(settled_seconds=0))
    )
    store.sync([(remote.url, "master")])
    repository = store.repository(remote.url)
    revision, older = repository.resolve("master"), repository.resolve("master~1")
    folder = workspace / "thing"
    for _ in range(2):
        check_out(repository, folder, revision)
    calls.forget()
    assert check_out(repository, folder, revision).sha == revision.sha
    assert calls.verbs == []
    check_out(repository, folder, older)
    assert (folder / "a").read_text() == "1"
    check_out(repository, folder, revision)
    check_out(repository, folder, revision)
    (folder / "sub" / "b").write_text("3")
    with pytest.raises(PolicyError, match="uncommitted changes"):
        check_out(repository, folder, revision)
    (folder / "sub" / "b").write_text("2")
    check_out(repository, folder, revision)
    (folder / "untracked").write_text("")
    check_out(repository, folder, revision)
    calls.forget()
    check_out(repository, folder, revision)
    assert calls.verbs == []
    (folder / "a").write_text("staged")
    git(folder, "add", "a")
    with pytest.raises(PolicyError, match="uncommitted changes"):
        check_out(repository, folder, revision)


@pytest.mark.parametrize(("settled", "touched"), [(0, False), (0, True), (86_400, False)])
def test_the_run_after_the_first_needs_no_git(
    workspace: Path, world: GitWorld, calls: GitCalls, settled: int, touched: bool
) -> None:
    """Files that git has written are noted at the end of the run, but not files changed in between, or just written: a
    file that was written a moment ago could be written again without a trace in its times.
    """
    remote = world.remote(files={"a": "1"})
    remote.commit({"a": "2"})
    folder, context = workspace / "thing", make_context(limits=Limits(settled_seconds=settled))
    for version in ("master~1", "master"):  # a new one, and one that moves
        with RepositoryStore(workspace / ".repos", context) as store:
            store.sync([(remote.url, "master")])
            repository = store.repository(remote.url)
            check_out(repository, folder, repository.resolve(version))
            if touched:
                os.utime(folder / "a")
        with RepositoryStore(workspace / ".repos", context) as store:
            repository = store.repository(remote.url)
            revision = repository.resolve(version)
            calls.forget()
            for _ in range(2):
                check_out(repository, folder, revision)
            assert calls.verbs == ["status"] * (2 if settled else touched)


def test_commits_that_were_pushed_since_are_not_unpushed(new_run: NewRun, world: GitWorld, workspace: Path) -> None:
    """Nobody had wanted the branch, so it was not fetched; before work is called unpushed, it is."""
    remote = world.remote(files={"a": "1"})
    remote.tag("v1")
    store = new_run()
    store.sync([(remote.url, "v1")])
    repository = store.repository(remote.url)
    folder = workspace / "dependencies" / "thing"
    check_out(repository, folder, repository.resolve("v1"))
    (folder / "a").write_text("2")
    git(folder, "-c", "user.name=T", "-c", "user.email=t@e.x", "commit", "--quiet", "--all", "--message", "Work")
    git(folder, "push", "--quiet", remote.url, "HEAD:refs/heads/pushed")
    (folder / "a").write_text("3")
    git(folder, "-c", "user.name=T", "-c", "user.email=t@e.x", "commit", "--quiet", "--all", "--message", "More")
    git(folder, "push", "--quiet", remote.url, "HEAD:refs/heads/pushed")
    git(folder, "checkout", "--quiet", "HEAD~1")
    store = new_run()
    store.sync([(remote.url, "v1")])
    check_out(store.repository(remote.url), folder, store.repository(remote.url).resolve("v1"))
    assert (folder / "a").read_text() == "1"


def test_a_fetch_says_what_it_costs(
    new_run: NewRun, world: GitWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One for a new clone, one for an unchanged one, two for one with news."""
    remote = world.remote(files={"a": "1"})
    trips = RoundTrips(tmp_path / "trips")
    for name, value in trips.environment.items():
        monkeypatch.setenv(name, value)
    for change, connections in ((False, 1), (False, 1), (True, 2)):
        if change:
            remote.commit({"a": "2"})
        trips.forget()
        with new_run() as store:
            store.sync([(remote.url, "master")])
        assert trips.by_remote == {"repo": connections}


def test_stores_that_share_their_answers_see_the_same_commits(world: GitWorld, tmp_path: Path) -> None:
    """A branch that moves in between stays where it was for the first store, also for one that begins with its pins."""
    remote = world.remote(files={"a": "1"})
    first = remote.sha()
    answers = RemoteAnswers(make_context())

    def resolve(name: str, answers: RemoteAnswers) -> list[str]:
        with RepositoryStore(tmp_path / name, make_context(), answers=answers) as store:
            store.sync([(remote.url, "master"), (remote.url, None)])
            repository = store.repository(remote.url)
            return [repository.resolve(version).sha for version in ("master", None)]

    assert resolve("one", answers) == [first, first]
    remote.commit({"a": "2"})
    assert resolve("two", answers) == [first, first]
    later = RemoteAnswers(make_context(), answers.pins)
    assert resolve("three", later) == [first, first]
    assert resolve("four", RemoteAnswers(make_context())) == [remote.sha()] * 2
    answers.end()
    later.end()


def test_answers_can_be_forgotten(world: GitWorld, tmp_path: Path) -> None:
    """Failed queries and queries of given remotes are dropped; all others stay."""
    remotes = [world.remote(f"r{number}", {"a": "1"}) for number in range(3)]
    answers = RemoteAnswers(make_context())
    questions = RemoteQueries(tmp_path, make_context(), answers)
    remotes[2].vanish()
    before = [questions.answer(remote.url).branches for remote in remotes[:2]]
    with pytest.raises(EnvironmentFault):
        questions.answer(remotes[2].url)
    remotes[2].return_again()
    for remote in remotes[:2]:
        remote.commit({"a": "2"})
    answers.forget(remotes[0].url)
    assert questions.answer(remotes[0].url).branches == {"master": remotes[0].sha()}
    assert questions.answer(remotes[1].url).branches == before[1]
    assert questions.answer(remotes[2].url).branches == {"master": remotes[2].sha()}
    answers.end()
