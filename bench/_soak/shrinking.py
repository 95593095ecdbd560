"""Finding the few rounds of many that are needed to see a difference again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from _soak.changes import Change
from _soak.rounds import MakeWorld, Round, compare, session

_TRIES = 16


def read_rounds(record: Path) -> list[Round]:
    """The rounds that were written down, in their order."""
    rounds = []
    for line in record.read_text().splitlines():
        value = json.loads(line)
        rounds.append(
            Round(
                tuple(value["options"]),
                tuple(map(Change.from_json, value["changes"])),
                tuple((delay, Change.from_json(change)) for delay, change in value["during"]),
                value["fresh"],
            )
        )
    return rounds


def shrink(
    make: MakeWorld,
    seed: str,
    command: Sequence[str],
    rounds: Sequence[Round],
    folder: Path,
    tell: Callable[[str], None],
) -> list[Round]:
    """Leave out what is not needed to see a difference in the last of these rounds.

    Each try makes the world anew and plays what is left; after sixteen of them, what is left then is the answer.

    Args:
        make: makes the world.
        seed: its seed.
        command: the tool.
        rounds: the rounds, the last of which shows a difference.
        folder: a folder that does not exist, for the tries.
        tell: is given a line for each try.
    """
    *left, last = rounds
    size, tries = len(left), 0
    while size and tries < _TRIES:
        at = 0
        while at < len(left) and tries < _TRIES:
            tried = left[:at] + left[at + size :]
            tries += 1
            differs = _differs(make, seed, command, [*tried, last], folder)
            tell(f"without {len(left) - len(tried)} of {len(left)} rounds: {'different' if differs else 'equal'}")
            if differs:
                left = tried
            else:
                at += size
        size //= 2
    return [*left, last]


def _differs(make: MakeWorld, seed: str, command: Sequence[str], rounds: Sequence[Round], folder: Path) -> bool:
    folder.mkdir()
    try:
        with session(folder, make, seed, command) as playing:
            for step in rounds:
                outcomes = playing.play(step)
            return bool(compare(playing, step, *outcomes))
    finally:
        shutil.rmtree(folder)
