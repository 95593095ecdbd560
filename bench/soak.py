"""Look for runs that give something else than a clean run would: random edits, compiled with all caches and without.

    scripts/soak [--world made-up|real] [--seed N] [--worlds N] [--rounds N] [--while-running] [--shrink]

Each world is made from its seed, and edited in rounds: numbers, words and lines of files, files that come, go, shadow
others or become links, modes, edits that keep size and time; in the repositories of the hierarchy, of components and of
what they fetch, in the working directory, in results, and in facts. After each round the cluster is compiled in one
place with every cache and in another with --no-cache, which from time to time begins with nothing. Exit codes, words,
and the trees of compiled/, catalog/ and what was pushed must be the same.

With --while-running, some edits happen while a run reads the files; the runs after it are compared.

A difference is printed with seed, round and edits; its folder stays. `--seed N --round K` plays it again,
and --shrink leaves out what is not needed to see it.

`--watch --rounds N` soaks runs that watch, `--corrupt --rounds N` damages caches and notes; both have options of their
own, which `--watch --help` and `--corrupt --help` tell.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from _soak import made_up, real
from _soak.rounds import Author, Difference, MakeWorld, Round, play_rounds, session
from _soak.shrinking import read_rounds, shrink
from _tools import BenchError, make_tool


def soak_world(arguments: argparse.Namespace, make: MakeWorld, seed: int, command: Sequence[str]) -> Difference | None:
    """Play the rounds of one world; its folder is removed unless a difference was found."""
    folder = Path(tempfile.mkdtemp(prefix=f"soak-{seed}-"))
    log = folder / "rounds.txt"

    def tell(line: str) -> None:
        with log.open("a") as file:
            file.write(line + "\n")
        if arguments.verbose:
            print(line, file=sys.stderr, flush=True)

    with session(folder, make, str(seed), command) as playing:
        author = Author(str(seed), disturbing=arguments.while_running)
        difference = play_rounds(playing, author, arguments.rounds, folder / "rounds.jsonl", tell)
    if difference is None:
        shutil.rmtree(folder)
        return None
    report(difference, seed, folder, log)
    if arguments.shrink:
        rounds = read_rounds(folder / "rounds.jsonl")
        print("\n".join(needed(shrink(make, str(seed), command, rounds, folder / "tries", tell))), flush=True)
    return difference


def needed(rounds: Sequence[Round]) -> list[str]:
    """The rounds that are left after shrinking, for people."""
    lines = ["these rounds are enough:"]
    for step in rounds:
        lines.append(f"  {' '.join(step.options) or 'dry'}{' fresh' if step.fresh else ''}")
        lines += [f"    {change}" for change in [*step.changes, *(change for _, change in step.during)]]
    return lines


def report(difference: Difference, seed: int, folder: Path, log: Path) -> None:
    """Print a difference, and how to see it again."""
    print(f"DIFFERENT: seed {seed}, round {difference.number}; everything is in {folder}")
    print(log.read_text().rpartition("\nround ")[2])
    for line in difference.differences[:20]:
        print(f"  {line}")
    for name, outcome in (("with caches", difference.cached), ("without", difference.clean)):
        (folder / f"words-{name.replace(' ', '-')}.txt").write_text(outcome.words)
        print(f"  {name}, exit code {outcome.code}:")
        print("\n".join(f"    {line}" for line in outcome.words.splitlines()[-12:]), flush=True)


def choose_world(arguments: argparse.Namespace) -> MakeWorld:
    """Return the maker of the requested worlds.

    Raises:
        BenchError: the folder of the real world is not there.
    """
    if arguments.world == "made-up":
        return made_up.make
    folder: Path | None = arguments.real
    if folder is None or not (folder / "world").is_file():
        raise BenchError("the world `real` needs its folder: --real FOLDER, or COMMODORE_REAL")
    return real.maker(folder.resolve())


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commodore", default="commodore", metavar="COMMAND")
    parser.add_argument("--world", choices=["made-up", "real"], default="made-up")
    parser.add_argument("--real", type=Path, default=os.environ.get("COMMODORE_REAL"), metavar="FOLDER")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the first world; the next has the next")
    parser.add_argument("--worlds", type=int, default=10, metavar="N")
    parser.add_argument("--rounds", type=int, default=20, metavar="N", help="in each world")
    parser.add_argument("--round", type=int, metavar="K", help="the first world only, and so many rounds of it")
    parser.add_argument("--shrink", action="store_true", help="look for the rounds that a difference needs")
    parser.add_argument("--while-running", action="store_true", help="edit some files while a run reads them")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every round")
    parsed = parser.parse_args(arguments)
    if parsed.round is not None:
        parsed.worlds, parsed.rounds = 1, parsed.round
    if parsed.worlds < 1 or parsed.rounds < 1:
        parser.error("--worlds, --rounds and --round are at least 1")
    return parsed


# Programs of their own that soak in other ways, by the option that comes first.
OTHERS = {"--watch": "_soak_watch", "--corrupt": "corruption"}


def main(given: Sequence[str]) -> int:
    if given and given[0] in OTHERS:
        code: int = importlib.import_module(OTHERS[given[0]]).main(given[1:])
        return code
    arguments = parse(given)
    different, begun = 0, time.monotonic()
    try:
        make = choose_world(arguments)
        command = make_tool("commodore", arguments.commodore).command
        for seed in range(arguments.seed, arguments.seed + arguments.worlds):
            different += soak_world(arguments, make, seed, command) is not None
            took = time.monotonic() - begun
            print(f"seed {seed}: {different} worlds with differences so far, {took:.0f} s", file=sys.stderr, flush=True)
    except BenchError as error:
        print(error, file=sys.stderr)
        return 3
    print(f"{arguments.worlds} worlds of {arguments.rounds} rounds: {different} with differences")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
