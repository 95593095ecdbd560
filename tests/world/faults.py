"""A cluster whose every part moves to other commits, and runs of it that are disturbed at a chosen change of the disk.

    world = FaultWorld(tmp_path)
    with world.opened():
        points = world.points("moved")
        trouble = world.try_faults(Fault("kill", points["swap"][3]))
        assert trouble == []

Two situations are kept to begin from: `new`, with an empty working directory and empty caches, and `moved`, in which a
first run has been made and every repository and parameter is another one since. A point is a change of the disk by the
program or one of its children (git, helm, workers), as `Tapped` sees them. What an undisturbed run gives in a situation
is the reference: after a disturbed run another one must give the same.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.world.cluster import ROOT, ClusterWorld
from tests.world.lieutenant import LieutenantServer
from tests.world.moving import first_state, second_state
from tests.world.repos import git
from tests.world.stage_watch import STAGES, StageWatch
from tests.world.syscalls import Call, Tapped

SITUATIONS = ("new", "moved")
KINDS = ("kill", "killall", "SIGTERM", "SIGINT", "exception", "ENOSPC", "EIO")

_FOLDERS = ("work", "home", "tmp", "remotes")
_PATIENCE = 20.0  # seconds until processes that are still there after the program's end are left behind
_END = 300.0  # seconds until a run counts as one that hangs
_SPACE = {"open", "write", "mkdir", "rename", "link", "symlink", "fsync", "ftruncate", "sendfile", "copy_file_range"}
_EXCEPTION = signal.SIGUSR1
_RAISING = f"""\
import signal
def _raise(*_):
    raise RuntimeError("injected")
signal.signal({int(_EXCEPTION)}, _raise)
"""


@dataclass(frozen=True, slots=True)
class Point:
    """A change of the disk: the one with this number, from 0, of those of its stage."""

    situation: str
    stage: str
    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.situation} {self.stage} {self.number + 1}/{self.of}"


@dataclass(frozen=True, slots=True)
class Place:
    """The first change of the disk by such a call in such a place, which is a pattern for paths below the world."""

    situation: str
    call: str
    path: str

    def __str__(self) -> str:
        return f"{self.situation} {self.call} {self.path}"


@dataclass(frozen=True, slots=True)
class Fault:
    """Anything that happens at a point.

    `kill` and `SIGTERM` reach the program alone, `killall` and `SIGINT` all its processes. `ENOSPC` lasts until the
    end of the run, `EIO` is the answer to one call.
    """

    kind: str
    point: Point | Place

    def __str__(self) -> str:
        return f"{self.kind} at {self.point}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The state after a run: trees by path with digests, reports without times, and all other paths."""

    pushed: str
    commits: int
    compiled: Mapping[str, str]
    catalog: Mapping[str, str]
    report: Any
    paths: frozenset[str]


class FaultWorld:
    """One cluster below `root`. Everything a run touches is below it too."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cluster = ClusterWorld(root)
        self.kept = root / "kept"
        self._references: dict[str, Outcome] = {}
        self._server: LieutenantServer | None = None
        self._sandbox = root / "raising"
        self._sandbox.mkdir()
        (self._sandbox / "sitecustomize.py").write_text(_RAISING)
        for name in _FOLDERS:
            (root / name).mkdir(exist_ok=True)

    @contextlib.contextmanager
    def opened(self) -> Iterator[FaultWorld]:
        """With the API there, and both situations made."""
        first_state(self.cluster)
        self.cluster.publish()
        with self.cluster.lieutenant() as self._server:
            self._keep("new")
            done = self.run()
            assert done.returncode == 0, done.stderr
            second_state(self.cluster)
            self.cluster.publish()
            self._keep("moved")
            yield self

    # Runs

    def points(self, situation: str) -> dict[str, list[Point]]:
        """All points of a situation by stage, found by one run that nobody disturbs."""
        self.restore(situation)
        counted: Counter[str] = Counter()
        run = _Disturbed(self, None)
        with self._tapped(run.decide) as tapped:
            _, stderr = tapped.process.communicate()
        assert tapped.process.returncode == 0, stderr
        counted = run.counted
        return {
            stage: [Point(situation, stage, number, counted[stage]) for number in range(counted[stage])]
            for stage in STAGES
        }

    def try_faults(self, *faults: Fault) -> list[str]:
        """The errors of disturbed runs, one after another in one situation, or after the next run; empty, if
        all is well.
        """
        (situation,) = {fault.point.situation for fault in faults}
        reference = self.reference(situation)
        self.restore(situation)
        trouble = []
        for fault in faults:
            happened, words = self._disturb(fault, reference)
            trouble += [f"{fault}: [{happened}] {word}" for word in words]
        done = self.run()
        if done.returncode != 0:
            return [*trouble, f"the next run ended with {done.returncode}: {_errors(done.stderr)}"]
        trouble += self._differences(self.outcome(), reference)
        if warned := sorted(_warnings(done.stderr) - _DESERVED):
            trouble.append(f"the next run warns: {', '.join(warned)}")
        return trouble

    def _disturb(self, fault: Fault, reference: Outcome) -> tuple[str, list[str]]:
        """The place of a fault, and the errors of the run that it has disturbed."""
        run = _Disturbed(self, fault)
        with self._tapped(run.decide) as tapped:
            run.main = tapped.process.pid
            trouble = []
            try:
                _, stderr = tapped.process.communicate(timeout=_END)
            except subprocess.TimeoutExpired:
                trouble.append(f"the disturbed run has not ended after {_END:.0f} s")
                run.end_all()
                _, stderr = tapped.process.communicate()
            code, words = tapped.process.returncode, stderr.decode(errors="replace")
            if not tapped.is_gone(_PATIENCE):
                trouble.append("processes were left behind")
                run.end_all()
        if not run.happened:  # how many changes there are varies a little: the last ones may not come
            return "nowhere", [*trouble, *([f"the run ended with {code} before: {_errors(words)}"] if code else [])]
        trouble += _check_end(fault.kind, code, words)
        if fault.kind in ("ENOSPC", "EIO") and code == 0 and self.pushed() != reference.pushed:
            trouble.append("the disturbed run ended well and pushed something else")
        return run.happened, trouble

    def run(self) -> subprocess.CompletedProcess[str]:
        """An undisturbed run."""
        return subprocess.run(
            [sys.executable, *self._words()],
            cwd=self.root,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def _tapped(self, decide: Any) -> Tapped:
        words = [sys.executable, *self._words()]
        return Tapped(words, decide, directory=self.root, environment=self._environment())

    def _words(self) -> list[str]:
        return ["-m", "commodore", *self.cluster.command("--push", "--processes", "2")]

    def _environment(self) -> dict[str, str]:
        home = self.root / "home"
        tools = ROOT / ".tools"
        return {
            "PATH": os.pathsep.join((str(tools), os.environ.get("PATH", os.defpath))),
            "PYTHONPATH": os.pathsep.join((str(self._sandbox), str(ROOT))),
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "TMPDIR": str(self.root / "tmp"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Tess Ter",
            "GIT_AUTHOR_EMAIL": "tess@example.com",
            "GIT_COMMITTER_NAME": "Tess Ter",
            "GIT_COMMITTER_EMAIL": "tess@example.com",
            "LC_FAULT_MARK": str(self.root),
        }

    # Situations

    def _keep(self, situation: str) -> None:
        for name in _FOLDERS:
            shutil.copytree(self.root / name, self.kept / situation / name, symlinks=True)

    def restore(self, situation: str) -> None:
        """Begin from a situation."""
        for name in _FOLDERS:
            subprocess.run(["rm", "-rf", "--", str(self.root / name)], check=True)
            subprocess.run(["cp", "-a", "--", str(self.kept / situation / name), str(self.root / name)], check=True)
        assert self._server is not None
        self._server.reports.clear()

    # Outcomes

    def reference(self, situation: str) -> Outcome:
        """Everything that runs give in a situation when nobody disturbs them."""
        if situation not in self._references:
            self.restore(situation)
            outcomes = []
            for _ in range(2):  # the second one leaves more, such as notes about clean checkouts
                done = self.run()
                assert done.returncode == 0, done.stderr
                outcomes.append(self.outcome())
            first, second = outcomes
            self._references[situation] = replace(first, paths=first.paths | second.paths)
        return self._references[situation]

    def pushed(self) -> str:
        """The tree of the catalog at its remote."""
        catalog = self.cluster.catalog
        return git(catalog.path, "rev-parse", f"{catalog.branch}^{{tree}}") if catalog.sha(missing="") else ""

    def outcome(self) -> Outcome:
        catalog = self.cluster.catalog
        assert self._server is not None
        reports = [_without_times(body) for _, body in self._server.reports]
        return Outcome(
            self.pushed(),
            int(git(catalog.path, "rev-list", "--count", catalog.branch)) if catalog.sha(missing="") else 0,
            _digests(self.root / "work" / "compiled"),
            _digests(self.root / "work" / "catalog"),
            reports[-1] if reports else None,
            frozenset(self._paths()),
        )

    def _paths(self) -> Iterator[str]:
        """Every file and folder, without what is named by content or counted."""
        for name in ("work", "home", "tmp"):
            for folder, folders, files in os.walk(self.root / name):
                inside = Path(folder).relative_to(self.root)
                yield from (path for item in (*folders, *files) if not _VOLATILE.search(path := f"{inside}/{item}"))

    def _differences(self, outcome: Outcome, expected: Outcome) -> list[str]:
        trouble = []
        if outcome.pushed != expected.pushed:
            trouble.append("another tree was pushed")
        if outcome.commits != expected.commits:
            trouble.append(f"{outcome.commits} commits instead of {expected.commits}")
        for name in ("compiled", "catalog"):
            item, other = getattr(outcome, name), getattr(expected, name)
            if differing := sorted(path for path in {*item, *other} if item.get(path) != other.get(path)):
                trouble.append(f"{name}/ differs: {', '.join(differing[:4])}")
        if outcome.report != expected.report:
            trouble.append(f"the report is {'missing' if outcome.report is None else 'another one'}")
        if left := sorted(outcome.paths - expected.paths):
            trouble.append(f"left behind: {', '.join(left[:4])}{' …' if len(left) > 4 else ''}")
        status = git(self.root / "work" / "catalog", "status", "--porcelain", check=False)
        if status:
            trouble.append(f"catalog/ is not clean: {status}")
        return trouble


_DESERVED = {"CMD-GIT-045"}
"""Warnings that a run after a disturbed one may give: a commit of the catalog that was not pushed is kept."""

_VOLATILE = re.compile(
    r"/objects/(pack/(pack|multi-pack)-|info/|[0-9a-f]{2}(/[0-9a-f]{38})?$)"  # git's objects
    r"|/cache/commodore/results/([^./][^/]*/)*[^./][^/]*$"
    r"|/cache/commodore/repositories/[0-9a-f]{2}(/[0-9a-f]{64}(/[^./][^/]*)?)?$"  # kept or not, as git packs it
    r"|/\.commodore/rendered/[0-9a-f]+\.json$"
    r"|/\.git/refs/commodore/discarded"  # where what may be of somebody is kept
    r"|/worktrees/[^/]*/(logs|ORIG_HEAD$)"
    r"|/commodore-clean$"  # kept only of files that are older than the clock's resolution
    r"|/\.git/(COMMIT_EDITMSG|ORIG_HEAD|FETCH_HEAD|logs/)"
)


class _Disturbed:
    """Counts the changes of a run by stage, and lets the fault happen at its point."""

    def __init__(self, world: FaultWorld, fault: Fault | None) -> None:
        self.counted: Counter[str] = Counter()
        self.happened = ""
        self.main = 0
        self.log: list[tuple[str, Call]] = []
        self._root = str(world.root)
        self._fault = fault
        self._watch = StageWatch(self._root)

    def decide(self, call: Call) -> int:
        stage = self._watch.stage_of(call)
        if stage is None:
            return 0
        fault = self._fault
        if fault is None:
            self.counted[stage] += 1
            self.log.append((stage, call))
            return 0
        if self.happened:
            return errno.ENOSPC if fault.kind == "ENOSPC" and _can_fail("ENOSPC", call, self._root) else 0
        usable = not fault.kind.startswith("E") or _can_fail(fault.kind, call, self._root)
        reached = self._has_reached(fault.point, stage, call)
        self.counted[stage] += 1
        if not reached or not usable:
            return 0
        self.happened = f"{call.name} {call.path.removeprefix(self._root + '/')}"
        return self._strike(fault.kind, call)

    def _has_reached(self, point: Point | Place, stage: str, call: Call) -> bool:
        if isinstance(point, Point):
            return stage == point.stage and self.counted[stage] >= point.number
        path = call.path.removeprefix(self._root + "/")
        return call.name == point.call and re.match(point.path, path) is not None

    def _strike(self, kind: str, call: Call) -> int:
        if kind in ("ENOSPC", "EIO"):
            return int(getattr(errno, kind))
        process = _process(call.pid)
        with contextlib.suppress(ProcessLookupError):
            if kind == "kill":
                os.kill(self.main, signal.SIGKILL)
                return errno.EINTR if process == self.main else 0
            if kind == "killall":
                self.end_all()
                return 0 if _serves(process, self._root) else errno.EINTR
            if kind == "SIGTERM":
                os.kill(self.main, signal.SIGTERM)
            elif kind == "SIGINT":
                os.killpg(self.main, signal.SIGINT)
            else:
                os.kill(process if _is_python(process) else self.main, _EXCEPTION)
        return 0

    def end_all(self) -> None:
        """Kill all processes of the run at once, but for those of the remotes' servers."""
        mark = f"LC_FAULT_MARK={self._root}".encode()
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if mark in (entry / "environ").read_bytes() and not _serves(int(entry.name), self._root):
                        os.kill(int(entry.name), signal.SIGKILL)


def _can_fail(kind: str, call: Call, root: str) -> bool:
    """Return True if the disk could give this error; the remotes' disks never do."""
    if call.name == "connect" or call.path.startswith(f"{root}/remotes/"):
        return False
    return kind == "EIO" or call.name in _SPACE


def _process(thread: int) -> int:
    for line in Path(f"/proc/{thread}/status").read_text().splitlines():
        if line.startswith("Tgid:"):
            return int(line.split()[1])
    raise ProcessLookupError


def _is_python(pid: int) -> bool:
    return "python" in os.readlink(f"/proc/{pid}/exe")


def _serves(pid: int, root: str) -> bool:
    return os.readlink(f"/proc/{pid}/cwd").startswith(f"{root}/remotes/")


def _check_end(kind: str, code: int, words: str) -> list[str]:
    allowed = {
        "kill": {-signal.SIGKILL},
        "killall": {-signal.SIGKILL},
        "SIGTERM": {130},
        "SIGINT": {130},
        "exception": {0, 1, 3, 70},  # 1: within a component's code, whose exceptions are the component's
    }.get(kind, {0, 3})
    trouble = [] if code in allowed else [f"exit code {code}: {_errors(words)}"]
    if "Traceback" in words:
        trouble.append(f"a traceback: {words[-300:]}")
    return trouble


def _errors(stderr: str) -> str:
    errors = []
    for line in stderr.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            errors.append(line)
            continue
        if event.get("event") == "Error":
            errors.append(f"{event['code']} {event['message']}")
    return textwrap.shorten("; ".join(errors), 400)


def _warnings(stderr: str) -> set[str]:
    events = [json.loads(line) for line in stderr.splitlines()]
    return {event["code"] for event in events if event["event"] == "Warned"}


def _without_times(body: Any) -> Any:
    if isinstance(body, dict):
        return {key: _without_times(value) for key, value in body.items() if key != "lastCompile"}
    return body


def _digests(folder: Path) -> dict[str, str]:
    """Files below a folder but for git's own, by path: mode and digest; links by target."""
    digests = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.split("/")[0] == ".git":
            continue
        if path.is_symlink():
            digests[name] = f"link {os.readlink(path)}"
        elif path.is_file():
            digests[name] = f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        else:
            digests[name] = "folder"
    return digests
