"""Staged changes as lines and numbers."""

from __future__ import annotations

from commodore.catalog import ChangeSummary, stage
from commodore.core.review import describe
from commodore.core.sources.git import stage_all, staged_changes
from tests.catalog.conftest import Run
from tests.world.context import make_context
from tests.world.repos import Link, Remote, git

LONG = "".join(f"line {number}\n" for number in range(40))


def test_every_kind_of_change(run: Run, remote: Remote) -> None:
    """Deleted, copied, added, renamed, modified, type changed, in this order."""
    remote.commit(
        {
            "manifests/gone.yaml": "g\n",
            "manifests/moved.yaml": LONG,
            "manifests/link": Link("a.yaml"),
            "manifests/ü b.yaml": "x: 1\n",
            "manifests/binary": b"\xff\x00\xfe",
        }
    )
    clone = run.compile(
        {
            "a.yaml": "a: 2\n",
            "new.yaml": "n\n",
            "sub/moved.yaml": LONG,
            "link": "a file now",
            "ü b.yaml": "x: 2\n",
            "binary": "text",
        },
        {"x/key": "ref\n"},
    )
    change = stage(clone, make_context())
    assert change.changed
    assert [line.text for line in change.lines] == [
        "Deleted file manifests/gone.yaml",
        "Added file manifests/new.yaml",
        "Renamed file manifests/moved.yaml => manifests/sub/moved.yaml",
        "--- manifests/a.yaml",
        "+++ manifests/a.yaml",
        "@@ -1 +1 @@",
        "-a: 1",
        "+a: 2",
        "Binary files manifests/binary and manifests/binary differ",
        "--- manifests/ü b.yaml",
        "+++ manifests/ü b.yaml",
        "@@ -1 +1 @@",
        "-x: 1",
        "+x: 2",
        "Changed type of file manifests/link",
    ]
    assert change.summary == ChangeSummary(deleted=1, added=1, renamed=1, modified=3, type_changed=1)
    assert change.summary.total == 7
    assert str(change.summary) == "1 added, 1 deleted, 3 modified, 1 renamed, 1 changed in type"


def test_a_mode_that_shows_nothing_does_not_unchange_anything(run: Run) -> None:
    """The staged files decide, not the shown changes."""
    clone = run.compile({"a.yaml": "'a':   1\n"}, {"x/key": "ref\n"})
    change = stage(clone, make_context(), "ignore-yaml-formatting")
    assert change.lines == ()
    assert change.changed
    assert str(change.summary) == "1 modified"


def test_another_repository_in_the_catalog(run: Run) -> None:
    """Somebody's submodule is shown as git shows it."""
    folder = run.prepare().path
    for digit in "12":
        git(folder, "update-index", "--add", "--cacheinfo", f"160000,{digit * 40},sub")
        changes = staged_changes(folder, make_context())
        [file], _ = describe(folder, changes, make_context())
        git(folder, "commit", "--quiet", "-m", digit)
    assert [line.text for line in file.lines][3:] == [
        f"-Subproject commit {'1' * 40}",
        f"+Subproject commit {'2' * 40}",
    ]


def test_before_the_first_commit(run: Run) -> None:
    folder = run.workspace.root / "fresh"
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    (folder / "a").write_text("x")
    stage_all(folder, make_context())
    [file], summary = describe(folder, staged_changes(folder, make_context()), make_context())
    assert (file.kind, file.path, [line.text for line in file.lines]) == ("added", "a", ["Added file a"])
    assert str(summary) == "1 added"
