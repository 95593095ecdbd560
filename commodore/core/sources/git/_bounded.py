"""Limits for git commands that talk to a remote, which may send endless data, or hardly any."""

from __future__ import annotations

import math
import os
import re
import resource
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from commodore.base.cancellation import descendants
from commodore.base.errors import CommodoreError, EnvironmentFault, PolicyError
from commodore.base.limits import Limits
from commodore.base.programs import running
from commodore.base.programs.child_processes import has_less_memory

_FETCHING = frozenset({"clone", "fetch", "ls-remote", "submodule"})
"""Commands that fetch from a remote. A push is not limited: it waits for the server's hooks."""
_TOO_LARGE = re.compile(r"died of signal 25\b|: File too large$", re.MULTILINE)
_NO_MEMORY = re.compile(
    r"^(fatal|error): (.*: )?Out of memory\b|unable to (mmap|allocate)", re.MULTILINE | re.IGNORECASE
)
_SIGXFSZ = -25
_SHELL = "/bin/sh"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of one command.

    Attributes:
        subject: the command's name in errors.
        name: the git subcommand.
    """

    limits: Limits
    subject: str
    name: str

    @classmethod
    def of(cls, arguments: Sequence[str], subject: str, limits: Limits) -> Bounds:
        """Return the limits of a command with these arguments."""
        return cls(limits, subject, next((word for word in arguments if not word.startswith("-")), ""))

    @property
    def is_fetching(self) -> bool:
        """Check if the command fetches from a remote."""
        return self.name in _FETCHING

    @property
    def time_limit(self) -> str:
        """The name of the setting that limits the command's time."""
        return "git_question_seconds" if self.name == "ls-remote" else "git_timeout"

    @property
    def seconds(self) -> float:
        """The time limit in seconds."""
        return float(getattr(self.limits, self.time_limit))

    def settings(self) -> list[tuple[str, str]]:
        """Git settings that end HTTP transfers that are too slow."""
        return slow_settings(self.limits) if self.is_fetching else []

    def command(self, words: Sequence[str], path: str | None) -> list[str]:
        """Return the command that runs git with these words, its memory and files limited.

        A shell sets the limits before git starts, because git starts other programs at once, which inherit them.

        Args:
            path: the search path of programs.
        """
        plain = ["git", *words]
        bounds = [f"ulimit -S -{letter} {size};" for letter, size in self._sizes()]
        if not bounds or shutil.which("git", path=path) is None:  # the caller reports that git is missing
            return plain
        return [_SHELL, "-c", " ".join([*bounds, 'exec git "$@"']), *plain]

    def _sizes(self) -> Iterator[tuple[str, int]]:
        """Yield the letters and numbers for `ulimit`; stricter limits of the user stay as they are."""
        sizes = (
            ("d", resource.RLIMIT_DATA, self.limits.git_memory_bytes, 1024),
            ("f", resource.RLIMIT_FSIZE, self.limits.git_file_bytes, 512),
        )
        for letter, which, size, unit in sizes:
            soft, _ = resource.getrlimit(which)
            if self.is_fetching and (soft == resource.RLIM_INFINITY or soft > size):
                yield letter, max(1, size // unit)

    def check(self, returncode: int, stderr: str) -> None:
        """Raise the error of a failed command if it has hit a limit.

        Raises:
            EnvironmentFault: CMD-GIT-007, git has ended a transfer that was too slow.
            PolicyError: CMD-GIT-006, it has hit another limit.
        """
        if not self.is_fetching:
            return
        if "Operation too slow" in stderr:
            raise self._slow()
        if returncode == _SIGXFSZ or _TOO_LARGE.search(stderr):
            soft, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
            if soft == resource.RLIM_INFINITY or soft >= self.limits.git_file_bytes:
                raise self._too_much("git_file_bytes", "writes a file of")
        if _NO_MEMORY.search(stderr) and not has_less_memory(self.limits.git_memory_bytes):
            raise self._too_much("git_memory_bytes", "takes")

    def of_process(self) -> running.Bounds:
        """Return the limits of the process; memory and files are limited by `command`."""
        if not self.is_fetching:
            return running.Bounds(self.seconds)
        limits = self.limits
        return running.Bounds(self.seconds, limits.git_output_bytes, limits.git_messages_bytes, cuts_said=False)

    def progress_check(self) -> Callable[[int], None] | None:
        """Return a check that raises CMD-GIT-007 for a process that makes too little progress; see `running.run`."""
        if not self.is_fetching:
            return None
        progress = _Progress(self.limits)

        def check(pid: int) -> None:
            if progress.is_slow(pid):
                raise self._slow()

        return check

    def hit(self, bound: str) -> CommodoreError:
        """Return the error for a process that has hit a limit."""
        if bound != "seconds":
            return self._too_much("git_output_bytes" if bound == "output" else "git_messages_bytes", "writes")
        return EnvironmentFault(
            "CMD-GIT-003",
            f"{self.subject} did not end within {self.seconds:g} seconds",
            hint="check the network and the server, and run again; if it takes so long, "
            f"raise {self.time_limit} with COMMODORE_LIMITS",
        )

    def _too_much(self, name: str, verb: str) -> CommodoreError:
        return PolicyError(
            "CMD-GIT-006",
            f"{self.subject} {verb} more than {getattr(self.limits, name)} bytes",
            hint=f"check what its server sends; if the size is expected, raise {name} with COMMODORE_LIMITS",
        )

    def _slow(self) -> CommodoreError:
        return EnvironmentFault(
            "CMD-GIT-007",
            f"{self.subject} got less than {self.limits.git_slow_bytes} bytes a second for "
            f"{self.limits.git_slow_seconds:g} seconds",
            hint="check the network and the server; if it is that slow, raise git_slow_seconds with COMMODORE_LIMITS",
        )


def slow_settings(limits: Limits) -> list[tuple[str, str]]:
    """Return git's settings for HTTP transfers that are too slow."""
    seconds = str(max(1, math.ceil(limits.git_slow_seconds)))
    return [("http.lowSpeedLimit", str(limits.git_slow_bytes)), ("http.lowSpeedTime", seconds)]


class _Progress:
    """Progress of a command and its descendants: bytes read and written, and processor time.

    HTTP transfers are watched by git itself, which sees the transfer alone; ssh may wait for its user.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._since = time.monotonic()
        self._before: int | None = 0

    def is_slow(self, pid: int) -> bool:
        """Check if there was too little progress for too long."""
        now = time.monotonic()
        if now - self._since < self._limits.git_slow_seconds:
            return False
        seconds, self._since = now - self._since, now
        before, self._before = self._before, self._work(pid)
        if before is None or self._before is None:
            return False
        return self._before - before < self._limits.git_slow_bytes * seconds

    def _work(self, pid: int) -> int | None:
        """Return the bytes read and written so far, plus a byte per 10 microseconds of CPU time; None if unknown."""
        work = 0
        for number in (pid, *descendants(pid)):
            process = Path(f"/proc/{number}")
            try:
                if (process / "comm").read_text().startswith(("ssh", "git-remote-")):
                    return None
                counts = dict(line.split(": ") for line in (process / "io").read_text().splitlines())
                times = (process / "stat").read_text().rpartition(")")[2].split()
            except (OSError, ValueError):  # it has just ended, or the system does not report it
                return None
            work += int(counts["rchar"]) + int(counts["wchar"])
            work += (int(times[11]) + int(times[12])) * 100_000 // os.sysconf("SC_CLK_TCK")
        return work
