"""Versions, commits and the cache of exports: what is asked from remotes, and when nothing is."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, Location
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.dependencies.bundle.jsonnetfile import GitSource
from commodore.core.dependencies.bundle.remotes import parse_remote
from commodore.core.dependencies.bundle.sources import LibrarySources, PackageRequest
from commodore.core.sources.git import RepositoryStore
from tests.core.dependencies.bundle.conftest import HOST, Bundler, Libraries, git
from tests.world.context import make_context
from tests.world.repos import GitCalls


def request(name: str, version: str, subdir: str = "") -> PackageRequest:
    return PackageRequest(
        GitSource(parse_remote(f"{HOST}/org/{name}.git", Location("test"), DEFAULT_LIMITS), subdir), version
    )


def resolve(bundler: Bundler, version: str, name: str = "lib") -> str:
    commit = bundler.sources().resolve([request(name, version)])[request(name, version)]
    if isinstance(commit, CommodoreError):
        raise commit
    return commit


def test_a_branch_beats_a_tag_beats_an_abbreviation(bundler: Bundler, libraries: Libraries) -> None:
    remote = libraries.add("lib")
    first = remote.sha()
    remote.tag("both")
    remote.tag("v1", annotated=True)
    second = remote.commit({"a": "2"})
    remote.start_branch("both")
    assert resolve(bundler, "both") == second
    assert resolve(bundler, "refs/tags/both") == first
    assert resolve(bundler, "v1") == first, "a tag is followed to its commit"
    assert resolve(bundler, first[:10]) == first
    assert resolve(bundler, "master~1") == first
    assert resolve(bundler, first.upper()) == first


def test_what_a_killed_run_left_goes_although_nothing_is_exported(bundler: Bundler, libraries: Libraries) -> None:
    libraries.add("lib")
    bundler.sources().obtain([request("lib", "master")])
    left = bundler.cache / "exports" / "new-held-12345678"
    (left / "clone").mkdir(parents=True)
    bundler.sources().obtain([request("lib", "master")])
    assert not left.exists()


def test_only_the_whole_name_matches(bundler: Bundler, libraries: Libraries) -> None:
    """`ls-remote main` matches any ref that ends in `/main`."""
    remote = libraries.add("lib")
    remote.start_branch("feature/main")
    remote.commit({"a": "2"})
    remote.start_branch("main")
    assert resolve(bundler, "main") == remote.sha("main") != remote.sha("feature/main")
    remote.delete_branch("main")
    with pytest.raises(InputError):
        resolve(bundler, "main")


def test_main_for_master(bundler: Bundler, libraries: Libraries) -> None:
    remote = libraries.add("lib", branch="main")
    assert resolve(bundler, "master") == remote.sha()
    assert bundler.codes == ["CMD-JB-016"]


def test_an_unknown_version_gets_a_suggestion(bundler: Bundler, libraries: Libraries) -> None:
    libraries.add("lib").tag("v1.2.3")
    with pytest.raises(InputError) as caught:
        resolve(bundler, "1.2.3")
    assert caught.value.code == "CMD-JB-007"
    assert "'v1.2.3'" in caught.value.hint


def test_a_commit_that_does_not_exist(bundler: Bundler, libraries: Libraries) -> None:
    libraries.add("lib")
    with pytest.raises(InputError) as caught:
        bundler.install(git("lib", "0" * 40))
    assert caught.value.code == "CMD-JB-007"


def test_every_remote_is_asked_once_and_fetched_once(bundler: Bundler, libraries: Libraries, calls: GitCalls) -> None:
    libraries.add("one", {"a/x": "1", "b/x": "2"}).tag("v1")
    libraries.add("two", {"x": "3"})
    bundler.install(git("one", "master", "a"), git("one", "v1", "b"), git("two", "master"))
    assert (calls.count("ls-remote"), calls.count("fetch")) == (2, 2)


def test_a_known_commit_is_never_downloaded_again(bundler: Bundler, libraries: Libraries, calls: GitCalls) -> None:
    """Everything is downloaded again on every compile. The cache serves other working directories too."""
    remote = libraries.add("lib")
    bundler.install(git("lib", "master"))
    calls.forget()
    other = Bundler(bundler.folder.with_name("other"), bundler.cache)
    other.install(git("lib", "master"))
    assert other.read("lib/main.libsonnet") == "'lib'\n"
    assert calls.verbs == ["ls-remote"]
    calls.forget()
    third = Bundler(bundler.folder.with_name("third"), bundler.cache)
    remote.vanish()
    third.install(git("lib", bundler.install(git("lib", "master"), offline=True).lock.dependencies[0].version))
    assert calls.verbs == [], "a pinned commit needs neither network nor clone"


def test_offline(bundler: Bundler, libraries: Libraries) -> None:
    """No offline mode. A branch is what it was when it was last seen."""
    remote = libraries.add("lib")
    with pytest.raises(EnvironmentFault):
        bundler.install(git("lib", "master"), offline=True)
    first = bundler.install(git("lib", "master")).lock
    remote.commit({"a": "2"})
    shutil.rmtree(bundler.vendor)
    assert bundler.install(git("lib", "master"), offline=True).lock == first


@pytest.mark.requirement("C16")
def test_a_clone_of_the_run_is_used(bundler: Bundler, libraries: Libraries, calls: GitCalls) -> None:
    """A component's repository that is also a library is not asked again."""
    remote = libraries.add("lib", branch="main")
    store = RepositoryStore(bundler.folder / ".repos", make_context(announce=bundler.collected.append))
    store.sync([(f"{HOST}/org/lib.git", "main")])
    calls.forget()
    sources = LibrarySources(store, bundler.cache)
    export = sources.obtain([request("lib", "master")])[request("lib", "master")]
    assert not isinstance(export, CommodoreError)
    assert export.sha == remote.sha()
    assert {"fetch", "ls-remote", "clone"}.isdisjoint(calls.verbs)
    assert bundler.codes == ["CMD-JB-016"]


def test_a_server_that_gives_no_single_commits(bundler: Bundler, libraries: Libraries, calls: GitCalls) -> None:
    """Then the repository is cloned whole."""
    remote = libraries.add("lib", {"a": "1"})
    old = remote.sha()
    remote.commit({"a": "2"})
    git_settings = (Path.home() / ".gitconfig").read_text(encoding="utf-8")
    (Path.home() / ".gitconfig").write_text(git_settings + "[protocol]\n\tversion = 0\n", encoding="utf-8")
    config = remote.path / "config"
    config.write_text(config.read_text().replace("allowAnySHA1InWant = true", "allowAnySHA1InWant = false"))
    bundler.install(git("lib", old))
    assert bundler.read("lib/a") == "1"
    assert calls.count("fetch") == 2


def test_attributes_count_as_in_archives(bundler: Bundler, libraries: Libraries) -> None:
    """`export-ignore` and `export-subst`, so that sums equal those of GitHub's archives."""
    attributes = "hidden export-ignore\nversion export-subst\n"
    remote = libraries.add("lib", {".gitattributes": attributes, "hidden": "x", "version": "$Format:%H$"})
    bundler.install(git("lib", "master"))
    assert bundler.read("lib/version") == remote.sha()
    assert not (bundler.vendor / "lib/hidden").exists()


def exports(bundler: Bundler) -> list[Path]:
    return sorted(bundler.cache.glob("exports/*/*/content"))


@pytest.mark.parametrize("damage", ["change", "remove", "add", "jsonnetfile", "about", "everything"])
def test_a_damaged_cache_costs_a_download_and_nothing_else(bundler: Bundler, libraries: Libraries, damage: str) -> None:
    libraries.add("leaf")
    libraries.add("lib", {"a": "1", "b": "2"}, git("leaf", "master"))
    lock = bundler.install(git("lib", "master")).lock
    for content in exports(bundler):
        if damage == "change" and (content / "a").exists():
            (content / "a").write_text("evil", encoding="utf-8")
        elif damage == "remove" and (content / "a").exists():
            (content / "a").unlink()
        elif damage == "add":
            (content / "new").write_text("evil", encoding="utf-8")
        elif damage == "jsonnetfile":
            (content / "jsonnetfile.json").write_text('{"version": 1}', encoding="utf-8")
        elif damage == "about":
            (content.parent / "about.json").write_text("{", encoding="utf-8")
    if damage == "everything":
        shutil.rmtree(bundler.cache)
    shutil.rmtree(bundler.vendor)
    assert bundler.install(git("lib", "master")).lock == lock
    assert bundler.read("lib/a") == "1"
    assert not (bundler.vendor / "lib/new").exists()
    for content in exports(bundler):
        assert not (content / "new").exists()
    assert list((bundler.cache / "exports").glob("new-*")) == []


def test_several_writers_at_once(bundler: Bundler, libraries: Libraries) -> None:
    for index in range(3):
        libraries.add(f"lib{index}", {"a": str(index)})
    others = [Bundler(bundler.folder.with_name(f"other{index}"), bundler.cache) for index in range(4)]
    failures: list[BaseException] = []

    def work(other: Bundler) -> None:
        try:
            other.install(*(git(f"lib{index}", "master") for index in range(3)))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(other,)) for other in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [[other.read(f"lib{index}/a") for index in range(3)] for other in others] == [["0", "1", "2"]] * 4
    assert len(exports(bundler)) == 3
