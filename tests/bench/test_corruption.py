"""Damage to caches and notes: each kind of it can be undone, and a short run of `bench/corruption.py`."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from _corruption import damage, kept_files

from tests.bench.conftest import BENCH
from tests.world.folders import write_files
from tests.world.sampling import EXHAUSTIVE


def snapshot(folder: Path) -> dict[str, bytes | str | None]:
    return {
        str(path.relative_to(folder)): os.readlink(path)
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in sorted(folder.rglob("*"))
    }


def test_all_damage_is_seen_and_undone(tmp_path: Path) -> None:
    """Random damage of all kinds: something is different afterwards, modes apart, and nothing once it is undone."""
    files = {"cache/aa/a1/x.result": b"1" * 50, "cache/aa/b2/x.result": b"2" * 50, "cache/bb/c3/about.json": b"{}"}
    files |= {"work/.commodore/lock": b"1\n", "work/dependencies/.repos/a/commodore-refs": b"refs"}
    write_files(tmp_path, files)
    (tmp_path / "work/dependencies/.repos/a/HEAD").write_text("not a note")
    (tmp_path / "work/compiled").mkdir()
    (tmp_path / "work/compiled/a").write_text("no note either")
    before, rng, kinds = snapshot(tmp_path), random.Random(1), set()
    for _ in range(300):
        result = kept_files(tmp_path / "cache", tmp_path / "work")
        assert {str(path.relative_to(tmp_path)) for path in result} == files.keys()
        done = damage(rng, result)
        kind = done.what.partition(":")[0]
        if snapshot(tmp_path) != before:
            kinds.add(kind)
        done.undo()
        assert snapshot(tmp_path) == before, done.what
        for path in result:
            path.chmod(0o644)
    assert len(kinds) == 11


def test_without_anything_to_damage(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to damage"):
        damage(random.Random(1), kept_files(tmp_path, tmp_path))


def test_some_rounds_give_the_right_result(tmp_path: Path) -> None:
    commodore = Path(sys.executable).parent / "commodore"
    rounds = "3" if EXHAUSTIVE else "1"
    options = ["--commodore", str(commodore), "--rounds", rounds, "--seed", "7"]
    command = [sys.executable, str(BENCH / "corruption.py"), *options]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{rounds} rounds: 0 wrong" in ended.stdout
