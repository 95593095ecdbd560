"""Start the programs of a rendering."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from commodore.base.errors import PolicyError
from commodore.base.programs.child_processes import Child, child_environment
from commodore.core.confinement.namespaces import View, launcher

NAMESPACES, BUBBLEWRAP = "namespaces", "bubblewrap"
_SEEN = View(("/usr", "/bin", "/lib", "/lib64", "/nix", "/gnu"), (), ())


def start(
    command: Sequence[str], *, view: View | None = None, required: bool = False, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end, as `subprocess.run` does.

    Args:
        view: start it without network, unless the view allows it, without sight of other processes, and with these
            files only, if this machine can do that.
        required: refuse to start it if this machine cannot isolate it.
        options: those of `subprocess.run`; without `env` it gets the environment of a tool.

    Raises:
        PolicyError: CMD-CONF-013, it must be isolated, and this machine cannot do that.
        OSError: it cannot be started.
        subprocess.TimeoutExpired: it took longer than the `timeout` among the options.
    """
    given = options.pop("env", None)
    environment = child_environment(Child.TOOL) if given is None else given
    if view is not None:
        if not isolation() and required:
            raise cannot_isolate()
        located = _located(command, environment)
        command = isolated_command(located, view, os.fspath(options.get("cwd") or os.getcwd()))
    return subprocess.run(command, env=environment, **{"check": False, **options})


def isolated_command(command: Sequence[str], view: View, folder: str) -> Sequence[str]:
    """Return the command that runs another one with this view, in a folder; the same if this machine has no
    `isolation`.

    Args:
        command: with the absolute path of its program.
    """
    means = isolation()
    if means == NAMESPACES:
        return launcher(view, command)
    return _bubblewrap(view, command, folder) if means == BUBBLEWRAP else command


def isolation() -> str:
    """The isolation mechanism of this machine: `namespaces`, `bubblewrap`, or empty for none."""
    return _find_isolation(os.environ.get("PATH", os.defpath))


def cannot_isolate() -> PolicyError:
    """The error for a policy that demands isolation on a machine without it."""
    return PolicyError(
        "CMD-CONF-013",
        "a component's program must be isolated, and this machine cannot do that",
        hint="use Linux with unprivileged user namespaces or bubblewrap, or remove `isolated`",
    )


@functools.cache
def _find_isolation(path: str) -> str:
    if sys.platform != "linux":
        return ""
    bubblewrap = shutil.which("bwrap", path=path)
    for means, command in (
        (NAMESPACES, launcher(_SEEN, ["/bin/true"])),
        (BUBBLEWRAP, _bubblewrap(_SEEN, ["/bin/true"], "/") if bubblewrap else []),
    ):
        try:
            if not command:
                continue
            if subprocess.run(command, env=child_environment(), capture_output=True, timeout=10).returncode == 0:
                return means
        except (OSError, subprocess.TimeoutExpired):
            continue
    return ""


def _located(command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Return the command with the absolute path of its program, found on the caller's PATH."""
    program = shutil.which(command[0], path=environment.get("PATH", os.defpath))
    if program is None:
        raise FileNotFoundError(2, os.strerror(2), command[0])
    return [program, *command[1:]]


def _bubblewrap(view: View, command: Sequence[str], folder: str) -> list[str]:
    """Return the command that runs another one with this view under bubblewrap."""
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    words += ["--share-net"] if view.network else []
    words += ["--proc", "/proc", "--dev", "/dev"]  # first: a working directory may lie in /dev/shm
    words += ["--tmpfs", "/tmp"]  # noqa: S108 - in memory, and of that process alone
    words += ["--dir", view.home] if view.home else []
    for name in sorted(os.listdir("/")):
        if os.path.islink(f"/{name}"):
            words += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
    for place in view.places():
        if not os.path.exists(place) or os.path.realpath(place) != place:
            continue
        if place in view.hidden:
            words += ["--tmpfs", place] if os.path.isdir(place) else ["--ro-bind", "/dev/null", place]
        else:
            words += ["--bind" if place in view.write else "--ro-bind", place, place]
    return [*words, "--chdir", folder, "--", *command]
