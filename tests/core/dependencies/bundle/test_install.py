"""Installing a jsonnetfile: which packages win, how they are locked, what is an error."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError, EnvironmentFault, Findings, InputError, PolicyError
from commodore.base.events import StageAdvanced, Warned
from commodore.base.files.tree import measure
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.dependencies.bundle import GitSource, JsonnetFile, LocalSource
from commodore.core.dependencies.bundle.jsonnetfile import parse_jsonnetfile, serialise
from tests.core.dependencies.bundle.conftest import HOST, Bundler, Libraries, document, git, local
from tests.world.repos import Link

NAME = "git.example.com/org/"


def versions(lock: JsonnetFile) -> dict[str, str]:
    """Locked commits by the last part of the package's name."""
    return {entry.package_name(Path("/")).rpartition("/")[2]: entry.version for entry in lock.dependencies}


@pytest.mark.requirement("C45")
def test_a_library_with_its_own_libraries(bundler: Bundler, libraries: Libraries) -> None:
    leaf = libraries.add("leaf")
    top = libraries.add("top", {"main.libsonnet": "import 'leaf/main.libsonnet'"}, git("leaf", "master"))
    result = bundler.install(git("top", "master"))
    assert versions(result.lock) == {"leaf": leaf.sha(), "top": top.sha()}
    assert bundler.read(f"{NAME}leaf/main.libsonnet") == bundler.read("leaf/main.libsonnet") == "'leaf'\n"
    assert bundler.codes == []


def test_the_lock_file(bundler: Bundler, libraries: Libraries) -> None:
    """Commit, sum of the files, the remote as it is written in lock files; `legacyImports` is false."""
    remote = libraries.add("lib", {"sub/a": "x", "b": "y"})
    lock = bundler.install(git("lib", "master", "sub", name="short")).lock
    (entry,) = lock.dependencies
    assert isinstance(entry.source, GitSource)
    assert (entry.source.remote.url, entry.source.subdir) == (f"{HOST}/org/lib.git", "sub")
    assert entry.version == remote.sha()
    assert entry.name == "short"
    assert entry.sum == measure(bundler.vendor / NAME / "lib/sub").sum
    assert not lock.legacy_imports
    again = parse_jsonnetfile(serialise(lock, bundler.folder), "jsonnetfile.lock.json", DEFAULT_LIMITS)
    assert again == lock


def test_a_legacy_name_equal_to_the_default_is_not_locked(bundler: Bundler, libraries: Libraries) -> None:
    libraries.add("lib")
    assert bundler.install(git("lib", "master", name="lib")).lock.dependencies[0].name == ""


def test_the_first_occurrence_in_depth_first_order_wins(bundler: Bundler, libraries: Libraries) -> None:
    """A dependency of the first direct dependency beats a later direct one, including its `name`; with a warning."""
    shared = libraries.add("shared", {"version": "1"})
    shared.tag("v1")
    shared.commit({"version": "2"})
    shared.tag("v2")
    libraries.add("first", None, git("shared", "v1", name="early"))
    result = bundler.install(git("first", "master"), git("shared", "v2", name="late"))
    assert bundler.read(f"{NAME}shared/version") == bundler.read("early/version") == "1"
    assert not (bundler.vendor / "late").exists()
    (conflict,) = result.conflicts
    assert (conflict.name, conflict.kept, conflict.dropped) == (f"{NAME}shared", "v1", "v2")
    assert (conflict.kept_by, conflict.dropped_by) == (f"{NAME}first", "jsonnetfile.json")
    assert bundler.codes == ["CMD-JB-014"]
    (warning,) = [event for event in bundler.collected if isinstance(event, Warned)]
    for part in ("v1", "v2", f"{NAME}first", "jsonnetfile.json"):
        assert part in warning.message


def test_two_names_of_one_commit_are_no_conflict(bundler: Bundler, libraries: Libraries) -> None:
    shared = libraries.add("shared")
    shared.tag("v1", annotated=True)
    libraries.add("first", None, git("shared", "v1"))
    assert bundler.install(git("first", "master"), git("shared", shared.sha())).conflicts == ()
    assert bundler.codes == []


def test_dependencies_of_a_version_that_lost_do_not_count(bundler: Bundler, libraries: Libraries) -> None:
    """Fetched on speculation, like everything of one level; but neither installed, nor are their errors errors."""
    shared = libraries.add("shared", {"version": "1"})
    shared.tag("v1")
    shared.commit({"version": "2", "jsonnetfile.json": document(git("missing", "master"))})
    shared.tag("v2")
    libraries.add("first", None, git("shared", "v1"))
    lock = bundler.install(git("first", "master"), git("shared", "v2")).lock
    assert set(versions(lock)) == {"first", "shared"}


def test_cycles_end(bundler: Bundler, libraries: Libraries) -> None:
    libraries.add("a", None, git("b", "master"))
    libraries.add("b", None, git("a", "master"))
    assert set(versions(bundler.install(git("a", "master")).lock)) == {"a", "b"}


def test_single_leaves_out_its_dependencies(bundler: Bundler, libraries: Libraries) -> None:
    libraries.add("top", None, git("missing", "master"))
    assert set(versions(bundler.install(git("top", "master", single=True)).lock)) == {"top"}


def test_a_transitive_failure_is_an_error_that_tells_who_asks(bundler: Bundler, libraries: Libraries) -> None:
    """A failing transitive dependency leaves jb's exit code 0, no link and no lock entry."""
    libraries.add("top", None, git("middle", "master"))
    libraries.add("middle", None, git("missing", "master"))
    with pytest.raises(EnvironmentFault) as caught:
        bundler.install(git("top", "master"))
    places = " ".join(str(place) for place in caught.value.locations)
    assert f"{NAME}missing, required by {NAME}top > {NAME}middle" in places
    assert f"{HOST}/org/missing.git" in places


def test_all_failures_are_reported_together(bundler: Bundler, libraries: Libraries) -> None:
    libraries.add("lib")
    with pytest.raises(Findings) as caught:
        bundler.install(git("lib", "v9"), git("lib", "master", "none"), local("none"))
    assert [error.code for error in caught.value.errors] == ["CMD-JB-007", "CMD-GIT-033", "CMD-JB-009"]


def test_a_broken_jsonnetfile_of_a_package(bundler: Bundler, libraries: Libraries) -> None:
    libraries.add("lib", {"jsonnetfile.json": "{"})
    with pytest.raises(InputError) as caught:
        bundler.install(git("lib", "master"))
    assert caught.value.code == "CMD-JB-001"
    assert str(caught.value.locations[0]) == f"{NAME}lib@master/jsonnetfile.json:1:2"


def test_lock_files_inside_packages_are_ignored(bundler: Bundler, libraries: Libraries) -> None:
    libraries.add("lib", {"a": "1", "jsonnetfile.lock.json": "{ broken"})
    assert set(versions(bundler.install(git("lib", "master")).lock)) == {"lib"}


def test_depth_is_limited(bundler: Bundler, libraries: Libraries) -> None:
    for index in range(4):
        libraries.add(f"lib{index}", None, git(f"lib{index + 1}", "master"))
    libraries.add("lib4")
    assert len(bundler.install(git("lib0", "master")).lock.dependencies) == 5
    with pytest.raises(InputError) as caught:
        bundler.install(git("lib0", "master", name="new"), limits=replace(DEFAULT_LIMITS, bundle_depth=2))
    assert caught.value.code == "CMD-JB-013"
    assert f"{NAME}lib0 > {NAME}lib1" in caught.value.message


def test_the_number_of_packages_is_limited(bundler: Bundler, libraries: Libraries) -> None:
    libraries.add("a", None, git("b", "master"))
    libraries.add("b")
    with pytest.raises(InputError) as caught:
        bundler.install(git("a", "master"), limits=replace(DEFAULT_LIMITS, bundle_packages=1))
    assert caught.value.code == "CMD-JB-003"


def test_a_lock_is_kept_to(bundler: Bundler, libraries: Libraries) -> None:
    """The lock's version replaces the requested one, also for dependencies of dependencies."""
    leaf = libraries.add("leaf", {"version": "1"})
    libraries.add("top", None, git("leaf", "master"))
    lock = bundler.install(git("top", "master")).lock
    leaf.commit({"version": "2"})
    assert bundler.install(git("top", "master"), lock=lock).lock == lock
    assert bundler.read("leaf/version") == "1"
    assert bundler.install(git("top", "master")).lock != lock
    assert bundler.read("leaf/version") == "2"


def test_a_package_that_is_not_what_the_lock_says(bundler: Bundler, libraries: Libraries) -> None:
    libraries.add("lib")
    lock = bundler.install(git("lib", "master")).lock
    wrong = replace(lock, dependencies=(replace(lock.dependencies[0], sum="AAAA"),))
    with pytest.raises(PolicyError) as caught:
        bundler.install(git("lib", "master"), lock=wrong)
    assert caught.value.code == "CMD-JB-012"


def test_lock_entries_that_nobody_needs_go(bundler: Bundler, libraries: Libraries) -> None:
    """Stale lock entries stay, with their legacy links."""
    libraries.add("a")
    libraries.add("b")
    lock = bundler.install(git("a", "master"), git("b", "master")).lock
    assert set(versions(bundler.install(git("a", "master"), lock=lock).lock)) == {"a"}
    assert not (bundler.vendor / "b").is_symlink()


class TestLocalPackages:
    def test_a_folder_and_what_it_requires(self, bundler: Bundler, libraries: Libraries) -> None:
        libraries.add("lib")
        component = bundler.folder / "dependencies" / "foo"
        component.mkdir(parents=True)
        (component / "jsonnetfile.json").write_text(document(git("lib", "master"), local("part")), encoding="utf-8")
        (component / "part").mkdir()
        lock = bundler.install(local("dependencies/foo")).lock
        folders = [entry.source for entry in lock.dependencies if isinstance(entry.source, LocalSource)]
        assert folders == [LocalSource("dependencies/foo"), LocalSource("dependencies/foo/part")]
        assert (bundler.vendor / "foo").resolve() == component
        assert (bundler.vendor / "part").resolve() == component / "part"
        assert not (bundler.vendor / "foo").readlink().is_absolute()
        assert bundler.read("lib/main.libsonnet") == "'lib'\n"

    def test_a_change_of_its_jsonnetfile_is_seen(self, bundler: Bundler, libraries: Libraries) -> None:
        libraries.add("lib")
        component = bundler.folder / "foo"
        component.mkdir()
        assert not bundler.install(local("foo")).reused
        assert bundler.install(local("foo")).reused
        (component / "jsonnetfile.json").write_text(document(git("lib", "master")), encoding="utf-8")
        assert not bundler.install(local("foo")).reused
        assert (bundler.vendor / "lib").exists()

    def test_a_missing_folder(self, bundler: Bundler) -> None:
        (bundler.folder / "foo").mkdir()
        bundler.install(local("foo"))
        (bundler.folder / "foo").rmdir()
        with pytest.raises(InputError) as caught:
            bundler.install(local("foo"))
        assert caught.value.code == "CMD-JB-009"

    @pytest.mark.parametrize("directory", ["../other", "/etc", "link"])
    def test_a_package_names_folders_of_its_own_only(self, bundler: Bundler, directory: str) -> None:
        component = bundler.folder / "foo"
        component.mkdir()
        (bundler.folder / "other").mkdir()
        (component / "link").symlink_to("../other")
        (component / "jsonnetfile.json").write_text(document(local(directory)), encoding="utf-8")
        with pytest.raises(PolicyError) as caught:
            bundler.install(local("foo"))
        assert caught.value.code == "CMD-JB-010"

    def test_its_jsonnetfile_lies_in_it(self, bundler: Bundler) -> None:
        (bundler.folder / "foo").mkdir()
        (bundler.folder / "outside.json").write_text("{}", encoding="utf-8")
        (bundler.folder / "foo" / "jsonnetfile.json").symlink_to("../outside.json")
        with pytest.raises(PolicyError) as caught:
            bundler.install(local("foo"))
        assert caught.value.code == "CMD-JB-010"

    def test_a_folder_inside_a_fetched_package(self, bundler: Bundler, libraries: Libraries) -> None:
        libraries.add("lib", {"part/a": "A"}, local("part"))
        bundler.install(git("lib", "master"))
        assert bundler.read("part/a") == "A"
        assert (bundler.vendor / "part").resolve().is_relative_to(bundler.vendor)


class TestHostilePackages:
    def test_links_stay_inside(self, bundler: Bundler, libraries: Libraries) -> None:
        """Symlink targets are not checked when archives are unpacked."""
        libraries.add("lib", {"a": Link("../../../../etc/passwd")})
        with pytest.raises(CommodoreError) as caught:
            bundler.install(git("lib", "master"))
        assert caught.value.code == "CMD-GIT-034"
        assert not (bundler.vendor / NAME / "lib").exists()

    def test_no_repositories_of_this_machine(self, bundler: Bundler, libraries: Libraries) -> None:
        secret = libraries.add("secret")
        source = {"source": {"git": {"remote": secret.url}}, "version": "master"}
        libraries.add("lib", None, source)
        with pytest.raises(PolicyError) as caught:
            bundler.install(git("lib", "master"))
        assert caught.value.code == "CMD-JB-011"
        assert bundler.install(source).lock.dependencies[0].version == secret.sha()

    def test_too_large(self, bundler: Bundler, libraries: Libraries) -> None:
        libraries.add("lib", {"a": "12345", "b": "6"})
        for limits in ({"bundle_package_bytes": 5}, {"bundle_package_files": 1}):
            with pytest.raises(InputError) as caught:
                bundler.install(git("lib", "master"), limits=replace(DEFAULT_LIMITS, **limits))
            assert caught.value.code == "CMD-JB-024"


def test_fetches_are_announced(bundler: Bundler, libraries: Libraries) -> None:
    libraries.add("lib")
    bundler.install(git("lib", "master"))
    assert [event.item for event in bundler.collected if isinstance(event, StageAdvanced)] == [f"{HOST}/org/lib.git"]
