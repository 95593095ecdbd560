"""Programs that a rendering starts: all of them start here."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from commodore.errors import PolicyError

_WITHOUT_NETWORK = ("--user", "--map-current-user", "--net", "--")


def start(command: Sequence[str], *, isolated: bool, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end, as `subprocess.run` does.

    Args:
        isolated: give it no network.
        options: those of `subprocess.run`.

    Raises:
        PolicyError: it must not have the network, and this machine cannot keep it away.
        OSError: it cannot be started.
        subprocess.TimeoutExpired: it took longer than the `timeout` among the options.
    """
    if isolated:
        unshare = _find_unshare(os.environ.get("PATH", os.defpath))
        if unshare is None:
            raise PolicyError(
                "CMD-CONF-013",
                "a component's program must not have the network, and this machine cannot keep it away",
                hint="it takes Linux, `unshare` of util-linux and user namespaces for all; or leave out `isolated`",
            )
        command = [unshare, *_WITHOUT_NETWORK, *_located(command, options.get("env"))]
    return subprocess.run(command, **{"check": False, **options})


def _located(command: Sequence[str], environment: Mapping[str, str] | None) -> list[str]:
    """The command with the program that the caller's PATH means, as another program will look for it."""
    path = (os.environ if environment is None else environment).get("PATH", os.defpath)
    found = shutil.which(command[0], path=path)
    if found is None:
        raise FileNotFoundError(2, os.strerror(2), command[0])
    return [found, *command[1:]]


@functools.cache
def _find_unshare(path: str) -> str | None:
    """The program that starts others in namespaces of their own, if it can do that here."""
    found = shutil.which("unshare", path=path) if sys.platform == "linux" else None
    if found is None:
        return None
    tried = subprocess.run([found, *_WITHOUT_NETWORK, "true"], capture_output=True, check=False, timeout=10)
    return found if tried.returncode == 0 else None
