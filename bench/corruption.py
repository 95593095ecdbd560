"""Damage caches and notes, compile, and see that the result is right or clearly refused.

    scripts/soak --corrupt --rounds 1000

In each round one file of a cache, or of what the working directory notes for the next run, is damaged: a bit flipped,
truncated, swapped with another, replaced by a folder or a link, and so on. Then a small made-up cluster is compiled: in
the same working directory or in a fresh one, with the network or without. It has to give what a run without anything
kept gives. Or it refuses with an error of its own, and gives the right result once the damage is undone.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from _api import serve_api
from _corruption import damage, kept_files
from _soak import made_up
from _soak.place import Outcome, Place
from _tools import BenchError, make_tool

_RUNS = (["--push"], ["--push"], [], [], ["--offline"], ["--local"])
_FRESH = 0.2
_REFUSED = (1, 3, 4)


class Corruption:
    """One made-up cluster, compiled again and again with something damaged."""

    def __init__(self, place: Place, clean: Outcome, seed: str) -> None:
        self._place = place
        self._clean = clean
        self._rng = random.Random(f"damage {seed}")
        self.refused: list[str] = []

    def play(self) -> list[str]:
        """Damage something and compile. Returns what is wrong, one line for each thing."""
        rng, place = self._rng, self._place
        options = rng.choice(_RUNS)
        done = damage(rng, kept_files(place.folder / "home" / ".cache" / "commodore", place.work))
        if rng.random() < _FRESH:
            shutil.rmtree(place.work)
            place.work.mkdir()
            options = ["--push"]
        label = f"{done.what}, {' '.join(options) or 'dry'}"
        outcome = place.run(options)
        if outcome.code == 0:
            return [f"{label}: {line}" for line in self._differences(outcome)]
        if outcome.code not in _REFUSED or "Traceback" in outcome.words or "CMD-" not in outcome.words:
            return [f"{label}: exit code {outcome.code}", *outcome.words.splitlines()[-8:]]
        self.refused.append(f"{label}: {' '.join(outcome.words.split())[:300]}")
        done.undo()
        again = place.run([])
        if again.code in _REFUSED and "CMD-" in again.words:  # by what an earlier round has damaged
            self.refused.append(f"before {label}: {' '.join(again.words.split())[:300]}")
            self.reset()
            again = place.run([])
        if again.code != 0:
            return [f"{label}: still refused when undone", *again.words.splitlines()[-8:]]
        return [f"{label}: undone: {line}" for line in self._differences(again)]

    def reset(self) -> None:
        """Begin anew with sound caches."""
        self._place.empty()
        self._place.run(["--push"])

    def _differences(self, outcome: Outcome) -> list[str]:
        return [line for line in outcome.differences(self._clean, words=False) if not line.startswith("TMPDIR/")]


def corrupt_world(seed: int, rounds: int, command: Sequence[str]) -> tuple[int, list[str]]:
    """Play the rounds of one world, telling what is wrong. Returns how many were wrong, and all refusals."""
    with tempfile.TemporaryDirectory(prefix="corruption-") as name:
        folder = Path(name).resolve()
        world = made_up.make(folder, str(seed))
        with serve_api([world.cluster], [world.tenant]) as api:
            (folder / "one").mkdir()
            (folder / "two").mkdir()
            clean = Place(folder / "two", world, command, api).run(["--push", "--no-cache"])
            if clean.code != 0:
                raise BenchError(f"the world {seed} does not compile:\n{clean.words}")
            place = Place(folder / "one", world, command, api)
            place.run(["--push"])
            playing, wrong = Corruption(place, clean, str(seed)), 0
            for number in range(1, rounds + 1):
                if problems := playing.play():
                    wrong += 1
                    print(f"WRONG: seed {seed}, round {number}:", *problems, sep="\n  ", flush=True)
                    playing.reset()
            return wrong, playing.refused


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commodore", default="commodore", metavar="COMMAND")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the first world; the next has the next")
    parser.add_argument("--rounds", type=int, default=100, metavar="N")
    parser.add_argument("--each", type=int, default=25, metavar="N", help="rounds with one world")
    return parser.parse_args(arguments)


def main(given: Sequence[str] | None = None) -> int:
    arguments = parse(given)
    wrong, done, seed = 0, 0, arguments.seed
    refused: list[str] = []
    try:
        command = make_tool("commodore", arguments.commodore).command
        while done < arguments.rounds:
            count = min(arguments.each, arguments.rounds - done)
            result, said = corrupt_world(seed, count, command)
            wrong, done, seed, refused = wrong + result, done + count, seed + 1, refused + said
            print(f"{done} rounds: {wrong} wrong, {len(refused)} refused", file=sys.stderr, flush=True)
    except BenchError as error:
        print(error, file=sys.stderr)
        return 3
    print(*(f"refused: {item}" for item in refused), sep="\n")
    print(f"{done} rounds: {wrong} wrong, {len(refused)} refused")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
