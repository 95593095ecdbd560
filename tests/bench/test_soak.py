"""Random edits of made-up worlds: a short run of `bench/soak.py`, and whether it would see a difference."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from _soak.changes import Change, State, look, put
from _soak.editing import edit, list_files
from _soak.made_up import make
from _soak.world import commit, git, write_files

from tests.bench.conftest import BENCH
from tests.world.sampling import EXHAUSTIVE

# A tool that takes another number of rounds until its cache gives something stale.
STALE = """#!/bin/sh
mkdir -p compiled/app catalog
echo "$$" >>count
case "$*" in
  *--no-cache*) echo new >compiled/app/config ;;
  *) if [ "$(wc -l <count)" -ge 2 ]; then echo stale >compiled/app/config; else echo new >compiled/app/config; fi ;;
esac
"""


def soak(*options: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TMPDIR": str(folder)}
    environment.pop("COMMODORE_REAL", None)
    return subprocess.run(
        [sys.executable, str(BENCH / "soak.py"), *options], capture_output=True, text=True, env=environment, check=False
    )


def test_some_rounds_are_equal(tmp_path: Path) -> None:
    commodore = Path(sys.executable).parent / "commodore"
    rounds = "2" if EXHAUSTIVE else "1"
    options = ["--seed", "5", "--worlds", "1", "--rounds", rounds, "--while-running"]
    ended = soak("--commodore", str(commodore), *options, folder=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout == f"1 worlds of {rounds} rounds: 0 with differences\n"
    assert list(tmp_path.iterdir()) == []


def test_a_stale_result_is_told_with_what_led_there(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text(STALE)
    tool.chmod(0o755)
    ended = soak("--commodore", str(tool), "--seed", "7", "--worlds", "1", "--shrink", folder=tmp_path)
    assert ended.returncode == 1, ended.stderr
    assert "DIFFERENT: seed 7, round 2; everything is in " in ended.stdout
    assert re.search(r"compiled/app/config: 644 \w+ and 644 \w+", ended.stdout)
    assert "these rounds are enough:" in ended.stdout
    (kept,) = tmp_path.glob("soak-7-*")
    assert len((kept / "rounds.jsonl").read_text().splitlines()) == 2
    again = soak("--commodore", str(tool), "--seed", "7", "--round", "1", folder=tmp_path)
    assert again.returncode == 0, again.stdout


def test_the_real_world_needs_its_folder(tmp_path: Path) -> None:
    ended = soak("--world", "real", "--commodore", "true", folder=tmp_path)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "needs its folder: --real FOLDER, or COMMODORE_REAL" in ended.stderr


def test_the_same_seed_makes_the_same_world_and_edits(tmp_path: Path) -> None:
    made = []
    for name in ("one", "other"):
        world = make(tmp_path / name, "4")
        files = {path: look(path_of / path) for path_of in world.sources.values() for path in list_files(path_of)}
        rng = random.Random(4)
        folder = world.sources["component-alpha"]
        edits = [edit(rng, ("work", folder, list_files(folder)), exact=True) for _ in range(600)]
        made.append((files, world.cluster, edits))
    assert made[0] == made[1]
    kinds = {change.kind for changes in made[0][2] for change in changes}
    for expected in ("number changed", "word changed", "removed", "number changed, size and time kept", "mode 600"):
        assert expected in kinds
    for begin in ("line ", "lines ", "copy of ", "shadow of ", "link "):
        assert any(kind.startswith(begin) for kind in kinds)


@pytest.mark.parametrize(
    "after", [State(b"new\n", 0o600), State(b"elsewhere", link=True), None], ids=["file", "link", "nothing"]
)
def test_a_change_can_be_undone_and_written_down(after: State | None, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old\n")
    path.chmod(0o755)
    before = look(path)
    change = Change.from_json(Change("work", "file", before, after, "kind").to_json())
    put(path, change.after)
    assert look(path) == after
    put(path, change.undone().after)
    assert look(path) == before == State(b"old\n", 0o755)


def test_an_edit_may_keep_size_and_time(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"1\n")
    os.utime(path, ns=(1_000, 2_000))
    put(path, State(b"2\n"), keep_time=True)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (b"2\n", 2_000)


@pytest.mark.parametrize(("option", "reported"), [("--watch", "saves of each world"), ("--corrupt", "damaged")])
def test_other_programs_soak_in_other_ways(option: str, reported: str, tmp_path: Path) -> None:
    ended = soak(option, "--help", folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert reported in ended.stdout


def test_what_is_undone_is_a_commit_or_the_branch_goes_back(tmp_path: Path) -> None:
    counted = set()
    for number in range(8):
        folder = tmp_path / str(number)
        for content in (str(number), "between", str(number)):
            write_files(folder, {"file": content})
            commit(folder)
        assert git(folder, "show", "HEAD:file") == str(number)
        counted.add(len(git(folder, "log", "--format=%h").split()))
    assert counted == {1, 3}
