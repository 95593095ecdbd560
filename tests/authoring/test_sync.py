"""Runs over many repositories, on a real server with real repositories."""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from commodore.authoring.sync import sync_repositories
from commodore.base.documents import plain
from commodore.base.errors import UsageError
from commodore.base.files.workspace import Workspace
from commodore.base.limits import Limits
from tests.authoring.sync_world import BRANCH, SyncWorld, codes, only, statuses, sync_world
from tests.authoring.template_world import NUMBERS, ROOT
from tests.world.context import make_context
from tests.world.github import failing


@pytest.fixture
def world(tmp_path: Path) -> Iterator[SyncWorld]:
    with sync_world(tmp_path) as made:
        yield made


def test_a_change_of_the_template_becomes_a_pull_request(world: SyncWorld) -> None:
    name = world.component("foo")
    before = world.tip(name, "master")
    world.advance()
    result = world.sync(labels=("template", "bot"))
    item, [pull] = only(result), world.server.pulls(name)
    short = world.template.sha("main")[:7]
    assert (item.status, item.url, item.template) == ("created", pull["html_url"], f"main ({short})")
    assert result.passed
    assert (pull["title"], pull["body"]) == ("Update from component template", f"Template version: main ({short})")
    assert (pull["head"]["ref"], pull["base"]["ref"]) == (BRANCH, "master")
    assert [label["name"] for label in pull["labels"]] == ["template", "bot"]
    remote = world.server.hosted[name].remote
    files = remote.files(BRANCH)
    assert files["new.txt"] == "new"
    assert "old.txt" not in files
    assert world.tip(name, f"{BRANCH}^") == before == world.tip(name, "master")


def test_without_changes_nothing_is_pushed(world: SyncWorld) -> None:
    name = world.component("foo")
    assert statuses(world.sync()) == ["up-to-date"]
    assert world.tip(name) == ""
    assert world.server.writes() == []


def test_a_new_commit_of_the_template_that_changes_nothing_is_no_change(world: SyncWorld) -> None:
    name = world.component("foo")
    world.template.commit({"README.md": "for template authors\n"}, branch="main")
    assert statuses(world.sync()) == ["up-to-date"]
    assert world.tip(name) == ""


def test_a_second_run_leaves_an_open_pull_request_alone(world: SyncWorld) -> None:
    name = world.component("foo")
    world.advance()
    world.sync()
    tip = world.tip(name)
    item = only(world.sync())
    assert (item.status, item.url) == ("up-to-date", world.server.pulls(name)[0]["html_url"])
    assert world.tip(name) == tip
    assert world.server.writes() == []


def test_an_open_pull_request_follows_the_template(world: SyncWorld) -> None:
    name = world.component("foo")
    world.advance()
    world.sync()
    world.server.pulls(name)[0]["title"] = "a better title"
    world.template.commit({f"{ROOT}/third.txt": "third\n"}, branch="main")
    assert only(world.sync(labels=("late",))).status == "updated"
    [pull] = world.server.pulls(name)
    assert pull["title"] == "a better title"
    assert world.template.sha("main")[:7] in pull["body"]
    assert pull["labels"] == [{"name": "late"}]
    assert world.server.hosted[name].remote.files(BRANCH)["third.txt"] == "third"
    assert world.server.writes() == [
        f"PATCH /repos/{name}/pulls/1",
        f"POST /repos/{name}/issues/1/labels",
    ]


def test_a_pushed_branch_without_pull_request_gets_one(world: SyncWorld) -> None:
    name = world.component("foo")
    world.advance()
    world.server.script(failing(422), method="POST", path=f"/repos/{name}/pulls")
    result = world.sync()
    assert codes(result) == ["CMD-SYNC-022"]
    assert not result.passed
    tip = world.tip(name)
    assert tip
    assert statuses(world.sync()) == ["created"]
    assert world.tip(name) == tip


def test_a_fork_with_the_same_branch_name_is_not_taken_over(world: SyncWorld) -> None:
    """Only the branch's name was looked at."""
    name = world.component("foo")
    fork = world.server.open_pull(name, BRANCH, head="acme/fork-of-foo", body="mine")
    gone = world.server.open_pull(name, BRANCH, body="gone")
    gone["head"]["repo"] = {"full_name": "acme/another", "url": ""}
    world.advance()
    assert statuses(world.sync()) == ["created"]
    assert fork["body"] == "mine"
    assert world.server.pulls(name)[2]["title"] == "Update from component template"


def test_commits_of_others_on_the_branch_are_named_when_they_are_replaced(world: SyncWorld) -> None:
    name = world.component("foo")
    theirs = world.server.hosted[name].remote.commit({"mine.txt": "mine\n"}, branch=BRANCH, message="Mine")
    world.advance()
    assert statuses(world.sync()) == ["created"]
    assert world.warnings == ["CMD-SYNC-013"]
    assert any(theirs in getattr(event, "hint", "") for event in world.collected)
    assert "mine.txt" not in world.server.hosted[name].remote.files(BRANCH)


def test_conflicts_become_a_comment_that_is_not_repeated(world: SyncWorld) -> None:
    changed = NUMBERS.replace("3\n", "drei\n", 1).replace("18\n", "achtzehn\n")
    name = world.component("foo", {"numbers.txt": changed})
    world.advance()
    world.template.commit({f"{ROOT}/numbers.txt": NUMBERS.replace("3\n", "three\n", 1) + "21\n"}, branch="main")
    item = only(world.sync())
    assert (item.status, item.rejected) == ("created", True)
    [comment] = world.server.hosted[name].comments[1]
    assert comment.startswith(
        "Component update was only partially successful. Please check the PR carefully.\n\n"
        "Rejected patches:\n\n```diff\n--- a/numbers.txt\n+++ b/numbers.txt\n"
    )
    assert "\n-drei\n" in comment
    assert "\n+three\n" in comment
    assert "achtzehn" not in comment
    files = world.server.hosted[name].remote.files(BRANCH)
    assert files["numbers.txt"] == changed + "21"
    assert files["new.txt"] == "new"
    world.server.hosted[name].comments[1].append("I have seen it")
    assert only(world.sync()).status == "up-to-date"
    world.server.hosted[name].remote.commit({"else.txt": "else\n"})
    assert only(world.sync()).status == "updated"
    assert world.server.hosted[name].comments[1] == [comment, "I have seen it"]


def test_what_cannot_be_synchronised_is_skipped_with_a_reason(world: SyncWorld) -> None:
    world.server.hosted[world.component("archived")].archived = True
    world.server.repository("acme/component-plain", {"README.md": "plain\n"})
    world.server.repository("acme/component-empty")
    world.names += ["acme/component-plain", "acme/component-empty", "acme/component-gone"]
    result = world.sync()
    assert [(item.status, item.reason) for item in result.items] == [
        ("skipped", "it is archived"),
        ("skipped", "it has no .cruft.json"),
        ("skipped", "it is empty"),
        ("skipped", "it does not exist, or is not visible with the token"),
    ]
    assert result.passed


def test_one_failure_does_not_end_the_run(world: SyncWorld) -> None:
    """One failing item ended the run, and the exit code did not show it."""
    broken, refused, fine = (world.component(slug) for slug in ("broken", "refused", "fine"))
    world.server.hosted[broken].remote.commit({".cruft.json": "{"})
    world.server.hosted[refused].remote.refuse_pushes("not today")
    world.names.insert(0, "no-repository")
    world.advance()
    result = world.sync()
    assert [item.name for item in result.items] == ["'no-repository'", broken, refused, fine]
    assert codes(result) == ["CMD-SYNC-004", "CMD-TPL-011", "CMD-SYNC-012", None]
    assert result.items[1].reason.startswith(f"{broken}/.cruft.json is invalid")
    assert result.items[1].error is not None
    assert [str(location) for location in result.items[1].error.locations] == [f"{broken}/.cruft.json"]
    assert "not today" in result.items[2].reason
    assert result.items[3].status == "created"
    assert dict(result.counts()) == {"created": 1, "failed": 3}
    assert not result.passed
    assert world.state == []


def test_a_dry_run_says_what_would_be_done(world: SyncWorld) -> None:
    new, known = world.component("new"), world.component("known")
    world.server.open_pull(known, BRANCH)
    world.advance()
    result = world.sync(dry_run=True)
    assert statuses(result) == ["would-create", "would-update"]
    assert world.server.writes() == []
    assert (world.tip(new), world.tip(known)) == ("", "")


def test_another_version_of_the_template_is_always_a_dry_run(world: SyncWorld) -> None:
    name = world.component("foo")
    world.template.start_branch("next", "main")
    world.template.commit({f"{ROOT}/next.txt": "next\n"}, branch="next")
    result = world.sync(template_version="next")
    assert statuses(result) == ["would-create"]
    assert world.warnings == ["CMD-SYNC-009"]
    assert world.tip(name) == ""
    world.sync(template_version="next", dry_run=True)
    assert world.warnings == []


def test_another_version_without_other_changes_is_no_change(world: SyncWorld) -> None:
    world.component("foo")
    world.template.start_branch("same", "main")
    assert statuses(world.sync(template_version="same", dry_run=True)) == ["up-to-date"]


def test_untrusted_templates_are_not_rendered(world: SyncWorld) -> None:
    world.component("foo")
    world.advance()
    assert codes(world.sync(trust_template=False)) == ["CMD-TPL-020"]


def test_templates_do_not_see_the_token(world: SyncWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    name = world.component("foo")
    monkeypatch.setenv("COMMODORE_GITHUB_TOKEN", world.server.token)
    hook = (
        "import os, pathlib\npathlib.Path('seen.txt').write_text(os.environ.get('COMMODORE_GITHUB_TOKEN', 'nothing'))\n"
    )
    world.template.commit({"hooks/post_gen_project.py": hook, f"{ROOT}/new.txt": "new\n"}, branch="main")
    assert statuses(world.sync()) == ["created"]
    assert world.server.hosted[name].remote.files(BRANCH)["seen.txt"] == "nothing"


def test_the_default_branch_is_never_pushed_to(world: SyncWorld) -> None:
    name = world.component("foo")
    before = world.tip(name, "master")
    world.advance()
    assert codes(world.sync(branch="master")) == ["CMD-SYNC-011"]
    assert world.tip(name, "master") == before


def test_a_renamed_repository_is_found(world: SyncWorld) -> None:
    name = world.component("foo")
    world.server.moved["acme/component-old"] = name
    world.names[:] = ["acme/component-old"]
    world.advance()
    assert statuses(world.sync()) == ["created"]
    assert world.warnings == ["CMD-SYNC-015"]
    assert len(world.server.pulls(name)) == 1


@pytest.mark.parametrize("place", ["https://elsewhere.example.com/x.git", "file:///tmp/x.git", "http://127.0.0.1:1/x"])
def test_repositories_elsewhere_are_not_fetched(world: SyncWorld, place: str) -> None:
    world.server.hosted[world.component("foo")].clone_url = place
    assert codes(world.sync()) == ["CMD-SYNC-010"]


@pytest.mark.parametrize("branch", ["-x", "a..b", "a b", "x:refs/heads/master"])
def test_odd_default_branches_are_refused(world: SyncWorld, branch: str) -> None:
    world.server.hosted[world.component("foo")].default_branch = branch
    assert codes(world.sync()) == ["CMD-SYNC-028"]


def test_the_template_is_fetched_once_for_all(world: SyncWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """One template clone per item."""
    for slug in ("one", "two", "three"):
        world.component(slug)
    world.advance()
    served = world.root / "served"
    world.template.hook("post-upload-pack", "true")
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(served))
    assert statuses(world.sync()) == ["created"] * 3
    events = [json.loads(line) for line in served.read_text(encoding="utf-8").splitlines()]
    fetches = [
        event["argv"] for event in events if event["event"] == "start" and str(world.template.path) in event["argv"]
    ]
    assert len(fetches) == 1


def test_batches_pause_before_the_next_change_only(world: SyncWorld) -> None:
    for slug in ("one", "two", "three"):
        world.component(slug)
    world.advance()
    world.component("fresh")
    world.sync(batch_size=1, pause=0.01)
    assert [note for note in world.notes if "pausing" in note] == [
        "pausing for 0.01 s after 1 changed repositories"
    ] * 2


@pytest.mark.parametrize("changes", [{"batch_size": 0, "pause": 1000}, {"batch_size": 1, "pause": 0}])
def test_no_pause_is_wanted(world: SyncWorld, changes: dict[str, int]) -> None:
    """Batches of 0 paused after each item."""
    for slug in ("one", "two"):
        world.component(slug)
    world.advance()
    assert statuses(world.sync(**changes)) == ["created", "created"]
    assert [note for note in world.notes if "pausing" in note] == []


def test_an_interrupted_run_is_continued(world: SyncWorld) -> None:
    first, second, third = (world.component(slug) for slug in ("one", "two", "three"))
    world.advance()
    world.server.script(
        failing(403, "You have exceeded a secondary rate limit", retry_after="3600"),
        method="POST",
        path=f"/repos/{second}/pulls",
    )
    result = world.sync()
    assert statuses(result) == ["created", "postponed", "postponed"]
    assert result.halted is not None
    assert result.halted.code == "CMD-SYNC-026"
    [state] = world.state
    assert world.server.token not in state.read_text(encoding="utf-8")
    result = world.sync()
    assert statuses(result) == ["created"] * 3
    assert [item.earlier for item in result.items] == [True, False, False]
    assert not any(first in request.path for request in world.server.requests)
    assert len(world.server.pulls(third)) == 1
    assert world.state == []


def interrupt(world: SyncWorld) -> None:
    """A run over one finished and one unfinished repository."""
    world.component("one")
    world.server.script(failing(401), path=f"/repos/{world.component('two')}")
    assert statuses(world.sync()) == ["up-to-date", "postponed"]


def test_a_run_can_begin_anew(world: SyncWorld) -> None:
    interrupt(world)
    assert [item.earlier for item in world.sync(restart=True).items] == [False, False]


def test_other_commands_do_not_continue_a_run(world: SyncWorld) -> None:
    interrupt(world)
    assert [item.earlier for item in world.sync(branch="another").items] == [False, False]
    assert [item.earlier for item in world.sync(pause=1, batch_size=3).items] == [True, False]


def test_old_runs_are_not_continued(world: SyncWorld) -> None:
    interrupt(world)
    [state] = world.state
    content = json.loads(state.read_text(encoding="utf-8"))
    state.write_text(json.dumps({**content, "started": time.time() - 90_000}), encoding="utf-8")
    assert [item.earlier for item in world.sync().items] == [False, False]


@pytest.mark.parametrize("content", ["", "[]", '{"format": 1, "started": 1, "items": [3]}', "\x00"])
def test_a_damaged_state_is_no_obstacle(world: SyncWorld, content: str) -> None:
    interrupt(world)
    world.state[0].write_text(content, encoding="utf-8")
    assert [item.earlier for item in world.sync().items] == [False, False]
    assert world.warnings == ["CMD-SYNC-014"]


def test_ctrl_c_keeps_what_is_finished(world: SyncWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = world.root / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    first, second = world.component("one"), world.component("two")
    world.server.script(failing(503), times=math.inf, path=f"/repos/{second}")

    def press(result: object) -> None:
        raise KeyboardInterrupt

    slow = Limits(github_writes=0, github_backoff=600, github_attempts=3)
    with pytest.raises(KeyboardInterrupt):
        sync_repositories(
            Workspace.at(world.root / "work"),
            world.request(),
            make_context(announce=world.collected.append, limits=slow),
            report=press,
        )
    assert [item["name"] for item in json.loads(world.state[0].read_text(encoding="utf-8"))["items"]] == [first]
    assert list(temporary.iterdir()) == []


def test_the_token_is_on_no_command_line_and_in_no_file(world: SyncWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    name = world.component("foo")
    world.server.hosted[name].remote.refuse_pushes("no")
    world.advance()
    trace = world.root / "trace"
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(trace))
    result = world.sync()
    assert codes(result) == ["CMD-SYNC-012"]
    seen = trace.read_text(encoding="utf-8") + repr(world.collected) + json.dumps(plain(only(result)))
    assert "push" in seen
    assert world.server.token not in seen
    assert "Basic" not in seen


def test_settings_of_the_environment_stay(world: SyncWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """The token is added to git settings that the environment already has."""
    name = world.component("foo")
    world.server.hosted[name].clone_url = f"{world.server.site}/replaced/component-foo.git"
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{world.server.site}/acme/.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", f"{world.server.site}/replaced/")
    world.advance()
    assert statuses(world.sync()) == ["created"]


def test_the_users_dependencies_are_not_touched(world: SyncWorld) -> None:
    """It worked in the user's dependency folders, and discarded changes there."""
    world.component("foo")
    world.advance()
    world.sync()
    assert not (world.root / "work" / "dependencies").exists()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"token": None}, "CMD-SYNC-001"),
        ({"token": " "}, "CMD-SYNC-001"),
        ({"token": "a\nb"}, "CMD-SYNC-001"),
        ({"filter": "("}, "CMD-SYNC-005"),
        ({"branch": "a..b"}, "CMD-SYNC-006"),
        ({"branch": "--force"}, "CMD-SYNC-006"),
        ({"github_url": "http://github.example.com"}, "CMD-SYNC-007"),
        ({"github_url": "https://me:pw@github.example.com"}, "CMD-SYNC-007"),
        ({"github_url": "github.example.com"}, "CMD-SYNC-007"),
    ],
)
def test_odd_options_are_refused(world: SyncWorld, changes: dict[str, str | None], code: str) -> None:
    with pytest.raises(UsageError) as caught:
        world.sync(**changes)
    assert caught.value.code == code
    assert "pw" not in str(caught.value)


def test_an_empty_list_is_fine(world: SyncWorld) -> None:
    result = world.sync()
    assert (result.items, result.passed) == ((), True)
