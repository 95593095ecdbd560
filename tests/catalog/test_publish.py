"""The catalog repository from its update to the push."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.base.files.workspace import Workspace
from commodore.base.limits import Limits
from commodore.catalog import commit_message, install, leave, open_local, publish, stage
from commodore.core.sources.git import Author
from tests.catalog.conftest import Heard, Run, prepare_from
from tests.catalog.samples import METADATA
from tests.world.context import make_context
from tests.world.repos import GitWorld, Link, Remote, git

REF_FILE = "data: eDp5\nencoding: original\ntype: vaultkv\nvault_params:\n  mount: kv\n"


def discarded(workspace: Workspace) -> list[str]:
    return git(workspace.catalog, "for-each-ref", "--format=%(refname)", "refs/commodore/discarded").split()


class TestInstall:
    @pytest.mark.requirement("C66")
    def test_the_new_trees_replace_the_old_ones(self, run: Run) -> None:
        """Files that the new trees lack are removed, in manifests and refs alike."""
        run.compile({"b/c.yaml": "c\n"}, {"y/key": "new\n"})
        catalog = run.workspace.catalog
        assert sorted(
            path.relative_to(catalog).as_posix() for path in catalog.glob("[a-z]*/**/*") if path.is_file()
        ) == [
            "manifests/b/c.yaml",
            "refs/y/key",
        ]
        assert (catalog / "README.md").read_text() == "mine\n"
        assert list(run.workspace.state.iterdir()) == []

    @pytest.mark.requirement("C66")
    def test_hidden_entries_stay(self, run: Run, remote: Remote) -> None:
        """Hidden entries of manifests and refs stay; stale ref files among them go."""
        remote.commit(
            {
                "manifests/.keep": "k",
                "manifests/.github/x": "x",
                "manifests/sub/.hidden": "h",
                "manifests/.link": Link("a.yaml"),
                "refs/.keep": "k",
                "refs/.stale": REF_FILE,
                "refs/.old/key": REF_FILE,
                "refs/.old/note": "n",
            }
        )
        clone = run.compile({".keep": "new", "a.yaml": "a: 1\n"}, {".live/key": REF_FILE})
        stage(clone, make_context())
        assert git(clone.path, "ls-files").split("\n") == [
            "README.md",
            "manifests/.github/x",
            "manifests/.keep",
            "manifests/.link",
            "manifests/a.yaml",
            "refs/.keep",
            "refs/.live/key",
            "refs/.old/note",
        ]
        assert (run.workspace.manifests / ".keep").read_text() == "new"
        assert (run.workspace.manifests / ".link").is_symlink()

    def test_linked_folders_are_replaced_not_followed(self, run: Run, remote: Remote, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "file").write_text("mine")
        remote.commit({"manifests/a.yaml": None, "refs/x/key": None})
        remote.commit({"manifests": Link(str(outside)), "refs": Link("../../outside")})
        change = run.push({"a.yaml": "a: 2\n"}, {"x/key": "r\n"})
        assert change.pushed
        assert remote.files() == {"README.md": "mine", "manifests/a.yaml": "a: 2", "refs/x/key": "r"}
        assert [path.name for path in outside.iterdir()] == ["file"]


class TestPublish:
    def test_commit_and_push(self, run: Run, remote: Remote) -> None:
        clone = run.compile({"a.yaml": "a: 2\n"}, {"x/key": "ref\n"})
        change = stage(clone, make_context())
        assert change.changed
        assert str(change.summary) == "1 modified"
        assert (change.committed_sha, change.pushed) == (None, False)
        done = publish(clone, change, commit_message(METADATA), make_context(), author=Author("A", "a@example.com"))
        assert done == replace(change, committed_sha=remote.sha(), pushed=True)
        assert git(remote.path, "log", "-1", "--format=%an <%ae> %cn%n%B", "master") == (
            f"A <a@example.com> A\n{commit_message(METADATA)}"
        )
        assert remote.files()["manifests/a.yaml"] == "a: 2"
        assert run.collected.codes == []

    def test_nothing_changed(self, run: Run, remote: Remote) -> None:
        before = remote.sha()
        change = run.push({"a.yaml": "a: 1\n"}, {"x/key": "ref\n"})
        assert (change.changed, change.lines, change.summary.total) == (False, (), 0)
        assert str(change.summary) == "no changes"
        assert (change.committed_sha, change.pushed) == (None, False)
        assert remote.sha() == before

    def test_an_empty_remote(self, workspace: Workspace, world: GitWorld, collected: Heard) -> None:
        """The initial commit comes with the first push."""
        remote = world.remote("empty")
        change = Run(workspace, remote, collected).push({"a.yaml": "a: 1\n"})
        assert change.pushed
        assert str(change.summary) == "1 added"
        assert git(remote.path, "log", "--format=%s", "master").split("\n") == ["message", "Initial commit"]

    def test_ignored_files_are_published_if_they_were_rendered(self, run: Run, remote: Remote) -> None:
        """Git-ignore rules apply to what others have put there."""
        remote.commit({".gitignore": "*.secret\n"})
        clone = run.compile({"a.yaml": "a: 1\n", "b.secret": "s"}, {"x/key": "ref\n"})
        (clone.path / "mine.secret").write_text("s")
        publish(clone, stage(clone, make_context()), "message\n", make_context())
        assert "manifests/b.secret" in remote.files()
        assert "mine.secret" not in remote.files()
        assert run.collected.codes == []


class TestRemoteMoved:
    def test_our_trees_go_on_top_of_the_new_commit(self, run: Run, remote: Remote) -> None:
        """Nobody's commit is lost (the published tool gives up), and what is not ours stays theirs. What they have
        changed to the same is not lost.
        """
        clone = run.compile({"a.yaml": "a: 2\n", "b.yaml": "b\n"}, {"x/key": "ref\n"})
        change = stage(clone, make_context())
        theirs = remote.commit(
            {
                "README.md": "theirs\n",
                "docs/new *.md": "new\n",
                "manifests/b.yaml": "b\n",
                "manifests/.keep": "k\n",
            }
        )
        done = publish(clone, change, "message\n", make_context(announce=run.collected.append))
        assert done.pushed
        assert done.committed_sha == remote.sha()
        assert git(remote.path, "rev-parse", "master^") == theirs
        assert remote.files() == {
            "README.md": "theirs",
            "docs/new *.md": "new",
            "manifests/.keep": "k",
            "manifests/a.yaml": "a: 2",
            "manifests/b.yaml": "b",
            "refs/x/key": "ref",
        }
        assert git(clone.path, "status", "--porcelain") == ""

    @pytest.mark.parametrize(
        ("theirs", "exact"),
        [
            ({"manifests/a.yaml": "a: other\n"}, False),
            ({"manifests/stray.yaml": "s\n"}, False),
            ({"refs/x/key": None}, False),
            ({"README.md": "theirs\n"}, True),
        ],
    )
    def test_what_others_have_changed_is_not_taken_back(
        self, run: Run, remote: Remote, theirs: dict[str, str | None], exact: bool
    ) -> None:
        """Nobody has seen that it would be; the next run shows it."""
        clone = run.compile({"a.yaml": "a: 2\n"}, {"x/key": "ref\n"})
        change = stage(clone, make_context())
        commit = remote.commit(theirs, message="Mend it by hand")
        with pytest.raises(PolicyError) as caught:
            publish(clone, replace(change, exact=exact), "message\n", make_context())
        assert caught.value.code == "CMD-CAT-025"
        assert f"in {next(iter(theirs))} ({commit[:7]}" in caught.value.message
        assert "Mend it by hand" in caught.value.message
        assert remote.sha() == commit
        anew = stage(run.compile({"a.yaml": "a: 2\n"}, {"x/key": "ref\n"}), make_context())
        assert ("README.md" in theirs) or any(file.path == next(iter(theirs)) for file in anew.files)

    def test_files_that_others_remove_stay_removed(self, run: Run, remote: Remote) -> None:
        clone = run.compile({"a.yaml": "a: 2\n"}, {"x/key": "ref\n"})
        change = stage(clone, make_context())
        remote.commit({"README.md": None})
        assert publish(clone, change, "message\n", make_context()).pushed
        assert remote.files() == {"manifests/a.yaml": "a: 2", "refs/x/key": "ref"}

    def test_somebody_else_pushed_the_same(self, run: Run, remote: Remote) -> None:
        clone = run.compile({"a.yaml": "a: 2\n"}, {"x/key": "ref\n"})
        change = stage(clone, make_context())
        theirs = remote.commit({"manifests/a.yaml": "a: 2\n"})
        done = publish(clone, change, "message\n", make_context())
        assert (done.changed, done.committed_sha, done.pushed) == (False, theirs, False)
        assert remote.sha() == theirs

    def test_two_runs_on_an_empty_remote(self, tmp_path: Path, world: GitWorld, collected: Heard) -> None:
        remote = world.remote("empty")
        runs = [Run(Workspace.at(tmp_path / name), remote, collected) for name in ("one", "two")]
        clones = [run.compile({f"{index}.yaml": "x\n"}) for index, run in enumerate(runs)]
        changes = [stage(clone, make_context()) for clone in clones]
        assert publish(clones[0], changes[0], "first\n", make_context()).pushed
        with pytest.raises(PolicyError) as caught:
            publish(clones[1], changes[1], "second\n", make_context())
        assert caught.value.code == "CMD-CAT-025"
        assert git(remote.path, "log", "--format=%s", "master").split("\n") == ["first", "Initial commit"]

    def test_a_remote_that_never_rests(self, run: Run, remote: Remote) -> None:
        clone = run.compile({"a.yaml": "a: 2\n"}, {"x/key": "ref\n"})
        change = stage(clone, make_context())
        remote.hook(
            "pre-receive",
            "unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES\n"
            "git update-ref refs/heads/master "
            "$(git commit-tree -p master -m again $(git rev-parse 'master^{tree}'))",
        )
        with pytest.raises(EnvironmentFault) as caught:
            publish(clone, change, "message\n", make_context(limits=Limits(push_attempts=2)))
        assert caught.value.code == "CMD-CAT-014"
        assert "was changed by other pushes before each of 2 pushes" in caught.value.message
        assert git(remote.path, "log", "--format=%s", "master").split("\n") == ["again", "again", "Change"]
        assert git(clone.path, "log", "-1", "--format=%s") == "message"


class TestRefusedPush:
    def test_the_commit_is_kept_and_the_way_to_push_it_said(self, run: Run, remote: Remote) -> None:
        clone = run.compile({"a.yaml": "a: 2\n"}, {"x/key": "ref\n"})
        change = stage(clone, make_context())
        remote.refuse_pushes("protected branch")
        with pytest.raises(EnvironmentFault) as caught:
            publish(clone, change, "message\n", make_context())
        assert caught.value.code == "CMD-CAT-013"
        assert "the catalog was committed but not pushed" in caught.value.message
        assert "protected branch" in caught.value.message
        assert f"git -C {clone.path} push origin HEAD:master" in caught.value.hint
        assert git(clone.path, "log", "-1", "--format=%s") == "message"
        remote.hook("pre-receive", "exit 0")
        git(clone.path, "push", "--quiet", "origin", "HEAD:master")
        assert remote.files()["manifests/a.yaml"] == "a: 2"

    def test_the_next_run_keeps_the_commit_and_begins_anew(self, run: Run, remote: Remote) -> None:
        remote.refuse_pushes("no")
        with pytest.raises(EnvironmentFault):
            run.push({"a.yaml": "a: 2\n"})
        remote.hook("pre-receive", "exit 0")
        assert run.push({"a.yaml": "a: 3\n"}).pushed
        assert git(remote.path, "log", "--format=%s", "master").split("\n") == ["message", "Change"]
        assert len(discarded(run.workspace)) == 1


class TestNothingIsLost:
    def test_output_of_a_run_without_push_is_not_kept(self, run: Run, remote: Remote) -> None:
        stage(run.compile({"a.yaml": "a: 2\n", "b.yaml": "b\n"}), make_context())
        stage(run.compile({"a.yaml": "a: 3\n"}, {"x/key": "ref\n"}), make_context())
        assert run.collected.codes == []
        assert discarded(run.workspace) == []
        assert run.push({"a.yaml": "a: 4\n"}).pushed

    def test_what_a_killed_run_has_installed_is_kept_without_a_warning(self, run: Run) -> None:
        """Killed between the swap of the trees and their recording: it is nobody's work, but nobody can be sure."""
        run.compile({"a.yaml": "half-way\n"})
        assert run.push({"a.yaml": "a: 4\n"}).pushed
        assert run.collected.codes == []
        (ref,) = discarded(run.workspace)
        assert git(run.workspace.catalog, "show", f"{ref}:manifests/a.yaml") == "half-way"
        (run.workspace.catalog / "manifests/a.yaml").write_text("by hand\n")
        run.push({"a.yaml": "a: 5\n"})
        assert run.collected.codes == ["CMD-CAT-012"]

    def test_edits_by_hand_are_kept(self, run: Run) -> None:
        stage(run.compile({"a.yaml": "a: 2\n", "b.yaml": "b\n"}, {"x/key": "ref\n"}), make_context())
        catalog = run.workspace.catalog
        (catalog / "manifests/b.yaml").write_text("edited\n")
        (catalog / "README.md").write_text("edited too\n")
        (catalog / "note").write_text("untracked\n")
        (catalog / ".git/info").mkdir(exist_ok=True)
        (catalog / ".git/info/exclude").write_text("ignored\n")
        (catalog / "ignored").write_text("ignored\n")
        assert run.push({"a.yaml": "a: 3\n"}, {"x/key": "ref\n"}).pushed
        (warning,) = run.collected.warnings
        assert warning.code == "CMD-CAT-012"
        assert warning.message == (
            f"{catalog} had local changes; they were saved under refs/commodore/discarded and replaced: "
            "'README.md', 'ignored', 'manifests/b.yaml' and 1 more"
        )
        (ref,) = discarded(run.workspace)
        assert warning.hint == f"get a file back: git -C {catalog} restore --source={ref} -- FILE"
        for path, content in {
            "manifests/b.yaml": "edited",
            "README.md": "edited too",
            "note": "untracked",
            "ignored": "ignored",
        }.items():
            assert git(catalog, "show", f"{ref}:{path}") == content
            assert not (catalog / path).exists() or path == "README.md"

    def test_commits_by_hand_are_kept(self, run: Run) -> None:
        catalog = run.prepare().path
        (catalog / "note").write_text("mine\n")
        git(catalog, "add", "note")
        git(catalog, "commit", "--quiet", "-m", "by hand")
        run.push({"a.yaml": "a: 3\n"})
        (ref,) = discarded(run.workspace)
        assert git(catalog, "show", f"{ref}:note") == "mine"

    def test_a_clone_of_another_repository_is_not_replaced_with_edits_in_it(self, run: Run, world: GitWorld) -> None:
        catalog = run.prepare().path
        (catalog / "note").write_text("mine\n")
        other = world.remote("other", {"x": "y"})
        with pytest.raises(PolicyError) as caught:
            prepare_from(run.workspace, other.url, make_context())
        assert caught.value.code == "CMD-CAT-015"
        assert "'note'" in caught.value.message
        assert (catalog / "note").read_text() == "mine\n"
        (catalog / "note").unlink()
        assert prepare_from(run.workspace, other.url, make_context()).sha == other.sha()

    def test_a_repository_that_somebody_put_into_the_catalog(self, run: Run, world: GitWorld) -> None:
        """A commit keeps its name only, not its files."""
        catalog = run.prepare().path
        world.remote("other", {"x": "y"}).clone(catalog / "manifests/other")
        for begin in (run.prepare, lambda: open_local(run.workspace, make_context())):
            with pytest.raises(PolicyError) as caught:
                begin()
            assert caught.value.code == "CMD-CAT-017"
            assert "'manifests/other'" in caught.value.message
        assert (catalog / "manifests/other/x").read_text() == "y"

    def test_an_interrupted_installation_changes_nothing_for_the_next_run(self, run: Run, remote: Remote) -> None:
        run.prepare()
        shutil.rmtree(run.workspace.manifests)
        run.workspace.refs.rename(run.workspace.catalog / ".refs-half")
        change = run.push({"a.yaml": "a: 2\n"}, {"x/key": "ref\n"})
        assert str(change.summary) == "1 modified"
        assert set(remote.files()) == {"README.md", "manifests/a.yaml", "refs/x/key"}

    def test_a_failed_installation_restores_both_trees(self, run: Run) -> None:
        run.prepare()
        with run.trees({"a.yaml": "a: 2\n"}, {}) as (manifests, refs):
            shutil.rmtree(refs)
            with pytest.raises(EnvironmentFault):
                install(run.workspace, manifests, refs)
        assert git(run.workspace.catalog, "status", "--porcelain", "--ignored") == ""


class TestLocalMode:
    def test_the_index_is_left_alone(self, run: Run) -> None:
        """A run that does not push stages nothing: the user's own index is as it was."""
        run.prepare()
        clone = open_local(run.workspace, make_context(announce=run.collected.append))
        run.install({"a.yaml": "a: 2\n", "b.yaml": "b\n"}, {"x/key": "ref\n"})
        change = stage(clone, make_context())
        leave(clone, make_context())
        assert str(change.summary) == "1 added, 1 modified"
        assert git(clone.path, "diff", "--cached", "--name-only") == ""
        assert git(clone.path, "status", "--porcelain").split("\n") == [" M manifests/a.yaml", "?? manifests/b.yaml"]

    def test_no_remote_is_asked(self, run: Run, remote: Remote) -> None:
        run.prepare()
        remote.vanish()
        clone = open_local(run.workspace, make_context())
        assert (clone.path, clone.branch, clone.empty) == (run.workspace.catalog, "master", False)
        run.install({"a.yaml": "a: 2\n"})
        assert stage(clone, make_context()).changed

    def test_a_folder_that_is_no_repository_becomes_one(self, workspace: Workspace, remote: Remote) -> None:
        clone = open_local(workspace, make_context())
        assert (clone.sha, clone.branch, clone.empty) == ("", "master", True)
        Run(workspace, remote, Heard()).install({"a.yaml": "a: 2\n"})
        change = stage(clone, make_context())
        assert str(change.summary) == "1 added"
        leave(clone, make_context())
        assert git(clone.path, "status", "--porcelain") == "?? manifests/"

    def test_edits_of_generated_files_are_kept_and_others_stay(self, run: Run) -> None:
        run.prepare()
        for content in ("1", "2"):
            clone = open_local(run.workspace, make_context(announce=run.collected.append))
            run.install({"a.yaml": content})
            stage(clone, make_context())
            leave(clone, make_context())
            (run.workspace.catalog / "note").write_text("mine\n")
        assert run.collected.codes == []
        (run.workspace.manifests / "a.yaml").write_text("by hand\n")
        open_local(run.workspace, make_context(announce=run.collected.append))
        (warning,) = run.collected.warnings
        assert warning.message.endswith("and replaced: 'manifests/a.yaml'")
        (ref,) = discarded(run.workspace)
        assert git(run.workspace.catalog, "show", f"{ref}:manifests/a.yaml") == "by hand"
        assert (run.workspace.catalog / "note").read_text() == "mine\n"

    def test_the_lock_of_a_killed_git_is_no_obstacle(self, run: Run) -> None:
        (run.prepare().path / ".git/index.lock").touch()
        clone = open_local(run.workspace, make_context())
        run.install({"a.yaml": "a: 2\n"})
        assert stage(clone, make_context()).changed

    def test_a_link_is_refused(self, workspace: Workspace, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        workspace.root.mkdir()
        workspace.catalog.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(PolicyError) as caught:
            open_local(workspace, make_context())
        assert caught.value.code == "CMD-CAT-016"
        assert list((tmp_path / "elsewhere").iterdir()) == []
