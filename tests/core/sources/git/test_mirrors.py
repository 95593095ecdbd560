"""A repository fetched in one working directory is not fetched again in another one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault
from commodore.base.files.sealed import read_sealed, seal
from commodore.base.limits import DEFAULT_LIMITS, Limits
from commodore.core.sources.git import Mirrors, Repository, RepositoryStore, check_out
from tests.core.sources.git.conftest import Heard
from tests.world.context import make_context, working_clone
from tests.world.repos import GitCalls, GitWorld, Remote, failing_server, git

Begin = Callable[..., RepositoryStore]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "repositories"


@pytest.fixture
def begin(tmp_path: Path, cache: Path, collected: Heard) -> Begin:
    """Begin a run in the working directory of this name."""

    def start(name: str, *, offline: bool = False, limits: Limits = DEFAULT_LIMITS) -> RepositoryStore:
        root = tmp_path / name / ".repos"
        return RepositoryStore(root, make_context(collected.append, limits, offline=offline), mirrors=cache)

    return start


def fetched(store: RepositoryStore, remote: Remote, *versions: str | None, url: str = "") -> Repository:
    store.sync([(url or remote.url, version) for version in versions or ("master",)])
    return store.repository(url or remote.url)


def entries(cache: Path) -> list[Path]:
    return sorted(path.parent for path in cache.glob("*/*/about.json"))


def is_sound(entry: Path) -> bool:
    return Mirrors(entry.parent.parent, make_context()).is_sound(entry)


def is_whole(repository: Repository) -> bool:
    """Check that git finds all objects in the clone, and all that the remote's branches and tags need."""
    return "missing" not in git(repository.path, "fsck", "--full", "--connectivity-only")


def rich(world: GitWorld) -> Remote:
    """A remote with several branches and kinds of tags."""
    remote = world.remote(files={"a": "1", "b/c": "2"})
    remote.tag("v1")
    remote.tag("v2", annotated=True)
    remote.start_branch("other")
    remote.commit({"a": "3"})
    return remote


def test_a_second_working_directory_asks_and_fetches_nothing(
    begin: Begin, world: GitWorld, calls: GitCalls, tmp_path: Path
) -> None:
    remote = rich(world)
    first = fetched(begin("one"), remote, "master", None)
    calls.forget()
    second = fetched(begin("two"), remote, "v1", None)
    assert sorted(calls.verbs) == ["init", "ls-remote"]
    assert second.refs() == first.refs()
    assert [second.resolve(version).sha for version in ("master", "v1", "v2", "other", None)] == [
        first.resolve(version).sha for version in ("master", "v1", "v2", "other", None)
    ]
    assert is_whole(second)
    command = (
        "for-each-ref",
        "--format=%(refname) %(objectname) %(*objectname)",
        "refs/tags",
        "refs/remotes/origin/o*",
    )
    assert git(second.path, *command) == git(first.path, *command)
    checkout = check_out(second, tmp_path / "two" / "files", second.resolve("master"))
    assert (checkout.path / "a").read_text() == "3"


def test_only_what_is_new_is_fetched(begin: Begin, world: GitWorld, calls: GitCalls) -> None:
    remote = rich(world)
    fetched(begin("one"), remote)
    newest = remote.commit({"a": "4"})
    calls.forget()
    second = fetched(begin("two"), remote)
    assert (calls.count("fetch"), second.resolve("master").sha) == (1, newest)
    assert len(list(second.path.glob("objects/pack/*.pack"))) == 2
    assert is_whole(second)
    calls.forget()
    third = fetched(begin("three"), remote)
    assert (calls.count("fetch"), third.resolve("master").sha) == (0, newest)


def test_a_used_working_directory_shares_what_it_fetches(begin: Begin, world: GitWorld, calls: GitCalls) -> None:
    remote = rich(world)
    fetched(begin("one"), remote)
    newest = remote.commit({"a": "4"})
    fetched(begin("one"), remote)
    calls.forget()
    assert fetched(begin("two"), remote).resolve("master").sha == newest
    assert calls.count("fetch") == 0


def test_clones_do_not_need_the_cache(begin: Begin, world: GitWorld, cache: Path) -> None:
    remote = rich(world)
    fetched(begin("one"), remote)
    second = fetched(begin("two"), remote)
    shutil.rmtree(cache)
    assert is_whole(second)
    assert not (second.path / "objects" / "info" / "alternates").exists()
    remote.commit({"a": "4"})
    fetched(begin("two"), remote)
    assert len(entries(cache)) == 1, "and it is filled again"


def test_a_remote_that_refuses_still_refuses(begin: Begin, world: GitWorld) -> None:
    remote = rich(world)
    sha = remote.sha()
    fetched(begin("one"), remote)
    remote.vanish()
    for version in ("master", sha):
        store = begin("two")
        with pytest.raises(EnvironmentFault) as error:
            fetched(store, remote, version)
        assert (error.value.code, [place.place for place in error.value.locations]) == ("CMD-GIT-005", [remote.url])
        assert list(store.root.rglob("*.git")) == []
    with pytest.raises(EnvironmentFault, match="offline"):
        fetched(begin("two", offline=True), remote)


def test_what_the_remote_has_no_more_is_not_taken(begin: Begin, world: GitWorld, collected: Heard) -> None:
    """A new clone knows nothing of former days: no moved tag is warned about, no deleted branch is there."""
    remote = rich(world)
    fetched(begin("one"), remote)
    remote.tag("v1", "other")
    remote.tag("v1", "master")
    remote.delete_tag("v2")
    remote.delete_branch("other")
    second = fetched(begin("two"), remote, "master", "v1")
    assert second.resolve("v1").sha == remote.sha("v1")
    assert (set(second.refs().branches), set(second.refs().tags)) == ({"master"}, {"v1"})
    assert "discarded" not in git(second.path, "for-each-ref")
    assert collected.codes == []
    assert is_whole(second)


def test_a_commit_id_is_asked_for_in_a_new_working_directory_alone(
    begin: Begin, world: GitWorld, calls: GitCalls
) -> None:
    """An unchanged run does not ask for commit ids, so the next one must not do so either."""
    remote = rich(world)
    fetched(begin("one"), remote)
    store = begin("two")
    sha = remote.sha("v1")
    assert fetched(store, remote, sha).resolve(sha).sha == sha
    assert (calls.count("ls-remote"), store.asked) == (1, [])
    calls.forget()
    fetched(begin("two"), remote, sha)
    assert calls.verbs == []


@pytest.mark.parametrize("damage", ["pack", "idx", "short", "gone", "about", "list"])
def test_a_damaged_entry_is_replaced(begin: Begin, world: GitWorld, cache: Path, calls: GitCalls, damage: str) -> None:
    """A flipped bit anywhere must neither reach a clone nor stop a run."""
    remote = rich(world)
    first = fetched(begin("one"), remote)
    (entry,) = entries(cache)
    place = {"about": "about.json", "list": "about.json", "idx": "*.idx"}.get(damage, "*.pack")
    (victim,) = entry.glob(place)
    content = victim.read_bytes()
    victim.unlink()  # the clone has a link to the same file
    if damage != "gone":
        middle = len(content) // 2
        changed = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        victim.write_bytes({"short": content[:-1], "list": b"[]"}.get(damage, changed))
    assert not is_sound(entry)
    calls.forget()
    second = fetched(begin("two"), remote)
    assert (calls.count("fetch"), second.refs()) == (1, first.refs())
    assert is_whole(second)
    assert is_sound(*entries(cache))
    calls.forget()
    fetched(begin("three"), remote)
    assert calls.count("fetch") == 0


@pytest.mark.parametrize("ending", ["pack", "idx"])
def test_a_whole_file_of_another_entry(
    begin: Begin, world: GitWorld, cache: Path, calls: GitCalls, ending: str
) -> None:
    """It ends with its own digest, but is not the file of the entry."""
    remote = rich(world)
    first = fetched(begin("one"), remote)
    (entry,) = entries(cache)
    fetched(begin("one"), world.remote("another", {"x": "y"}))
    (other,) = set(entries(cache)) - {entry}
    (victim,), (foreign,) = entry.glob(f"*.{ending}"), other.glob(f"*.{ending}")
    victim.unlink()  # the clone has a link to the same file
    victim.write_bytes(foreign.read_bytes())
    assert not is_sound(entry)
    calls.forget()
    second = fetched(begin("two"), remote)
    assert (calls.count("fetch"), second.refs()) == (1, first.refs())
    assert is_whole(second)


def test_credentials_are_not_kept(
    begin: Begin, world: GitWorld, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in names nor in files; and they go with the question, but on no command line."""
    remote = rich(world)
    address = "https://me:secret@git.example.com/r.git"
    git(tmp_path, "config", "--global", f"url.{remote.url}.insteadOf", address)
    fetched(begin("one"), remote, url=address)
    kept = [path for path in cache.rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in cache.rglob("*") if "example" in path.name]
    assert not [path for path in kept if b"secret" in path.read_bytes()]
    calls = GitCalls(tmp_path / "shim", monkeypatch)
    second = fetched(begin("two"), remote, url=address)
    assert sorted(calls.verbs) == ["init", "ls-remote"]
    assert "secret" not in (tmp_path / "shim" / "log").read_text()
    assert git(second.path, "config", "remote.origin.url") == "https://git.example.com/r.git"


def test_users_without_credentials_get_nothing(begin: Begin, world: GitWorld, tmp_path: Path) -> None:
    """A repository fetched with credentials has the same entry without, but the server refuses before it is read."""
    remote = rich(world)
    address = "https://git.example.com/r.git"
    git(tmp_path, "config", "--global", f"url.{remote.url}.insteadOf", address.replace("git.", "me:secret@git."))
    git(tmp_path, "config", "--global", f"url.file://{tmp_path}/nothing.insteadOf", address)
    fetched(begin("one"), remote, url=address.replace("git.", "me:secret@git."))
    with pytest.raises(EnvironmentFault):
        fetched(begin("two"), remote, url=address)


def test_addresses_with_queries_are_not_kept(begin: Begin, world: GitWorld, cache: Path, tmp_path: Path) -> None:
    remote = rich(world)
    address = "https://git.example.com/r.git?token=secret"
    git(tmp_path, "config", "--global", f"url.{remote.url}.insteadOf", address)
    fetched(begin("one"), remote, url=address)
    assert entries(cache) == []


def test_the_folder_is_private(begin: Begin, world: GitWorld, cache: Path) -> None:
    fetched(begin("one"), rich(world))
    (entry,) = entries(cache)
    assert [oct(folder.stat().st_mode & 0o777) for folder in (cache, entry)] == ["0o700", "0o700"]


def test_work_of_users_is_not_kept(begin: Begin, world: GitWorld, cache: Path) -> None:
    """A clone with objects that did not come from the remote stays out of the cache."""
    remote = rich(world)
    first = fetched(begin("one"), remote)
    (entry,) = entries(cache)
    before = (entry / "about.json").read_bytes()
    git(first.path, "hash-object", "-w", "--stdin", input=b"private")
    remote.commit({"a": "4"})
    fetched(begin("one"), remote)
    assert (entry / "about.json").read_bytes() == before


def test_shallow_and_partial_clones_are_not_kept(begin: Begin, world: GitWorld, cache: Path) -> None:
    remote = rich(world)
    for name, mark in (
        ("one", "shallow"),
        ("two", "objects/pack/pack-1.promisor"),
        ("three", "objects/info/alternates"),
    ):
        repository = begin(name).repository(remote.url)
        repository.ensure()
        (repository.path / mark).parent.mkdir(exist_ok=True)
        (repository.path / mark).write_text("")
        repository.fetch()
        assert entries(cache) == []


def test_an_entry_of_too_many_packs_goes(begin: Begin, world: GitWorld, cache: Path) -> None:
    """It begins anew with one pack, instead of never learning again."""
    remote, few = rich(world), Limits(mirror_packs=4)  # files: two packs, and their indexes
    for name in ("one", "two", "three"):
        fetched(begin(name, limits=few), remote)
        remote.commit({"a": name})
    assert entries(cache) == []
    fetched(begin("four", limits=few), remote)
    assert len(entries(cache)) == 1


def test_large_repositories_are_not_kept(begin: Begin, world: GitWorld, cache: Path) -> None:
    fetched(begin("one", limits=Limits(mirror_bytes=100)), rich(world))
    assert entries(cache) == []


def test_an_empty_remote_is_not_kept(begin: Begin, world: GitWorld, cache: Path) -> None:
    begin("one").repository(world.remote().url).fetch()
    assert entries(cache) == []


def test_many_runs_at_once(begin: Begin, world: GitWorld, cache: Path) -> None:
    """All of them get everything, and what they leave is sound."""
    remote = rich(world)
    with ThreadPoolExecutor(4) as pool:
        clones = list(pool.map(lambda number: fetched(begin(f"w{number}"), remote, "master", "v2"), range(8)))
    assert all(is_whole(clone) and clone.resolve("master").sha == remote.sha() for clone in clones)
    assert is_sound(*entries(cache))
    assert [name for name in os.listdir(cache) if name.startswith("new-")] == []


def test_what_a_killed_run_has_left_goes(begin: Begin, world: GitWorld, cache: Path) -> None:
    """Also if the run after it keeps nothing new."""
    remote = rich(world)
    fetched(begin("one"), remote)
    left = cache / "new-held-12345678" / "entry"
    left.mkdir(parents=True)
    fetched(begin("one"), remote)
    assert not left.parent.exists()
    assert len(entries(cache)) == 1


def test_a_cache_that_cannot_be_written_stops_nobody(begin: Begin, world: GitWorld, cache: Path) -> None:
    remote = rich(world)
    cache.parent.mkdir()
    cache.write_text("a file")
    assert fetched(begin("one"), remote).resolve("master").sha == remote.sha()


def test_a_damaged_clone_does_not_come_back(begin: Begin, world: GitWorld, cache: Path, collected: Heard) -> None:
    """The cache has the same files by another name; what is made anew comes from the remote, and replaces them."""
    remote = rich(world)
    first = fetched(begin("one"), remote)
    for path in first.path.glob("objects/pack/*"):
        path.chmod(0o644)
        path.write_bytes(b"")
    remote.commit({"a": "4"})
    assert is_whole(fetched(begin("one"), remote))
    assert collected.codes == ["CMD-GIT-024"]
    assert is_sound(*entries(cache))


@pytest.mark.parametrize("kept", [True, False])
def test_a_clone_that_has_lost_a_pack_is_not_kept(begin: Begin, world: GitWorld, cache: Path, kept: bool) -> None:
    """Git fetches into it without noticing; all new clones would have what is missing, or rather not."""
    remote = rich(world)
    first = fetched(begin("one"), remote)
    before = set((first.path / "objects/pack").iterdir())
    remote.commit({"a": "4"})
    fetched(begin("one"), remote)
    lost = set((first.path / "objects/pack").iterdir()) - before
    assert lost
    remote.commit({"b": "5"})
    fetched(begin("one"), remote)
    for file in lost:
        file.unlink()
    newest = remote.commit({"b": "6"})
    if not kept:
        shutil.rmtree(cache)
    fetched(begin("one"), remote)
    assert len(entries(cache)) == kept
    second = fetched(begin("two"), remote)
    assert second.resolve("master").sha == newest
    assert is_whole(second)


def test_catalogs(world: GitWorld, cache: Path, tmp_path: Path, calls: GitCalls) -> None:
    """The clone to publish from fetches only what no working directory has fetched before."""
    remote = rich(world)

    def clone(name: str) -> str:
        calls.forget()
        made = working_clone(remote.url, tmp_path / name / "catalog", make_context(), mirrors=cache)
        assert made.sha == remote.sha()
        assert git(made.path, "status", "--porcelain", "--branch") == "## master...origin/master"
        assert "missing" not in git(made.path, "fsck", "--connectivity-only")
        return git(made.path, "for-each-ref", "--format=%(refname) %(objectname)")

    first = clone("one")
    assert calls.count("fetch") == 1
    second = clone("two")
    assert (calls.count("fetch"), second) == (0, first)
    remote.commit({"a": "4"})
    third = clone("three")
    assert (calls.count("fetch"), third != first) == (1, True)
    clone("four")
    assert calls.count("fetch") == 0
    remote.vanish()
    with pytest.raises(EnvironmentFault):
        clone("five")


def test_entries_name_packs_alone(begin: Begin, world: GitWorld, cache: Path, tmp_path: Path) -> None:
    """The description of an entry must not lead out of it, regardless of its author."""
    remote = rich(world)
    fetched(begin("one"), remote)
    (entry,) = entries(cache)
    (pack,) = entry.glob("*.pack")
    label = ("repositories", entry.name)
    content = (read_sealed(entry / "about.json", label) or b"").decode()
    content = content.replace(pack.name, pack.name.replace(".pack", f".x/../../{entry.name}/{pack.name}"))
    (entry / "about.json").write_bytes(seal(label, content.encode()))
    assert not is_sound(entry)
    assert is_whole(fetched(begin("two"), remote))
    assert is_sound(*entries(cache))


@pytest.mark.parametrize(("status", "code"), [(401, "CMD-GIT-004"), (403, "CMD-GIT-004"), (404, "CMD-GIT-005")])
def test_a_server_that_says_no(begin: Begin, world: GitWorld, tmp_path: Path, status: int, code: str) -> None:
    """Also for a commit that the cache has: nobody gets what the server would not give."""
    remote = rich(world)
    address = "https://git.example.com/r.git"
    git(tmp_path, "config", "--global", f"url.{remote.url}.insteadOf", address)
    fetched(begin("one"), remote, url=address)
    git(tmp_path, "config", "--global", "--unset", f"url.{remote.url}.insteadOf")
    with failing_server(status) as site:
        git(tmp_path, "config", "--global", f"url.{site}/r.git.insteadOf", address)
        for version in ("master", remote.sha()):
            with pytest.raises(EnvironmentFault) as error:
                fetched(begin("two"), remote, version, url=address)
            assert error.value.code == code
    assert not list((tmp_path / "two").rglob("*.pack"))


def test_a_cache_that_can_only_be_read(
    begin: Begin, world: GitWorld, calls: GitCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = rich(world)
    fetched(begin("one"), remote)

    def refuse(*arguments: object) -> None:
        raise PermissionError

    calls.forget()
    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(os, "link", refuse)
    second = fetched(begin("two"), remote)
    assert calls.count("fetch") == 0
    assert is_whole(second)
    (pack,) = second.path.glob("objects/pack/*.pack")
    assert (pack.stat().st_nlink, pack.stat().st_mode & 0o777) == (1, 0o444)
