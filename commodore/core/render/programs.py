"""Run helm and kustomize without the user's environment, confined and within bounds."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from commodore.base.cancellation import Cancellation
from commodore.base.limits import Limits
from commodore.base.printable import printable_lines
from commodore.base.programs import running
from commodore.base.programs.child_processes import child_environment
from commodore.core.confinement import NAMESPACES, View, isolation, launcher, view_of
from commodore.core.sources.git import redact_text
from commodore.core.tools import ToolOrigin, locate_tool, profile_toolbox

_NETWORK = (
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "GIT_SSL_CAINFO",
)
_SHOWN = 4000
_WARNED = re.compile(r"^# Warning: .*\n", re.MULTILINE)  # printed by kustomize for deprecated fields
_LOGGED = re.compile(r'^[EF]\d{4} [\d:.]+ +\d+ \S+\] "command failed" err=(".*")$', re.MULTILINE)
"""The form of errors of kubectl: with the time and its process number."""
_NOWHERE = "http://127.0.0.1:9"  # no proxy listens there, so the network is not reached
HELM_COMMAND = "--helm-command"
"""The option of kustomize for the path of helm."""
_CONTAINERS = ("docker", "nerdctl", "podman")  # would run functions of kustomizations
_OF_GIT = ("GIT_", "SSH_")
_SAID = 1 << 20  # bytes kept of a program's stderr


class Unavailable(Exception):
    """A program is not installed, or does not start.

    Attributes:
        program: its name.
        reason: the error at its start; empty if it is not installed.
    """

    def __init__(self, program: str, reason: str = "") -> None:
        super().__init__(program, reason)
        self.program = program
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Program:
    """One run of helm or kustomize.

    Attributes:
        home: its home folder; the parent holds the other files of the run.
        given: its stdin.
        online: let it reach the network.
        confined: the only folder, in addition to those of `home` and `stores`, that it may read, if this machine can
            enforce that.
        profile: the version of Argo CD whose program is used if it is installed.
        git: the environment variables of git.
        git_program: the program that is called as git; None forbids git.
        stores: folders that git reads and writes.
    """

    name: str
    arguments: Sequence[str]
    folder: Path
    home: Path
    given: bytes = field(default=b"", repr=False)
    online: bool = False
    confined: Path | None = None
    profile: str = ""
    git: Mapping[str, str] = field(default_factory=dict, repr=False)
    git_program: Path | None = None
    stores: tuple[Path, ...] = ()


def command_of(name: str, profile: str = "") -> list[str]:
    """Return the words that call helm or kustomize. Kustomize may be the one in kubectl, which can only build.

    Args:
        profile: a version of Argo CD; programs installed for it come first.

    Raises:
        Unavailable: it is not installed.
    """
    own = profile_toolbox(profile)
    if own.holds(name):
        return [str(own.executable(name))]
    tool = locate_tool(name)
    if tool is None:
        raise Unavailable(name)
    path = str(tool.path.absolute())
    return [path, "kustomize"] if tool.source is ToolOrigin.KUBECTL else [path]


def run_program(program: Program, seconds: float, limits: Limits, cancellation: Cancellation) -> running.Ended:
    """Run helm or kustomize to its end.

    Raises:
        Unavailable: it is not installed, or does not start.
        OutOfBounds: it runs longer, or writes more than `program_output_bytes`.
    """
    words = command_of(program.name, program.profile)
    # `kubectl kustomize` is both program and `build`
    words += program.arguments[1:] if len(words) > 1 else program.arguments
    if program.confined is not None and isolation() == NAMESPACES:
        words = launcher(_view(program, program.confined, words[0]), words)
    command = running.Command(words, _environment(program), program.folder, program.given)
    bounds = running.Bounds(seconds, limits.program_output_bytes, _SAID, memory=limits.rendering_bytes)
    return start(program.name, command, bounds, cancellation)


def start(name: str, command: running.Command, bounds: running.Bounds, cancellation: Cancellation) -> running.Ended:
    """Run a program to its end.

    Raises:
        Unavailable: it cannot be started.
        OutOfBounds: it exceeded a bound.
    """
    try:
        return running.run(command, bounds, cancellation)
    except OSError as error:
        raise Unavailable(name, error.strerror or str(error)) from error
    except ValueError as error:  # an argument with a null character
        raise Unavailable(name, str(error)) from error


def _view(program: Program, root: Path, command: str) -> View:
    scratch, stores = str(program.home.parent), [str(store) for store in program.stores]
    called = [command, *(command_of("helm", program.profile)[:1] if HELM_COMMAND in program.arguments else ())]
    folders = [*map(os.path.dirname, (*called, *map(os.path.realpath, called))), *_own_path().split(os.pathsep)]
    variables = {**_environment(program), "PATH": os.pathsep.join(folders)}
    roots = dict.fromkeys((str(root), scratch, *stores), "read")
    return replace(view_of(roots, (scratch, *stores), variables), network=program.online)


def _own_path() -> str:
    return child_environment().get("PATH", os.defpath)


def _path(program: Program) -> str:
    """Return its PATH: git alone, and the tools of a wrapper script, but nothing that would run a container."""
    folder = program.home / "bin"
    if not folder.is_dir():
        folder.mkdir()
        if program.git_program is not None:
            (folder / "git").symlink_to(program.git_program)
        for name in _CONTAINERS if _is_script(program) else ():
            write_file(folder / name, f"#!/bin/sh\necho {name} is not run here >&2\nexit 127\n")
            (folder / name).chmod(0o700)
    return f"{folder}{os.pathsep}{_own_path()}" if _is_script(program) else str(folder)


def _is_script(program: Program) -> bool:
    with open(command_of(program.name, program.profile)[0], "rb") as stream:
        return stream.read(2) == b"#!"


def _environment(program: Program) -> dict[str, str]:
    home = str(program.home)
    variables = {
        "PATH": _path(program),
        "HOME": home,
        "LANG": "C.UTF-8",
        "TMPDIR": home,
        **{f"XDG_{name}_HOME": f"{home}/{name.lower()}" for name in ("CACHE", "CONFIG", "DATA")},
    }
    if not program.online:
        variables |= dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY"), _NOWHERE)
    else:
        variables |= {name: os.environ[name] for name in _NETWORK if name in os.environ}
    return variables | {name: value for name, value in program.git.items() if name.startswith(_OF_GIT)}


def why_it_failed(ended: running.Ended, rename: Mapping[str, str]) -> str:
    """Return the message of a failed program, shortened and without credentials.

    Args:
        rename: texts to replace, such as folders of this run.
    """
    code = ended.code
    text = _LOGGED.sub(_plain, ended.said.decode("utf-8", "replace").strip())
    text = _WARNED.sub("", text) or text
    for old in sorted(rename, key=len, reverse=True):
        text = text.replace(old, rename[old])
    text = printable_lines(redact_text(text))
    half = _SHOWN // 2
    text = text if len(text) <= _SHOWN else f"{text[:half]} … {text[-half:]}"  # the cause is at the end
    if code < 0:
        name = signal.Signals(-code).name if -code in {*signal.Signals} else str(-code)
        text = f"it was ended by {name}. {text}"
    return text or f"exit code {code}"


def _plain(logged: re.Match[str]) -> str:
    try:
        return f"error: {json.loads(logged[1])}"
    except ValueError:
        return f"error: {logged[1]}"


def write_file(path: Path, content: bytes | str) -> None:
    """Write a file of this run. All renderings of Applications and fleets write through it."""
    with path.open("wb") as stream:
        stream.write(content.encode() if isinstance(content, str) else content)
