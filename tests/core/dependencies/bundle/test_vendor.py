"""The `vendor` folder: layout, links, what stays, what goes, and repair after anything."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.errors import InputError
from commodore.base.events import Event, Noted, Warned
from commodore.base.files.tree import measure
from commodore.core.dependencies.bundle.walk import content_place
from tests.core.dependencies.bundle.conftest import Bundler, Libraries, git, local
from tests.world.repos import Script
from tests.world.sampling import sample

NAME = "git.example.com/org"


def links(vendor: Path) -> dict[str, str]:
    """Every symlink below `vendor` and where it leads, without the packages' contents."""
    targets: dict[str, str] = {}
    for folder, folders, files in os.walk(vendor):
        for name in [*folders, *files]:
            path = Path(folder, name)
            if path.is_symlink():
                targets[path.relative_to(vendor).as_posix()] = os.readlink(path)
        folders[:] = [name for name in folders if name != ".cache"]
    return targets


def test_places_as_jsonnet_bundler_has_them() -> None:
    place = content_place(Path("vendor"), "github.com/org/lib/sub", "v1")
    assert place == Path("vendor/.cache/github.com%2Forg%2Flib%2Fsub-v1/github.com/org/lib/sub")
    assert content_place(Path("vendor"), "lib", "") == Path("vendor/.cache/lib-/lib")
    assert content_place(Path("v"), "a", "x/y+z@1") == Path("v/.cache/a-x%2Fy+z@1/a")


def test_very_long_names_stay_possible_and_apart() -> None:
    first, two = (content_place(Path("v"), "a/" * 150 + last, "main").parts[2] for last in ("x", "y"))
    assert first != two
    assert len(first) <= 255


def test_layout(bundler: Bundler, libraries: Libraries) -> None:
    libraries.add("lib", {"sub/a": "A", "sub/b": Script("#!/bin/sh\n")})
    (bundler.folder / "dependencies/foo").mkdir(parents=True)
    bundler.install(git("lib", "master", "sub", name="short"), local("dependencies/foo"))
    assert links(bundler.vendor) == {
        f"{NAME}/lib/sub": "../../../.cache/git.example.com%2Forg%2Flib%2Fsub-master/git.example.com/org/lib/sub",
        "short": f"{NAME}/lib/sub",
        "foo": ".cache/foo-/foo",
    }
    assert os.readlink(bundler.vendor / ".cache/foo-/foo") == "../../../dependencies/foo"
    content = bundler.vendor / NAME / "lib/sub"
    assert (content / "a").read_text(encoding="utf-8") == "A"
    assert os.access(content / "b", os.X_OK)
    assert not os.access(content / "a", os.X_OK)


def test_without_legacy_imports(bundler: Bundler, libraries: Libraries) -> None:
    libraries.add("lib")
    bundler.install(git("lib", "master", name="short"), legacyImports=False)
    assert set(links(bundler.vendor)) == {f"{NAME}/lib"}


def test_the_folder_can_be_moved(bundler: Bundler, libraries: Libraries) -> None:
    """Absolute links break when the folder is moved or mounted elsewhere."""
    libraries.add("lib")
    bundler.install(git("lib", "master"))
    moved = bundler.folder.with_name("moved")
    bundler.folder.rename(moved)
    assert (moved / "vendor/lib/main.libsonnet").read_text(encoding="utf-8") == "'lib'\n"
    there = Bundler(moved, bundler.cache)
    assert there.install(git("lib", "master")).reused


def test_it_lives_without_the_cache_and_never_writes_to_it(bundler: Bundler, libraries: Libraries) -> None:
    libraries.add("lib")
    bundler.install(git("lib", "master"))
    (cached,) = bundler.cache.glob("exports/*/*/content")
    before = measure(cached)
    (bundler.vendor / "lib/main.libsonnet").write_text("changed", encoding="utf-8")
    assert measure(cached) == before
    shutil.rmtree(bundler.cache)
    assert bundler.read("lib/main.libsonnet") == "changed"


def test_nothing_changed_means_nothing_done(bundler: Bundler, libraries: Libraries) -> None:
    remote = libraries.add("lib")
    first = bundler.install(git("lib", "master"))
    before = os.stat(bundler.vendor / "lib/main.libsonnet")
    second = bundler.install(git("lib", "master"))
    assert (first.reused, second.reused) == (False, True)
    assert second.lock == first.lock
    assert os.stat(bundler.vendor / "lib/main.libsonnet") == before
    remote.commit({"main.libsonnet": "'new'\n"})
    assert not bundler.install(git("lib", "master")).reused
    assert bundler.read("lib/main.libsonnet") == "'new'\n"


def test_warnings_are_repeated_when_nothing_is_done(bundler: Bundler, libraries: Libraries) -> None:
    shared = libraries.add("shared")
    shared.tag("v1")
    shared.commit({"a": "2"})
    libraries.add("first", None, git("shared", "v1"))
    dependencies = (git("first", "master"), git("shared", "master"))
    first = bundler.install(*dependencies)
    warned = [event for event in bundler.collected if isinstance(event, Warned)]
    second = bundler.install(*dependencies)
    assert second.reused
    assert [event for event in bundler.collected if isinstance(event, Warned)] == warned != []
    assert second.conflicts == first.conflicts


def link_instead(path: Path, target: str) -> None:
    """A link where a link or a folder was; the folder is moved to where the link leads."""
    if path.is_symlink():
        path.unlink()
    else:
        path.rename(path.parent / target)
    path.symlink_to(target)


def folder_instead(path: Path) -> None:
    path.unlink()
    (path / "deep").mkdir(parents=True)


def file_instead(path: Path) -> None:
    path.unlink()
    path.write_text("in the way", encoding="utf-8")


def edit_quietly(path: Path) -> None:
    """Neither its size nor its time of modification is different."""
    times = path.stat()
    path.write_text(path.read_text(encoding="utf-8").replace("l", "x"), encoding="utf-8")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def leave_as_killed(vendor: Path) -> None:
    (vendor / ".cache/installed.json").unlink()
    (vendor / ".cache/.new-abc/x").mkdir(parents=True)
    (vendor / "lib").unlink()
    (vendor / ".lib-123").symlink_to("nowhere")


CONTENT = ".cache/git.example.com%2Forg%2Flib-master"

DAMAGES: dict[str, Callable[[Path], object]] = {
    "a changed file": lambda vendor: (vendor / "lib/main.libsonnet").write_text("evil"),
    "a change that keeps size and time": lambda vendor: edit_quietly(vendor / "lib/main.libsonnet"),
    "a new file": lambda vendor: (vendor / "lib/new").write_text("evil"),
    "a missing file": lambda vendor: (vendor / "lib/main.libsonnet").unlink(),
    "a missing legacy link": lambda vendor: (vendor / "lib").unlink(),
    "a link elsewhere": lambda vendor: link_instead(vendor / "lib", "/etc"),
    "a missing package": lambda vendor: (vendor / NAME / "lib").unlink(),
    "missing content": lambda vendor: shutil.rmtree(vendor / CONTENT),
    "a folder in the way": lambda vendor: folder_instead(vendor / "lib"),
    "a file in the way": lambda vendor: file_instead(vendor / NAME / "lib"),
    "no folder at all": shutil.rmtree,
    "an empty stamp": lambda vendor: (vendor / ".cache/installed.json").write_text(""),
    "a stamp of another shape": lambda vendor: (vendor / ".cache/installed.json").write_text("[1]"),
    "what a killed run leaves": leave_as_killed,
    "the cache folder a link": lambda vendor: link_instead(vendor / ".cache", "../elsewhere"),
    "the folder a link": lambda vendor: link_instead(vendor, "elsewhere"),
    "content a link": lambda vendor: link_instead(vendor / CONTENT, "../../elsewhere"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_next_run_repairs(bundler: Bundler, libraries: Libraries, damage: str) -> None:
    libraries.add("lib")
    expected = bundler.install(git("lib", "master")).lock
    tree = links(bundler.vendor)
    DAMAGES[damage](bundler.vendor)
    assert bundler.install(git("lib", "master")).lock == expected
    assert links(bundler.vendor) == tree
    assert bundler.read("lib/main.libsonnet") == "'lib'\n"
    assert sorted(path.name for path in (bundler.vendor / "lib").iterdir()) == ["main.libsonnet"]
    cache = sorted(path.name for path in (bundler.vendor / ".cache").iterdir())
    assert cache == ["git.example.com%2Forg%2Flib-master", "installed.json"]
    assert bundler.vendor.resolve() == bundler.vendor
    assert (bundler.vendor / "lib").resolve().is_relative_to(bundler.vendor / ".cache")


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("step", sample(range(1, 20), 6))
def test_killed_at_any_rename_the_next_run_gives_the_same(
    bundler: Bundler, libraries: Libraries, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    first, two = libraries.add("one", {"a": "1"}), libraries.add("two", {"a": "1"})
    bundler.install(git("one", "master", name="x"), git("two", "master"))
    first.commit({"a": "2"})
    two.commit({"a": "2"})
    left = step
    real_rename, real_replace = os.rename, os.replace

    def die(real: object) -> object:
        def step_or_die(*arguments: object) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise Killed
            real(*arguments)  # type: ignore[operator]

        return step_or_die

    dependencies = (git("two", "master", name="x"), git("one", "master"))
    with monkeypatch.context() as patch:
        patch.setattr("os.rename", die(real_rename))
        patch.setattr("os.replace", die(real_replace))
        try:
            bundler.install(*dependencies)
        except Killed:
            pass
        else:
            assert step > 6, "a run takes several renames"
    bundler.install(*dependencies)
    fresh = Bundler(bundler.folder.with_name("fresh"), bundler.cache)
    fresh.install(*dependencies)
    assert links(bundler.vendor) == links(fresh.vendor)
    assert bundler.read("x/a") == bundler.read("one/a") == "2"
    assert sorted(os.listdir(bundler.vendor / ".cache")) == sorted(os.listdir(fresh.vendor / ".cache"))


def test_what_nobody_needs_goes_and_plain_files_stay(bundler: Bundler, libraries: Libraries) -> None:
    """Stale folders, links and cache entries go (weak point: jb never removes the latter); foreign files stay."""
    libraries.add("old")
    libraries.add("lib")
    bundler.install(git("old", "master"))
    (bundler.vendor / "notes.txt").write_text("mine", encoding="utf-8")
    (bundler.vendor / NAME / "notes.txt").write_text("mine", encoding="utf-8")
    (bundler.vendor / "stale/deep").mkdir(parents=True)
    (bundler.vendor / "dangling").symlink_to("nowhere")
    bundler.install(git("lib", "master"))
    assert set(links(bundler.vendor)) == {"lib", f"{NAME}/lib"}
    assert sorted(path.name for path in bundler.vendor.iterdir()) == [".cache", "git.example.com", "lib", "notes.txt"]
    assert bundler.read(f"{NAME}/notes.txt") == "mine"
    assert len(list((bundler.vendor / ".cache").glob("git*"))) == 1
    assert any(isinstance(event, Noted) and "stale" in event.message for event in bundler.collected)


def test_removing_stale_entries_follows_no_link(bundler: Bundler, libraries: Libraries, tmp_path: Path) -> None:
    libraries.add("lib")
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/file").write_text("mine", encoding="utf-8")
    bundler.vendor.mkdir()
    (bundler.vendor / "git.example.com").symlink_to(tmp_path / "precious")
    (bundler.vendor / "stale").mkdir()
    (bundler.vendor / "stale/link").symlink_to(tmp_path / "precious")
    bundler.install(git("lib", "master"))
    assert [path.name for path in (tmp_path / "precious").iterdir()] == ["file"]
    assert bundler.read(f"{NAME}/lib/main.libsonnet") == "'lib'\n"


def messages(collected: list[Event]) -> list[str]:
    return [event.message for event in collected if isinstance(event, Warned | Noted)]


class TestLegacyNames:
    def test_a_component_has_its_name_first(self, bundler: Bundler, libraries: Libraries) -> None:
        """Package names may clash with component names."""
        libraries.add("argocd")
        (bundler.folder / "argocd").mkdir()
        bundler.install(git("argocd", "master"), local("argocd"))
        assert (bundler.vendor / "argocd").resolve() == bundler.folder / "argocd"
        assert bundler.codes == ["CMD-JB-015"]
        assert "the local package argocd" in messages(bundler.collected)[-1]

    def test_the_first_package_has_it(self, bundler: Bundler, libraries: Libraries) -> None:
        libraries.add("one", {"mixin/a": "1"})
        libraries.add("two", {"mixin/a": "2"})
        bundler.install(git("two", "master", "mixin"), git("one", "master", "mixin"))
        assert bundler.read("mixin/a") == "2"
        assert bundler.codes == []
        assert any(
            f"{NAME}/one/mixin cannot be imported as mixin" in message for message in messages(bundler.collected)
        )

    @pytest.mark.parametrize("name", ["git.example.com", f"{NAME}/lib", "taken", "taken/deeper"])
    def test_chosen_names_that_are_taken(self, bundler: Bundler, libraries: Libraries, name: str) -> None:
        libraries.add("lib")
        libraries.add("other")
        bundler.install(git("lib", "master", name="taken"), git("other", "master", name=name))
        assert bundler.codes == ["CMD-JB-015"]
        assert bundler.read(f"{NAME}/other/main.libsonnet") == "'other'\n"
        assert bundler.read("taken/main.libsonnet") == "'lib'\n"

    def test_a_file_that_is_there(self, bundler: Bundler, libraries: Libraries) -> None:
        libraries.add("lib")
        bundler.vendor.mkdir()
        (bundler.vendor / "short").write_text("mine", encoding="utf-8")
        bundler.install(git("lib", "master", name="short"))
        assert bundler.read("short") == "mine"
        assert bundler.codes == ["CMD-JB-015"]


class TestPackagesInsideOthers:
    """A repository and folders of it, at different versions: the one that is linked later lies over the other."""

    @pytest.fixture
    def remote(self, libraries: Libraries) -> None:
        remote = libraries.add("lib", {"a": "1", "sub/a": "1", "sub/deep/a": "1"})
        remote.tag("v1")
        remote.commit({"a": "2", "sub/a": "2", "sub/deep/a": "2"})
        remote.tag("v2")
        remote.commit({"a": "3", "sub/a": "3", "sub/deep/a": "3"})
        remote.tag("v3")

    def state(self, bundler: Bundler) -> list[str]:
        return [bundler.read(f"{NAME}/lib/{path}") for path in ("a", "sub/a", "sub/deep/a")]

    def test_the_part_into_the_whole(self, bundler: Bundler, remote: None) -> None:
        bundler.install(git("lib", "v1"), git("lib", "v2", "sub"), git("lib", "v3", "sub/deep"))
        assert self.state(bundler) == ["1", "2", "3"]
        assert bundler.read("deep/a") == "3"
        assert bundler.codes == []
        assert bundler.install(git("lib", "v1"), git("lib", "v2", "sub"), git("lib", "v3", "sub/deep")).reused

    def test_the_whole_over_the_part(self, bundler: Bundler, remote: None) -> None:
        lock = bundler.install(git("lib", "v3", "sub/deep"), git("lib", "v2", "sub"), git("lib", "v1")).lock
        assert self.state(bundler) == ["1", "1", "1"]
        assert len(lock.dependencies) == 3
        assert bundler.codes == ["CMD-JB-019", "CMD-JB-019"]

    def test_the_middle_last(self, bundler: Bundler, remote: None) -> None:
        bundler.install(git("lib", "v1"), git("lib", "v3", "sub/deep"), git("lib", "v2", "sub"))
        assert self.state(bundler) == ["1", "2", "2"]
        assert bundler.codes == ["CMD-JB-019"]

    def test_parts_of_the_same_commit_are_nothing_special(self, bundler: Bundler, remote: None) -> None:
        bundler.install(git("lib", "v1"), git("lib", "v1", "sub"), git("lib", "v2", "sub/deep"))
        assert self.state(bundler) == ["1", "1", "2"]
        assert not (bundler.vendor / NAME / "lib/sub").is_symlink()

    def test_the_whole_goes_again(self, bundler: Bundler, remote: None) -> None:
        bundler.install(git("lib", "v1"), git("lib", "v2", "sub"))
        bundler.install(git("lib", "v1"))
        assert self.state(bundler) == ["1", "1", "1"]
        bundler.install(git("lib", "v2", "sub"))
        assert not (bundler.vendor / NAME / "lib/a").exists()
        assert bundler.read(f"{NAME}/lib/sub/a") == "2"

    def test_never_in_a_local_folder(self, bundler: Bundler, remote: None) -> None:
        (bundler.folder / "git.example.com").mkdir()
        for dependencies in (
            (local("git.example.com"), git("lib", "v1")),
            (git("lib", "v1"), local("git.example.com")),
        ):
            with pytest.raises(InputError) as caught:
                bundler.install(*dependencies)
            assert caught.value.code == "CMD-JB-018"
        assert list((bundler.folder / "git.example.com").iterdir()) == []
