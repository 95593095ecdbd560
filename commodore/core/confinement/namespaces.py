"""Namespaces of Linux for code that components bring: no network, no other processes, and no files but its own.

Also a program: it enters namespaces and executes the command that it is given. It imports nothing of this package, so
that it starts fast.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

_NEW = 0x3C020000  # CLONE_NEW*: namespaces of mounts, host names, IPC, users and processes
_NEW_NETWORK = 0x40000000
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 0x40000
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_EXECUTION = 1, 2, 4, 8
_DETACH = 2
_SETTING, _OF_ALL_BELOW = 442, 0x8000  # mount_setattr(2) has this number on all architectures
_CAPABILITIES = 64
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_MEMORY = "mode=755,size=1g"  # of /tmp
_EXIT = 125


@dataclass(frozen=True, slots=True)
class View:
    """The visible part of the file system. Absolute paths; missing ones are left out.

    Args:
        read: readable files and folders.
        write: writable files and folders; they are readable, too.
        hidden: folders that appear empty, except for the visible paths below them.
        home: an empty writable folder, which is deleted in the end.
        network: the network is reachable.
    """

    read: tuple[str, ...]
    write: tuple[str, ...]
    hidden: tuple[str, ...]
    home: str = ""
    network: bool = False

    def places(self) -> list[str]:
        """Return all paths, each after its parents."""
        return sorted({*self.read, *self.write, *self.hidden}, key=lambda place: (place.count("/"), place))


def enter(view: View) -> None:
    """Enter new namespaces. Returns in a new process; this one waits for it and exits with its status.

    The process must have one thread. Its working directory stays the same if it is visible.

    Raises:
        OSError: this machine does not allow it.
    """
    folder, uid, gid = os.getcwd(), os.geteuid(), os.getegid()
    libc = _Libc()
    libc.call("unshare", _NEW if view.network else _NEW | _NEW_NETWORK)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    if (child := os.fork()) != 0:
        _end_as(child)
    libc.call("prctl", 1, signal.SIGKILL, 0, 0, 0)  # it ends together with the process that waits for it
    os.setsid()
    if not view.network:
        _start_loopback()
    _Root(libc).show(view)
    os.chdir(folder if os.path.isdir(folder) else "/")
    libc.give_up_rights()


def _end_as(child: int) -> NoReturn:
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


class _Libc:
    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)

    def call(self, name: str, *arguments: Any) -> None:
        self._checked(name, getattr(self._library, name)(*arguments))

    def mount(self, source: str, place: str, kind: str = "", flags: int = 0, options: str = "") -> None:
        words = [os.fsencode(word) if word else None for word in (source, place, kind)]
        self._checked(f"mount {place}", self._library.mount(*words, ctypes.c_ulong(flags), options.encode() or None))

    def forbid_writing(self, place: str) -> None:
        attributes = struct.pack("QQQQ", _READ_ONLY | _NO_SUID, 0, 0, 0)
        path = os.fsencode(place)
        done = self._library.syscall(_SETTING, -100, path, _OF_ALL_BELOW, attributes, len(attributes))
        self._checked(f"mount {place}", done)

    def pivot(self) -> None:
        """Make the working directory the root, and detach the old root."""
        self._checked("pivot_root", self._library.syscall(_PIVOT_ROOT[os.uname().machine], b".", b"."))
        self.call("umount2", b".", _DETACH)

    def give_up_rights(self) -> None:
        for number in range(_CAPABILITIES):
            self._library.prctl(24, number, 0, 0, 0)  # also rights that root would regain with execve
        self.call("prctl", 38, 1, 0, 0, 0)
        self.call("capset", struct.pack("Ii", 0x20080522, 0), bytes(24))

    @staticmethod
    def _checked(what: str, answer: int) -> None:
        if answer != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{what}: {os.strerror(number)}")


_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41, "ppc64le": 203, "s390x": 217}


class _Root:
    """A new root folder in memory. The old root lies in `/old` until the new one, `/new`, is complete."""

    def __init__(self, libc: _Libc) -> None:
        self._libc = libc

    def show(self, view: View) -> None:
        self._libc.mount("", "/", flags=_RECURSIVE | _PRIVATE)
        links = {name: os.readlink(f"/{name}") for name in os.listdir("/") if os.path.islink(f"/{name}")}
        real = {place: os.path.realpath(place) for place in view.places() if os.path.exists(place)}
        self._begin()
        for name, target in links.items():
            os.symlink(target, f"/new/{name}")
        for place, source in real.items():
            if place in view.hidden:
                self._hide(source)
            else:
                self._bind(source, writable=place in view.write)
        for place, source in real.items():
            self._link(place, source)
        self._add_system()
        for folder in filter(None, ("/tmp", view.home)):  # noqa: S108 - in memory, and of this process alone
            self._add_empty(f"/new{folder}")
        os.chdir("/new")
        self._libc.pivot()

    def _begin(self) -> None:
        place = "/tmp"  # noqa: S108 - any folder will do
        self._libc.mount("tmpfs", place, "tmpfs", _NO_SUID | _NO_DEVICES, _MEMORY)
        os.mkdir(f"{place}/old")
        os.chdir(place)
        number = _PIVOT_ROOT[os.uname().machine]
        self._libc.call("syscall", number, b".", b"old")
        os.mkdir("/new")
        os.chdir("/")
        self._libc.mount("tmpfs", "/new", "tmpfs", _NO_SUID | _NO_DEVICES, _MEMORY)

    def _bind(self, place: str, *, writable: bool) -> None:
        source, place = f"/old{place}", f"/new{place}"
        if not os.path.lexists(place):
            os.makedirs(place if os.path.isdir(source) else os.path.dirname(place), exist_ok=True)
            if not os.path.isdir(source):
                os.close(os.open(place, os.O_CREAT | os.O_WRONLY, 0o600))
        self._libc.mount(source, place, flags=_BIND | _RECURSIVE)
        if not writable:
            self._libc.forbid_writing(place)

    def _link(self, place: str, target: str) -> None:
        """Recreate the links of a path that leads to another one."""
        if place == target or os.path.lexists(f"/new{place}"):
            return
        try:
            os.makedirs(os.path.dirname(f"/new{place}"), exist_ok=True)
            os.symlink(target, f"/new{place}")
        except (FileExistsError, FileNotFoundError):
            return  # a link in its path was recreated before

    def _hide(self, place: str) -> None:
        place = f"/new{place}"
        if os.path.isdir(place):
            self._libc.mount("tmpfs", place, "tmpfs", _NO_SUID | _NO_DEVICES, "mode=755,size=1m")
        elif os.path.exists(place):
            self._libc.mount("/old/dev/null", place, flags=_BIND)

    def _add_empty(self, place: str) -> None:
        if os.path.lexists(place):
            return
        try:
            os.makedirs(place)
            os.chmod(place, 0o1777)  # noqa: S103 - as everywhere
        except OSError as error:
            if error.errno != errno.EROFS:  # a missing home in a read-only folder cannot be added
                raise

    def _add_system(self) -> None:
        os.makedirs("/new/proc", exist_ok=True)
        self._libc.mount("proc", "/new/proc", "proc", _NO_SUID | _NO_DEVICES | _NO_EXECUTION)
        os.makedirs("/new/dev/shm", exist_ok=True)  # a working directory may lie in it
        os.chmod("/new/dev/shm", 0o1777)  # noqa: S103 - as everywhere
        for name in _DEVICES:
            os.close(os.open(f"/new/dev/{name}", os.O_CREAT | os.O_WRONLY, 0o600))
            self._libc.mount(f"/old/dev/{name}", f"/new/dev/{name}", flags=_BIND)
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            os.symlink(f"/proc/self/fd/{number}", f"/new/dev/{name}")
        os.symlink("/proc/self/fd", "/new/dev/fd")


def _start_loopback() -> None:
    """Let programs connect to each other inside the namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        request = struct.pack("16sH22x", b"lo", 1)
        fcntl.ioctl(opened, 0x8914, request)


def launcher(view: View, command: Sequence[str]) -> list[str]:
    """Return the command that runs another one with this view."""
    return [sys.executable, "-I", "-S", __file__, json.dumps(asdict(view)), *command]


def close_others(kept: Iterable[int]) -> None:
    """Close all files except for these and the standard ones: open files would be usable in spite of the namespaces."""
    keep = {0, 1, 2, *kept}
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in keep:
            try:
                os.close(int(name))
            except OSError:
                continue  # the handle of the listing itself


def main(arguments: Sequence[str]) -> NoReturn:
    """Execute the command that follows the view, the first argument."""
    fields = json.loads(arguments[0])
    with open("/proc/self/environ", "rb") as file:  # the original: Python may have added variables
        given = [variable.partition(b"=") for variable in file.read().split(b"\0") if variable]
    try:
        close_others(())
        read, write, hidden = (tuple(fields[name]) for name in ("read", "write", "hidden"))
        enter(View(read, write, hidden, fields["home"], fields["network"]))
    except OSError as error:
        sys.stderr.write(f"cannot isolate the program: {error}\n")
        os._exit(_EXIT)
    variables = {name: value for name, _, value in given}
    os.execve(arguments[1], list(arguments[1:]), variables)  # noqa: S606 - the command it was asked for


if __name__ == "__main__":
    main(sys.argv[1:])
