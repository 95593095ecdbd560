"""Disturb runs of `catalog compile` at many points of every stage, and look at what the next run makes of it.

    scripts/faults [--points N] [--stages LIST] [--kinds LIST] [--situations LIST] [--only FAULT] [--json FILE]

A made-up cluster (components, aliases, a package, a chart, filters, a secret reference, a Jsonnet library and a git
dependency) is compiled and pushed once; then everything has moved to other commits. Runs that begin in an empty
working directory (`new`) and in the old one (`moved`) are disturbed at N points of each stage, spread evenly over the
changes of the disk that the program, git, helm and the workers make in it:

  kill       SIGKILL to the program
  killall    SIGKILL to all of its processes, as when a container ends
  SIGTERM    to the program
  SIGINT     to all of its processes, as Ctrl-C in a terminal
  exception  a RuntimeError in the process that makes the change, or else in the program
  ENOSPC     the disk is full from there on until the run ends
  EIO        that one change fails

It is a failure if the run ends otherwise than documented, or if the next run, which nobody disturbs, is refused, gives
another catalog, `compiled/` or report than one that was never disturbed, or leaves something behind. Linux only.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.world.faults import KINDS, SITUATIONS, Fault, FaultWorld, Point
from tests.world.stage_watch import STAGES
from tests.world.syscalls import why_not


def spread(points: Sequence[Point], count: int, shift: float) -> list[Point]:
    """So many of the points, evenly spread; `shift`, between 0 and 1, is where in its part of them each is."""
    places = {int((number + shift) * len(points) / count) for number in range(count)}
    return [points[place] for place in sorted(places) if place < len(points)]


def choose(world: FaultWorld, arguments: argparse.Namespace) -> list[Fault]:
    """The faults that were asked for, mixed, so that the first ones tell about all stages. Each kind has own points."""
    chosen = []
    for situation in arguments.situations:
        points = world.points(situation)
        print(f"{situation}: {', '.join(f'{stage} {len(points[stage])}' for stage in STAGES)}", flush=True)
        for stage, kind in itertools.product(arguments.stages, arguments.kinds):
            shift = KINDS.index(kind) / len(KINDS)
            chosen += [Fault(kind, point) for point in spread(points[stage], arguments.points, shift)]
    random.Random(arguments.seed).shuffle(chosen)
    return chosen


def report(results: Iterable[tuple[Fault, list[str]]]) -> str:
    """A table of how many points were tried by stage and kind, and how many failed."""
    tried, failed = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for fault, trouble in results:
        tried[fault.point.stage, fault.kind] += 1
        failed[fault.point.stage, fault.kind] += bool(trouble)
    kinds = [kind for kind in KINDS if any(kind == value for _, value in tried)]
    lines = [f"| stage | {' | '.join(kinds)} |", f"|---|{'---|' * len(kinds)}"]
    for stage in STAGES:
        if any(stage == value for value, _ in tried):
            cells = [f"{tried[stage, kind]}, {failed[stage, kind]} failed" for kind in kinds]
            lines.append(f"| {stage} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"{sum(tried.values())} faults, {sum(failed.values())} failed"])


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=20, metavar="N", help="points of each stage and situation")
    for name, known in (("situations", SITUATIONS), ("stages", STAGES), ("kinds", KINDS)):
        parser.add_argument(f"--{name}", default=",".join(known), metavar="LIST", help=f"of {', '.join(known)}")
    parser.add_argument("--only", metavar="FAULT", help="one fault, as failures are printed: 'kill at moved swap 3/97'")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="another order")
    parser.add_argument("--json", type=Path, metavar="FILE", help="add a line for every fault to this file")
    parsed = parser.parse_args(arguments)
    for name, known in (("situations", SITUATIONS), ("stages", STAGES), ("kinds", KINDS)):
        chosen = getattr(parsed, name).split(",")
        setattr(parsed, name, chosen)
        if unknown := [item for item in chosen if item not in known]:
            parser.error(f"unknown {name}: {', '.join(unknown)}")
    if parsed.only:
        try:
            parsed.only = read_fault(parsed.only)
        except ValueError:
            parser.error(f"unknown fault: {parsed.only}")
    return parsed


def read_fault(text: str) -> Fault:
    """A fault as it is printed.

    Raises:
        ValueError: it is not a fault.
    """
    kind, at, situation, stage, place = text.split()
    number, _, of = place.partition("/")
    if at != "at" or kind not in KINDS or situation not in SITUATIONS or stage not in STAGES:
        raise ValueError(text)
    return Fault(kind, Point(situation, stage, int(number) - 1, int(of)))


def main() -> int:
    arguments = parse()
    if reason := why_not():
        print(f"faults cannot be made here: {reason}", file=sys.stderr)
        return 1
    results = []
    with tempfile.TemporaryDirectory(prefix="faults-") as scratch, FaultWorld(Path(scratch)).opened() as world:
        for fault in [arguments.only] if arguments.only else choose(world, arguments):
            start = time.monotonic()
            trouble = world.try_faults(fault)
            results.append((fault, trouble))
            for item in trouble:
                print(item if item.startswith(str(fault)) else f"{fault}: {item}", flush=True)
            if arguments.json:
                seconds = round(time.monotonic() - start, 2)
                with arguments.json.open("a") as file:
                    file.write(json.dumps({"fault": str(fault), "trouble": trouble, "seconds": seconds}) + "\n")
    print(report(results))
    return 1 if any(trouble for _, trouble in results) else 0


if __name__ == "__main__":
    sys.exit(main())
