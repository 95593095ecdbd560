"""Run a command and record what it took: time, CPU time and memory of all its processes (Linux only).

    python bench/_measure.py --to FILE [--path-prefix FOLDER] [--empty-folder-at N] -- COMMAND [ARGUMENT]...

Put in front of a command (`measuring`), it appends a line of JSON to FILE (`read_costs`) and exits as the command does.

CPU time is right also for processes whose parent ends first or never waits for them, such as workers of a pool: while
it measures, this process adopts every orphan below it (PR_SET_CHILD_SUBREAPER) and waits for all, and what the kernel
has added up for waited-for children is the whole tree. Nothing of this process itself is counted.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

PR_SET_CHILD_SUBREAPER = 36
_KCMP = {"x86_64": 312, "aarch64": 272}.get(platform.machine())  # number of the system call
_KCMP_VM = 1
SAMPLING_SECONDS = 0.1
LINGERING_SECONDS = 60.0  # what still runs so long after the command has ended is killed


@dataclass(frozen=True, slots=True)
class Cost:
    """Time and memory of a command.

    `wall`: seconds from its start to its end. `cpu`: user and system seconds of the whole process tree. `pss`, `rss`:
    the highest sums over the tree in bytes, seen in samples; pss counts memory that processes share once, rss once for
    each; a child that is still in its parent's memory, as between vfork and exec, does not count. `lingering`: seconds
    for which processes outlived the command. `load`: the machine's load when it started.
    """

    code: int
    wall: float
    cpu: float
    pss: int
    rss: int
    lingering: float
    load: float


def measuring(
    command: Sequence[str], record: Path, *, path_prefix: Path | None = None, empty_folder_at: int = 0
) -> list[str]:
    """The command line that runs `command` and appends its cost to `record`.

    Args:
        command: the command; more arguments may be appended to the result.
        record: the file; it need not exist.
        path_prefix: a folder to put in front of PATH.
        empty_folder_at: with the Nth command that is recorded in this file, empty the current folder first. It must
            are in the folder of the file.
    """
    options = ["--to", str(record)]
    if path_prefix is not None:
        options += ["--path-prefix", str(path_prefix.absolute())]
    if empty_folder_at:
        options += ["--empty-folder-at", str(empty_folder_at)]
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve()), *options, "--", *command]


def read_costs(record: Path) -> list[Cost]:
    """The costs in `record`, in the order of the runs."""
    if not record.exists():
        return []
    return [Cost(**json.loads(line)) for line in record.read_text().splitlines()]


def observe(command: Sequence[str]) -> Cost:
    """Run a command to its end. This process must have no other children.

    Raises:
        OSError: the command cannot be started, or this system cannot adopt orphans.
    """
    _adopt_orphans()
    load = os.getloadavg()[0]
    with _MemorySampler() as memory:
        before = children_seconds()
        start = time.perf_counter()
        code = subprocess.Popen(command).wait()
        wall = time.perf_counter() - start
        _wait_for_rest()
        lingering = time.perf_counter() - start - wall
        cpu = children_seconds() - before
    return Cost(code, round(wall, 4), round(cpu, 4), memory.pss, memory.rss, round(lingering, 3), round(load, 2))


def _adopt_orphans() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this system cannot adopt orphaned processes")


def children_seconds() -> float:
    """The CPU seconds of the processes that were waited for, without the children of a killed process."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _wait_for_rest() -> None:
    deadline = time.monotonic() + LINGERING_SECONDS
    while True:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if ended:
            continue
        if time.monotonic() > deadline:
            for process in descendants(os.getpid()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        time.sleep(0.005)


def descendants(ancestor: int) -> list[int]:
    """The ids of all processes below this one."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                children.setdefault(_parent(int(name)), []).append(int(name))
    results = list(children.get(ancestor, []))
    for process in results:  # grows while it is walked
        results += children.get(process, [])
    return results


class _MemorySampler:
    """Looks at the memory of everything below this process until the end of the block."""

    def __init__(self) -> None:
        self.pss = self.rss = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> _MemorySampler:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLING_SECONDS):
            sizes = [_memory(process) for process in descendants(os.getpid()) if not _is_in_its_parent(process)]
            self.pss = max(self.pss, sum(pss for pss, _ in sizes))
            self.rss = max(self.rss, sum(rss for _, rss in sizes))


def _parent(process: int) -> int:
    """The id of a process's parent; the name of the program, in parentheses, may hold anything.

    Raises:
        OSError: it has ended.
    """
    with open(f"/proc/{process}/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[1])


def _is_in_its_parent(process: int) -> bool:
    """Return True if a process uses the memory of its parent. Each of the two seems to have all of it."""
    if _KCMP is None:
        return False
    with contextlib.suppress(OSError):
        return bool(ctypes.CDLL(None).syscall(_KCMP, process, _parent(process), _KCMP_VM, 0, 0) == 0)
    return False


def _memory(process: int) -> tuple[int, int]:
    """Proportional and resident bytes of a process; nothing for one that has ended."""
    results = {b"Pss:": 0, b"Rss:": 0}
    with contextlib.suppress(OSError), open(f"/proc/{process}/smaps_rollup", "rb") as file:
        for line in file:
            key, _, rest = line.partition(b" ")
            if key in results:
                results[key] = int(rest.split()[0]) * 1024
    return results[b"Pss:"], results[b"Rss:"]


def _empty(folder: Path, neighbour: Path) -> None:
    if neighbour.resolve().parent not in folder.resolve().parents:
        raise SystemExit(f"{folder} is not next to {neighbour}: not emptied")
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--path-prefix")
    parser.add_argument("--empty-folder-at", type=int, default=0)
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    if arguments.path_prefix:
        os.environ["PATH"] = os.pathsep.join((arguments.path_prefix, os.environ.get("PATH", os.defpath)))
    if arguments.empty_folder_at == len(read_costs(arguments.to)) + 1:
        _empty(Path.cwd(), arguments.to)
    cost = observe(arguments.command)
    with arguments.to.open("a") as file:
        file.write(json.dumps(asdict(cost)) + "\n")
    return cost.code if cost.code >= 0 else 128 - cost.code


if __name__ == "__main__":
    sys.exit(main())
