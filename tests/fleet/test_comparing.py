"""`fleet diff`: what differs in `rendered/` between commits, equal changes of several cells once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from commodore.base.errors import UsageError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.review import compare_trees
from commodore.fleet.comparing import RenderedDiff, diff_rendered, group_changes
from commodore.fleet.objects import object_changes
from tests.fleet.conftest import APP, World, charts, manifests, patch
from tests.world.folders import write_files
from tests.world.repos import git


@pytest.fixture
def committed(world: World) -> World:
    """A generated fleet in a commit with the tag `one`."""
    world.lay(charts()).generate()
    git(world.root, "init", "-q", ".")
    commit(world, "one")
    return world


def commit(world: World, tag: str) -> None:
    git(world.root, "add", "-A")
    git(world.root, "commit", "-qm", tag)
    git(world.root, "tag", tag)


def told(diff: RenderedDiff) -> list[tuple[str, str, int, list[str]]]:
    return [(group.kind, group.path, len(group.clusters), sorted(group.differs_in)) for group in diff.groups]


def test_the_files_beside_the_newest_commit(committed: World) -> None:
    assert told(diff_rendered(committed.root, (), committed.context)) == []
    write_files(committed.root, {f"{APP}/prod/values.yaml": patch("project: p")})
    committed.generate()
    rendered = diff_rendered(committed.root, (), committed.context)
    assert told(rendered) == [("modified", "values.yaml", 3, [])]
    assert rendered.cells == 6
    assert ("add", "+    project: p") in rendered.groups[0].diff
    assert told(diff_rendered(committed.root, ("one", "HEAD"), committed.context)) == []


def test_a_line_feed_that_is_gone_at_the_end_is_a_difference() -> None:
    old, new = {"main/prod/eu/a.yaml": b"a: 1\nb: 2\nc: 3\nd: 4\n"}, {"main/prod/eu/a.yaml": b"a: 1\nb: 2\nc: 3\nd: 4"}
    change = compare_trees(old, new, DEFAULT_LIMITS)
    [group] = group_changes(change, old, new, ("environment", "region"), DEFAULT_LIMITS)
    assert group.diff == (
        ("hunk", "…"),
        ("context", " b: 2"),
        ("context", " c: 3"),
        ("remove", "-d: 4"),
        ("add", "+d: 4"),
        ("context", "\\ No newline at end of file"),
    )
    few = replace(DEFAULT_LIMITS, diff_matches=0)
    many = {path: text.replace(b"\n", b"\n\n") for path, text in new.items()}
    [group] = group_changes(compare_trees(old, many, few), old, many, ("environment", "region"), few)
    assert [style for style, _ in group.diff] == ["summary"]


def test_two_commits_and_cells_that_come_and_go(committed: World) -> None:
    config = (committed.root / "config/config.yaml").read_text()
    write_files(committed.root, {"config/config.yaml": config.replace("regions: [r1, eu]", "regions: [r1, asia]")})
    committed.generate()
    commit(committed, "two")
    there = diff_rendered(committed.root, ("one", "two"), committed.context)
    back = diff_rendered(committed.root, ("two", "one"), committed.context)
    assert there.cells == 7
    assert {(kind, number) for kind, _, number, _ in told(there)} == {("added", 1), ("deleted", 1)}
    assert {group.kind: group.clusters for group in there.groups}["added"] == ["main/prod/prod-2/asia"]
    assert {group.kind: group.clusters for group in back.groups}["added"] == ["main/prod/prod-2/eu"]


def test_changes_that_differ_in_the_names_of_their_cells_are_one(committed: World) -> None:
    for sector in ("prod-1", "prod-2"):
        values = f"source: {{path: apps/{sector}}}"
        write_files(committed.root, {f"{APP}/prod/{sector}/values.yaml": patch(values)})
    committed.generate()
    rendered = diff_rendered(committed.root, (), committed.context)
    assert told(rendered) == [("modified", "values.yaml", 3, ["cell.sector"])]


@pytest.mark.parametrize("revision", ["none", "--output=stolen", "one:rendered", ""])
def test_what_is_no_commit(committed: World, revision: str) -> None:
    with pytest.raises(UsageError, match="there is no commit") as caught:
        diff_rendered(committed.root, (revision,), committed.context)
    assert caught.value.code == "CMD-FLT-097"
    assert not (committed.root / "stolen").exists()


def test_a_link_in_a_commit_is_no_file(committed: World) -> None:
    (committed.root / "rendered/main/prod/prod-2/eu/values.yaml").unlink()
    (committed.root / "rendered/main/prod/prod-2/eu/values.yaml").symlink_to("/etc/hostname")
    commit(committed, "two")
    rendered = diff_rendered(committed.root, ("one", "two"), committed.context)
    (group,) = rendered.groups
    assert ("add", "+[no file]") in group.diff


@pytest.mark.parametrize("style", [charts, manifests])
def test_applications_that_come_and_go(world: World, style: Any) -> None:
    world.lay(style()).generate()
    git(world.root, "init", "-q", ".")
    commit(world, "one")
    new = "applications: {shop: {source: {repoURL: x}}}\n"
    world.lay({"config/main/shop/values.yaml": new, f"{APP}/prod/override.yaml": "applications: {web: null}\n"})
    world.generate(allow_removal=("main/web",))
    result = diff_rendered(world.root, (), world.context).objects
    assert [(item.change, item.kind, item.name, len(item.cells)) for item in result.objects] == [
        ("removed", "Application", "web", 3),
        ("added", "Application", "shop", 6),
    ]
    assert (result.added, result.removed, result.unknown) == ((), (), ())


def test_cells_that_come_and_go_as_a_whole(committed: World) -> None:
    config = (committed.root / "config/config.yaml").read_text()
    write_files(committed.root, {"config/config.yaml": config.replace("regions: [r1, eu]", "regions: [r1, asia]")})
    done = committed.generate()
    assert (done.objects.objects, done.removals) == ((), ())
    assert (done.objects.added, done.objects.removed) == (("main/prod/prod-2/asia",), ("main/prod/prod-2/eu",))


@pytest.mark.parametrize(
    ("text", "items"),
    [
        (
            "applications:\n  web:\n    a: 1\n  '1':\n    a: 1\n  gone: null\nempty: {}\n",
            {("Application", "web"), ("Application", "1")},
        ),
        ("applications: {web: {a: 1}, gone: null}\n", {("Application", "web")}),
        ("applications:\n    web: {a: 1}\nsets: {s: {}}\n", {("Application", "web"), ("sets", "s")}),
        ("cluster:\n  region: r1\napplications:\n  web:\n    t: 'a\n\n      b:'\n", {("Application", "web")}),
        ("text", set()),
        ("", set()),
    ],
)
def test_the_items_of_values_however_they_are_written(text: str, items: set[tuple[str, str]]) -> None:
    new = {"main/a/values.yaml": text.encode()}
    change = compare_trees({"main/a/Chart.yaml": b"x"}, {"main/a/Chart.yaml": b"y", **new}, DEFAULT_LIMITS)
    changes = object_changes(change, {"main/a/Chart.yaml": b"x"}, {"main/a/Chart.yaml": b"y", **new}, 1, "charts")
    assert {(item.kind, item.name) for item in changes.objects} == items
