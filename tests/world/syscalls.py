"""Every change of the disk that a program and all its children are about to make, and the chance to let it fail.

    with Tapped([sys.executable, "-m", "commodore", ...], decide=lambda call: errno.ENOSPC if ... else 0) as tapped:
        code = tapped.wait()

The kernel stops each process of the tree at each system call that is of interest (seccomp's user notification) until
`decide` has said what becomes of it. The program does not know of it, and git, helm and Go libraries are seen like
Python. It needs Linux, but no privileges; `why_not()` says why it does not work where it does not.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import platform
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# Of each architecture: its number in the kernel's audit interface, seccomp(2), and the calls by number. `@` are those
# whose paths are relative to a folder that is given as a descriptor before them.
_X86_64 = {
    1: "write", 18: "pwrite64", 20: "writev", 2: "open", 257: "openat", 85: "creat", 82: "rename", 264: "renameat",
    316: "renameat2", 87: "unlink", 263: "unlinkat", 84: "rmdir", 83: "mkdir", 258: "mkdirat", 86: "link",
    265: "linkat", 88: "symlink", 266: "symlinkat", 90: "chmod", 91: "fchmod", 268: "fchmodat", 74: "fsync",
    75: "fdatasync", 77: "ftruncate", 76: "truncate", 280: "utimensat", 40: "sendfile", 326: "copy_file_range",
    42: "connect",
}  # fmt: skip
_AARCH64 = {
    64: "write", 68: "pwrite64", 66: "writev", 56: "openat", 38: "renameat", 276: "renameat2", 35: "unlinkat",
    34: "mkdirat", 37: "linkat", 36: "symlinkat", 52: "fchmod", 53: "fchmodat", 82: "fsync", 83: "fdatasync",
    46: "ftruncate", 45: "truncate", 88: "utimensat", 71: "sendfile", 285: "copy_file_range", 203: "connect",
}  # fmt: skip
_MACHINES = {"x86_64": (0xC000003E, 317, _X86_64), "aarch64": (0xC00000B7, 277, _AARCH64)}

# Where the arguments are: (descriptor of the folder, path), -1 for the current folder; the last one is what is changed.
_PATHS = {
    "open": ((-1, 0),), "creat": ((-1, 0),), "openat": ((0, 1),), "rename": ((-1, 0), (-1, 1)),
    "renameat": ((0, 1), (2, 3)), "renameat2": ((0, 1), (2, 3)), "unlink": ((-1, 0),), "unlinkat": ((0, 1),),
    "rmdir": ((-1, 0),), "mkdir": ((-1, 0),), "mkdirat": ((0, 1),), "link": ((-1, 0), (-1, 1)),
    "linkat": ((0, 1), (2, 3)), "symlink": ((-1, 1),), "symlinkat": ((1, 2),), "chmod": ((-1, 0),),
    "fchmodat": ((0, 1),), "truncate": ((-1, 0),), "utimensat": ((0, 1),),
}  # fmt: skip
_OUTPUT = {"sendfile": 0, "copy_file_range": 2}  # which argument is the descriptor that is written to; else the first
_OPENING = {"open": 1, "openat": 2}  # which argument holds the flags
_CHANGING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

_NO_NEW_PRIVS, _LISTENER, _UNINTERRUPTED = 38, 8, 32
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_NOTICE, _ANSWER = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
_CONTINUE = 1
_ALLOW, _NOTIFY = 0x7FFF0000, 0x7FC00000


@dataclass(frozen=True, slots=True)
class Call:
    """A system call that is about to be made.

    Attributes:
        pid: of the thread that makes it.
        name: as in the manual, without regard to variants: `rename` is `renameat`, too.
        path: what it changes, absolute; for descriptors of no file something like `pipe:[1]`.
        data: the beginning of what is written.
    """

    pid: int
    name: str
    path: str
    data: bytes = b""


Decide = Callable[[Call], int]
"""Is asked about each call, one after another: 0 to let it be made, or the error that it gives instead. If the process
is killed here, an error keeps the call from being made nevertheless."""


class Tapped:
    """A program that runs with all its changes of the disk decided upon. Leave it as a context manager."""

    def __init__(
        self,
        command: Sequence[str],
        decide: Decide,
        *,
        directory: Path,
        environment: Mapping[str, str],
        output: int = subprocess.PIPE,
    ) -> None:
        self._decide = decide
        self._machine = _MACHINES[platform.machine()]
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-S", "-E", __file__, str(theirs.fileno()), *command],
                cwd=directory,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
            theirs.close()
            _, received, _, _ = socket.recv_fds(ours, 1, 1)
        if not received:
            raise OSError(f"calls cannot be tapped: exit code {self.process.wait()}")
        self._listener = received[0]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def __enter__(self) -> Tapped:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.wait()
        self._thread.join()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        os.close(self._listener)

    def is_gone(self, patience: float) -> bool:
        """Return True if all processes of the tree end within so many seconds."""
        self._thread.join(patience)
        return not self._thread.is_alive()

    def _serve(self) -> None:
        """Answer until no process is left that could ask."""
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        while True:
            ((_, happened),) = poll.poll()
            if not happened & select.POLLIN:
                return
            notice = bytearray(_NOTICE.size)
            try:
                fcntl.ioctl(self._listener, _RECEIVE, notice)
            except OSError:  # killed meanwhile
                continue
            number, pid, _, call, _, _, *arguments = _NOTICE.unpack(notice)
            failure = 0
            with contextlib.suppress(OSError):  # gone, with its memory
                failure = self._decide(self._read(pid, self._machine[2][call], arguments))
            answer = _ANSWER.pack(number, 0, -failure, 0 if failure else _CONTINUE)
            with contextlib.suppress(OSError):  # killed meanwhile
                fcntl.ioctl(self._listener, _SEND, bytearray(answer))

    def _read(self, pid: int, name: str, arguments: Sequence[int]) -> Call:
        """Everything that a call is about."""
        plain = _plain(name)
        if name in _PATHS:
            at, place = _PATHS[name][-1]
            path = _memory(pid, arguments[place], 4096, text=True) if arguments[place] else b""
            folder = arguments[at] & 0xFFFFFFFF if at >= 0 else 0xFFFFFF9C
            entry = "cwd" if folder == 0xFFFFFF9C else f"fd/{folder}"
            if path.startswith(b"/"):
                whole = os.fsdecode(path)
            else:
                whole = os.path.join(os.readlink(f"/proc/{pid}/{entry}"), os.fsdecode(path))
            return Call(pid, plain, os.path.normpath(whole))
        if name == "connect":
            return Call(pid, plain, _address(_memory(pid, arguments[1], min(arguments[2], 128))))
        target = os.readlink(f"/proc/{pid}/fd/{arguments[_OUTPUT.get(name, 0)]}")
        data = _memory(pid, arguments[1], min(arguments[2], 4096)) if name == "write" else b""
        return Call(pid, plain, target, data)


def _plain(name: str) -> str:
    for variant, plain in (("64", ""), ("at2", ""), ("at", ""), ("pwrite", "write"), ("writev", "write")):
        if name.endswith(variant) and name != "creat":
            name = name.removesuffix(variant) + plain
    return {"pwrite": "write", "creat": "open", "fdatasync": "fsync", "fchmod": "chmod"}.get(name, name)


def _address(raw: bytes) -> str:
    family = int.from_bytes(raw[:2], sys.byteorder)
    if family == socket.AF_INET:
        return f"tcp:{socket.inet_ntoa(raw[4:8])}:{int.from_bytes(raw[2:4], 'big')}"
    return f"socket family {family}"


def _memory(pid: int, address: int, size: int, *, text: bool = False) -> bytes:
    """Some bytes of a process; with `text` those before the first 0."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        if not text:
            return os.pread(memory.fileno(), size, address)
        result = b""
        while len(result) < size:  # a page that is not there may follow
            part = os.pread(memory.fileno(), 256 - address % 256, address)
            if not part:  # killed meanwhile
                raise ProcessLookupError(pid)
            result += part
            address += len(part)
            if b"\0" in result:
                break
        return result.partition(b"\0")[0]


def why_not() -> str:
    """The reason why calls cannot be traced here; empty if they can."""
    if sys.platform != "linux" or platform.machine() not in _MACHINES:
        return f"no tap for {sys.platform} on {platform.machine()}"
    try:
        with Tapped(["true"], lambda _: 0, directory=Path("/"), environment=os.environ) as tapped:
            return "" if tapped.process.wait() == 0 else "programs cannot be tapped"
    except OSError as error:
        return str(error)


def _filter(machine: str) -> bytes:
    """A program for the kernel: notify about the calls that change something, allow all others."""
    architecture, _, calls = _MACHINES[machine]
    load, equal, any_of, leave = 0x20, 0x15, 0x45, 0x06

    def step(code: int, constant: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("=HBBI", code, yes, no, constant)

    notify = step(leave, _NOTIFY)
    program = [step(load, 4), step(equal, architecture, 1, 0), step(leave, _ALLOW), step(load, 0)]
    for number, name in calls.items():
        if name in _OPENING:
            flags = step(load, 16 + 8 * _OPENING[name])
            program += [step(equal, number, 0, 4), flags, step(any_of, _CHANGING, 0, 1), notify, step(leave, _ALLOW)]
        else:
            program += [step(equal, number, 0, 1), notify]
    return b"".join([*program, step(leave, _ALLOW)])


def _begin(descriptor: int, command: Sequence[str]) -> None:
    """Become the program `command`, tapped by whoever listens at the other end of the socket."""
    seccomp, program = _MACHINES[platform.machine()][1], _filter(platform.machine())
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(program)
    header = struct.pack("=HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    listener = -1
    for flags in (_LISTENER | _UNINTERRUPTED, _LISTENER):  # Linux before 5.19 knows the second one only
        if listener < 0:
            listener = libc.syscall(seccomp, 1, flags, ctypes.c_char_p(header))
    if listener < 0:
        sys.exit(ctypes.get_errno())
    with socket.socket(fileno=descriptor) as ours:
        socket.send_fds(ours, [b"."], [listener])
    os.close(listener)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell lets jobs in the background ignore it
    os.execvp(command[0], command)


if __name__ == "__main__":
    _begin(int(sys.argv[1]), sys.argv[2:])
