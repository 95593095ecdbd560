"""Rounds: random edits of a world, compiled with every cache and without any, and what was different."""

from __future__ import annotations

import contextlib
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from _api import serve_api

from _soak.changes import Change, State
from _soak.editing import edit, list_files
from _soak.place import Outcome, Place
from _soak.world import World, apply

# Makes the world of a seed in an empty folder.
MakeWorld = Callable[[Path, str], World]

LOCAL = ["--local"]
# Folders of repositories that no run reads.
_UNREAD = frozenset({"tests", "docs", ".github"})
OFFLINE = ["--local", "--no-fetch-dependencies"]


@dataclass(frozen=True, slots=True)
class Round:
    """The steps of a round.

    Attributes:
        options: those of the compared runs.
        changes: what is edited before them.
        during: what is edited while another run reads it, each after so many seconds; that one comes first.
        fresh: whether the reference begins with nothing but the catalog's repository.
    """

    options: tuple[str, ...]
    changes: tuple[Change, ...]
    during: tuple[tuple[float, Change], ...] = ()
    fresh: bool = False

    def to_json(self) -> str:
        return json.dumps(
            {
                "options": self.options,
                "changes": [change.to_json() for change in self.changes],
                "during": [[delay, change.to_json()] for delay, change in self.during],
                "fresh": self.fresh,
            }
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """Two runs that came to different things, in the round of this number."""

    number: int
    differences: tuple[str, ...]
    cached: Outcome
    clean: Outcome


class Session:
    """One world, compiled over and over in two places: with every cache in one, without any in the other."""

    def __init__(self, folder: Path, world: World, command: Sequence[str], api: str) -> None:
        self.world = world
        self._cached, self._clean = (Place(_new(folder / name), world, command, api) for name in ("one", "two"))
        self._took = 1.0
        # Whether both places have results of a run that succeeded, which one that fails leaves alone.
        self.equal = False

    @property
    def work(self) -> Path:
        return self._cached.work

    def play(self, step: Round) -> tuple[Outcome, Outcome]:
        """Edit, compile in both places; gives what came of it, the caches' place first."""
        works = [self._cached.work, self._clean.work]
        apply(self.world, works, step.changes)
        if step.during:
            self._disturb(step)
            apply(self.world, [self._clean.work], [change for _, change in step.during if change.target == "work"])
        if step.fresh:
            self._clean.empty()
        if step.fresh or step.during:  # the disturbed run may have come to something that the next one does not
            self.equal = False
        begun = time.monotonic()
        cached = self._cached.run(step.options)
        self._took = time.monotonic() - begun
        clean = self._clean.run([*step.options, "--no-cache"])
        self.equal = self.equal or clean.code == 0
        return cached, clean

    def _disturb(self, step: Round) -> None:
        running = self._cached.start(step.options)
        begun = time.monotonic()
        for share, change in step.during:
            time.sleep(max(0.0, begun + share * self._took - time.monotonic()))
            apply(self.world, [self._cached.work], [change])
        self._cached.finish(running)


def _new(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


class Author:
    """Makes up the rounds of one world, one after another, from its seed and from what is there."""

    def __init__(self, seed: str, *, disturbing: bool) -> None:
        self._rng = random.Random(f"edits {seed}")
        self._disturbing = disturbing
        # What was changed in repositories, and in the working directories' own copies of them since the last fetch.
        self._done: list[list[Change]] = []
        self._local: list[list[Change]] = []
        self._failed = False
        # Whether `vendor` may be what nobody has installed: local mode then needs a cache of libraries, unless with -F.
        self._vendored = False

    def next(self, world: World, work: Path, *, equal: bool) -> Round:
        """The next round.

        Args:
            world: what may be edited.
            work: a working directory: the other one has the same files.
            equal: whether it has them, because a run has succeeded in both.
        """
        rng = self._rng
        if not (work / "catalog").exists() and not self._done:
            return Round(("--push",), (), fresh=True)
        local = equal and rng.random() < (0.7 if self._local else 0.4)
        changes: list[Change] = []
        if not local:
            # Fetching refuses to touch a copy with changes of its own: they are undone first.
            while self._local:
                changes += _undone(self._local.pop())
        done = self._local if local else self._done
        if done and rng.random() < (0.8 if self._failed else 0.12):
            changes += _undone(done.pop())
        else:
            made = self._edits(world, work, local=local)
            done.append(made)
            changes += made
        # A reference that begins with nothing has nothing to say about what was edited there.
        fresh = not local and not self._failed and rng.random() < 0.15
        if equal and not fresh and rng.random() < 0.25:
            changes += self._results(work)
        self._vendored = local and (self._vendored or any(change.path.startswith("vendor/") for change in changes))
        options = (
            rng.choice([OFFLINE, OFFLINE, OFFLINE if self._vendored else LOCAL])
            if local
            else rng.choice([["--push"], ["--push"], []])
        )
        during: list[tuple[float, Change]] = []
        if self._disturbing and changes:
            at = rng.randrange(len(changes))
            during = sorted(((rng.uniform(0, 1.1), change) for change in changes[at:]), key=lambda pair: pair[0])
            changes = changes[:at]
        return Round(tuple(options), tuple(changes), tuple(during), fresh)

    def saw(self, outcome: Outcome) -> None:
        """The outcome of the last round."""
        self._failed = outcome.code != 0

    def _edits(self, world: World, work: Path, *, local: bool) -> list[Change]:
        made: list[Change] = []
        for _ in range(self._rng.choice([1, 1, 1, 2, 3])):
            made += self._in_work(work) if local else self._in_sources(world)
        return made

    def _in_sources(self, world: World) -> list[Change]:
        if self._rng.random() < 0.06:
            return [self._fact(world)]
        names = sorted(world.sources)
        (name,) = self._rng.choices(names, [world.weights.get(name, 1) for name in names])
        folder = world.sources[name]
        return edit(self._rng, (f"source {name}", folder, self._mostly_read(list_files(folder))))

    def _in_work(self, work: Path) -> list[Change]:
        files = []
        for name in ("dependencies", "inventory", "vendor"):
            files += [f"{name}/{path}" for path in list_files(work / name)]
        return edit(self._rng, ("work", work, self._mostly_read(files)), exact=True)

    def _mostly_read(self, files: list[str]) -> list[str]:
        """Without what real repositories have most of, and no run reads; but not always."""
        if self._rng.random() < 0.05:
            return files
        return [path for path in files if _UNREAD.isdisjoint(path.split("/"))]

    def _results(self, work: Path) -> list[Change]:
        name = self._rng.choice(["compiled", "catalog"])
        files = [f"{name}/{path}" for path in list_files(work / name)]
        return edit(self._rng, ("work", work, files), exact=True)

    def _fact(self, world: World) -> Change:
        cluster = json.loads(json.dumps(world.cluster))
        what = self._rng.choice(["cloud", "region", "minor", "name"])
        if what == "minor":
            cluster["dynamicFacts"]["kubernetesVersion"]["minor"] = str(self._rng.randrange(20, 40))
        elif what == "name":
            cluster["displayName"] = f"Soak {self._rng.randrange(100)}"
        else:
            cluster["facts"][what] = self._rng.choice(world.facts.get(what, ["other"]))
        states = [State(json.dumps(each).encode()) for each in (world.cluster, cluster)]
        return Change("cluster", "", states[0], states[1], f"{what} changed")


def _undone(changes: Sequence[Change]) -> list[Change]:
    return [change.undone() for change in reversed(changes)]


@contextlib.contextmanager
def session(folder: Path, make: MakeWorld, seed: str, command: Sequence[str]) -> Iterator[Session]:
    """A new session with the world of a seed, below an empty folder; its API ends with the block."""
    world = make(folder, seed)
    with serve_api([world.cluster], [world.tenant]) as api:
        yield Session(folder / "places", world, command, api)


def compare(playing: Session, step: Round, cached: Outcome, clean: Outcome) -> list[str]:
    """The differences between the runs of a round."""
    # What a disturbed run has pushed is not pushed again, so the words on that differ.
    return cached.differences(clean, words=not step.during, trees=playing.equal)


def play_rounds(
    playing: Session, author: Author, count: int, record: Path, tell: Callable[[str], None]
) -> Difference | None:
    """Play so many rounds, until two runs come to different things.

    Args:
        playing: the session.
        author: who makes up the rounds.
        count: how many rounds.
        record: a file that gets a line of JSON for each round.
        tell: is given a line for each round.
    """
    for number in range(1, count + 1):
        step = author.next(playing.world, playing.work, equal=playing.equal)
        with record.open("a") as file:
            file.write(step.to_json() + "\n")
        cached, clean = playing.play(step)
        author.saw(clean)
        edits = [*map(str, step.changes), *(f"{change} (during a run)" for _, change in step.during)]
        tell(f"round {number}: {' '.join(step.options) or 'dry'}{' fresh' if step.fresh else ''}: {clean.code}")
        for line in edits:
            tell(f"    {line}")
        if result := compare(playing, step, cached, clean):
            return Difference(number, tuple(result), cached, clean)
    return None
