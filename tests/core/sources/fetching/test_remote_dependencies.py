"""Charts and folders of commits that machines share by a remote store."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.results.remote_store import ReadAccess, RemoteStore, Signer, Trust, new_key, read_signer
from commodore.core.results.remote_store.signed import read_trust
from commodore.core.sources.fetching import (
    CacheKey,
    DependencyCache,
    RemoteDependencies,
    chart_key,
    commit_key,
    object_name,
)
from tests.world.folders import snapshot

CHART = CacheKey("helm", "https://charts.example.com", "1.2.3", "redis")


@dataclass
class Shared:
    """A store in a folder, with a writer that readers trust."""

    root: Path
    store: RemoteStore

    def machine(self, name: str) -> DependencyCache:
        remote = RemoteDependencies(self.store, 2 * DEFAULT_LIMITS.result_bytes)
        return DependencyCache(self.root / name, DEFAULT_LIMITS, remote)

    def put(self, packed: bytes) -> None:
        self.store.create(object_name(CHART.digest), packed)


@pytest.fixture
def shared(tmp_path: Path) -> Shared:
    key, trust = tmp_path / "key.pem", tmp_path / "trust"
    key.write_bytes(new_key())
    trust.write_text(read_signer(key).trust_line)
    access = ReadAccess((f"file://{tmp_path}/store",), read_trust(trust))
    return Shared(tmp_path, RemoteStore(access, read_signer(key), DEFAULT_LIMITS))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "templates" / "empty").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("name: redis\n")
    (folder / "templates" / "run.sh").write_bytes(b"\0\xff")
    (folder / "templates" / "run.sh").chmod(0o700)
    (folder / "link").symlink_to("templates/run.sh")
    return folder


@pytest.mark.requirement("FC7")
def test_another_machine_gets_what_was_fetched(shared: Shared, tree: Path, tmp_path: Path) -> None:
    first, second = shared.machine("first"), shared.machine("second")
    first.add(CHART, tree)
    packed = first.pack(CHART)
    assert first.added == [CHART]
    assert packed is not None
    assert not shared.machine("none").copy(CHART, tmp_path / "copy")

    shared.put(packed)
    assert second.copy(CHART, tmp_path / "copy")
    assert snapshot(tmp_path / "copy") == snapshot(tree)
    assert second.added == []
    assert second.bring([CHART]) == 0  # it is there by now
    assert not second.copy(replace(CHART, version="1.2.4"), tmp_path / "other")


def test_each_entry_is_asked_for_once(shared: Shared, tmp_path: Path) -> None:
    cache = shared.machine("first")
    assert [cache.copy(CHART, tmp_path / "copy") for _ in range(3)] == [False] * 3
    assert shared.store.take_counts().missing == 1


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.mode = kind, link, mode
    return made


@pytest.mark.requirement("FC7")
@pytest.mark.parametrize(
    "members",
    [
        [member("../out")],
        [member("/out")],
        [member("a", tarfile.SYMTYPE, "/etc"), member("a/out")],
        [member("a", tarfile.SYMTYPE, "../../out")],
        [member("a", tarfile.LNKTYPE, "../out")],
        [member("a", tarfile.FIFOTYPE)],
        [member("a", tarfile.CHRTYPE)],
        None,
    ],
)
def test_what_is_signed_and_still_no_folder_is_left_out(
    shared: Shared, tmp_path: Path, members: list[tarfile.TarInfo] | None
) -> None:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for member in members or ():
            archive.addfile(member)
    shared.put(content.getvalue() if members is not None else b"no archive")
    assert not shared.machine("first").copy(CHART, tmp_path / "copy")
    assert not list((tmp_path / "first").glob("*/*"))
    assert not (tmp_path / "out").exists()
    assert not os.path.lexists("/out")


def test_no_special_rights_come_from_elsewhere(shared: Shared, tmp_path: Path) -> None:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        archive.addfile(member("a", mode=0o6777))
    shared.put(content.getvalue())
    assert shared.machine("first").copy(CHART, tmp_path / "copy")
    assert (tmp_path / "copy" / "a").stat().st_mode & 0o7777 == 0o755


@pytest.mark.requirement("FC7")
def test_what_is_not_from_a_trusted_key_is_fetched(shared: Shared, tree: Path, tmp_path: Path) -> None:
    first = shared.machine("first")
    first.add(CHART, tree)
    packed = first.pack(CHART)
    assert packed is not None
    access = replace(shared.store.access, trust=Trust({}, anyone=True))
    RemoteStore(access, Signer(None), DEFAULT_LIMITS).create(object_name(CHART.digest), packed)
    assert not shared.machine("second").copy(CHART, tmp_path / "copy")
    assert shared.store.take_counts().refused == {"not trusted": 1}


def of_chart(url: str) -> CacheKey | None:
    return chart_key(url, "redis", "1.2.3")


def of_commit(url: str) -> CacheKey | None:
    return commit_key(url, "a" * 40, submodules=False, folder="")


@pytest.mark.requirement("FC14")
@pytest.mark.parametrize("key", [of_chart, of_commit])
@pytest.mark.parametrize(
    "url", ["https://me:hidden@example.com/x", "ssh://git:hidden@example.com/x", "/srv/x", "file:///srv/x", "charts/x"]
)
def test_what_was_fetched_with_credentials_or_lies_here_stays_here(
    shared: Shared, tree: Path, tmp_path: Path, key: Callable[[str], CacheKey | None], url: str
) -> None:
    """Who may read the store may not be who may read that source."""
    private, first = key(url), shared.machine("first")
    assert private is not None
    first.add(private, tree)
    assert first.added == []
    shared.store.create(object_name(private.digest), first.pack(private) or b"")
    assert not shared.machine("second").copy(private, tmp_path / "copy")


def test_what_is_too_large_is_not_packed(shared: Shared, tree: Path, tmp_path: Path) -> None:
    small = DependencyCache(tmp_path / "first", replace(DEFAULT_LIMITS, result_bytes=5))
    small.add(CHART, tree)
    assert small.pack(CHART) is None
