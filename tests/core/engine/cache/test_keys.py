"""Each kind of input: its record is valid, a change is detected, and it has a description."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commodore.base.context import Context
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.engine.cache.keys import (
    KINDS,
    LOCATION,
    MADE,
    SETTINGS,
    SOURCE,
    CurrentState,
    Key,
    PathKind,
    RunEnvironment,
    path_keys,
)
from commodore.core.engine.cache.portable_paths import PortablePaths
from commodore.core.engine.cache.remote_identity import SourceIdentities
from commodore.core.engine.cache.static_key import settings_digest
from commodore.core.engine.cache.trace import TraceRecorder
from commodore.core.render.tool_identity import Programs

NODE: dict[str, Any] = {"parameters": {"app": {"a": 1}, "kapitan": {"compile": []}}}
CHART = SOURCE.key("helm", "https://charts.example.com", "chart", "1.0.0")


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    helm = tmp_path / "bin" / "helm"
    helm.parent.mkdir()
    helm.write_bytes(b"\x7fELF")
    helm.chmod(0o755)
    return Programs({"PATH": str(helm.parent)}, tmp_path, None, DEFAULT_LIMITS)


@pytest.fixture
def record(tmp_path: Path, programs: Programs) -> TraceRecorder:
    """One read of each kind, below `root`."""
    root = tmp_path / "root"
    (root / "tree").mkdir(parents=True)
    (root / "refs" / "own").mkdir(parents=True)
    for name in ("file", "tree/file", "there", "match.yaml", "made", "refs/own/secret"):
        (root / name).write_text("text")
    (root / "fetched").mkdir()
    (root / "link").symlink_to("fetched")
    reads = TraceRecorder("app", PortablePaths({"root": root}, (), (), root / "refs" / "own"), programs)
    reads.fetched([str(root / "fetched")])
    reads.written(str(root / "made"))
    reads.value("app", NODE, "parameters", "app", "a")
    reads.names("app", NODE, "parameters", "app")
    reads.targets(["app"])
    reads.location()
    reads.program("helm")
    reads.defaults("helm")
    reads.note(SETTINGS.key(), settings_digest(NODE, reads.places))
    reads.note(CHART, "fixed")
    reads.file(str(root / "file"))
    reads.file(str(root / "link"))
    reads.ref_file(str(root / "refs" / "own" / "secret"))
    reads.kind(str(root / "there"))
    reads.pattern(str(root), "*.yaml")
    reads.tree(str(root / "tree"))
    reads.copied(str(root / "tree"))
    return reads


def current_state(record: TraceRecorder, programs: Programs, node: dict[str, Any] = NODE) -> CurrentState:
    sources = SourceIdentities(None, Context(ignore, DEFAULT_LIMITS, offline=True))
    return CurrentState(record.places, {"app": node}, None, RunEnvironment("app", programs, sources, os.environ))


def different(inputs: dict[Key, str], current: CurrentState) -> set[str]:
    return {key[0] for key, digest in inputs.items() if current.digest(key) != digest}


def test_what_is_recorded_is_found_again(record: TraceRecorder, programs: Programs) -> None:
    inputs = record.conclude()
    assert record.refusal == ""
    assert {key[0] for key in inputs} == set(KINDS)
    current = current_state(record, programs)
    assert different(inputs, current) == set()
    assert current.digests(list(inputs)) == list(inputs.values())


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        (lambda root: (root / "file").write_text("else"), {"file"}),
        (lambda root: (root / "refs" / "own" / "secret").write_text("else"), {"file"}),
        (lambda root: (root / "there").unlink(), {"kind"}),
        (lambda root: (root / "new.yaml").touch(), {"glob"}),
        (lambda root: (root / "tree" / "file").unlink(), {"tree", "copied"}),
        (lambda root: (root / "tree" / "file").chmod(0o600), {"copied"}),
        (lambda root: ((root / "link").unlink(), (root / "link").symlink_to("tree")), {"way"}),
        (lambda root: (root / "made").write_text("else"), set()),
        (lambda root: (root.parent / "bin" / "helm").write_bytes(b"\x7fELF other"), {"tool"}),
    ],
)
def test_a_change_is_seen_by_its_kind(
    record: TraceRecorder, tmp_path: Path, change: Callable[[Path], object], kinds: set[str]
) -> None:
    inputs = record.conclude()
    change(tmp_path / "root")
    fresh = Programs({"PATH": str(tmp_path / "bin")}, tmp_path, None, DEFAULT_LIMITS)
    assert different(inputs, current_state(record, fresh)) == kinds


def test_a_change_of_parameters_is_seen_by_its_kind(record: TraceRecorder, programs: Programs) -> None:
    inputs = record.conclude()
    for parameters, kinds in (
        ({"app": {"a": 2}, "kapitan": {"compile": []}}, {"value"}),
        ({"app": {"a": 1, "b": 1}, "kapitan": {"compile": []}}, {"names"}),
        ({"app": {"a": 1}, "kapitan": {"compile": [1]}}, {"settings"}),
    ):
        assert different(inputs, current_state(record, programs, {"parameters": parameters})) == kinds


def test_parameters_and_files_alone(record: TraceRecorder) -> None:
    """Without a world, nothing else is looked at: what it would tell is unknown."""
    inputs = record.conclude()
    current = CurrentState(record.places, {"app": NODE})
    unknown = {"root", "cluster-refs", "settings", "tool", "defaults", "source"}
    assert {key[0] for key in inputs if current.digest(key) is None} == unknown
    assert current.digests(list(inputs)) is None
    assert current.digest(("unheard of", "x")) is None
    assert current.digest(LOCATION.key()) is None


def test_what_lies_at_paths(record: TraceRecorder, tmp_path: Path) -> None:
    root = tmp_path / "root"
    paths = {(kind.name, kind.touched(which, record.places)) for kind, _, which in path_keys(record.conclude())}
    assert paths == {
        ("file", str(root / "file")),
        ("file", str(root / "refs" / "own" / "secret")),
        ("kind", str(root / "there")),
        ("way", str(root / "link")),
        ("glob", str(root) + "/"),
        ("tree", str(root / "tree")),
        ("copied", str(root / "tree")),
    }
    assert {kind.name for kind in KINDS.values() if isinstance(kind, PathKind) and kind.is_folder} == {"tree", "copied"}


def test_words() -> None:
    words = {
        CHART: "chart chart 1.0.0 from https://charts.example.com",
        SOURCE.key("git", "https://git/a", "\0default", "False", ""): "https://git/a at the default branch",
        SOURCE.key("git", "https://git/a", "v1", "False", "b/c"): "https://git/a at v1, folder b/c",
        SOURCE.key("http", "https://example.com/x"): "https://example.com/x",
        ("tool", "helm"): "helm",
        ("targets",): "targets",
    }
    assert {key: KINDS[key[0]].describe(key[1:]) for key in words} == words


def test_what_an_instance_makes_depends_on_nothing(record: TraceRecorder) -> None:
    assert CurrentState(record.places, {}).digest(("written", "root:made")) == MADE
