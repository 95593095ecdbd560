"""Running helm and kustomize: with nothing of the user's surroundings, for a limited time, with limited output."""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from commodore.confinement import NAMESPACES, View, isolation, launcher, view_of
from commodore.errors import CommodoreError, EnvironmentFault, InputError, PolicyError
from commodore.git import redact_text
from commodore.limits import Limits
from commodore.printable import printable_lines
from commodore.tools import Source, locate_tool, profile_toolbox

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
_LOGGED = re.compile(r'^[EF]\d{4} [\d:.]+ +\d+ \S+\] "command failed" err=(".*")$', re.MULTILINE)
"""How kubectl reports an error: with the time and the number of its process."""
_NOWHERE = "http://127.0.0.1:9"  # no proxy listens there, so the network is not reached
_SCRIPTS_NEED = ("dirname", "sed")
_OF_GIT = ("GIT_", "SSH_")
_OF_HOME = ("HOME", "PATH", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")


@dataclass(frozen=True, slots=True)
class Program:
    """One run of a program.

    Attributes:
        code: the code of the error if it fails.
        rename: pairs of texts that are replaced in what it says, such as folders of this run.
        profile: the version of Argo CD of which the program is taken if it was installed for it.
        git: the variables of git, if that may be called.
        confined: the folder, besides that of `home`, that alone it may read where this machine can see to that.
    """

    name: str
    arguments: Sequence[str]
    folder: Path
    home: Path
    code: str
    rename: Mapping[str, str]
    online: bool = False
    confined: Path | None = None
    profile: str = ""
    git: Mapping[str, str] = field(default_factory=dict, repr=False)


def command_of(name: str, profile: str = "") -> list[str]:
    """How helm or kustomize is called. Kustomize may be the one within kubectl, which builds only.

    Args:
        profile: a version of Argo CD; what was installed for it comes first.

    Raises:
        EnvironmentFault: CMD-ARGO-413, it is not installed.
    """
    own = profile_toolbox(profile)
    if own.holds(name):
        return [str(own.executable(name))]
    found = locate_tool(name)
    if found is None:
        raise EnvironmentFault(
            "CMD-ARGO-413", f"{name} is not installed", hint=f"install it with: commodore tool install {name}"
        )
    path = str(found.path.absolute())
    return [path, "kustomize"] if found.source is Source.KUBECTL else [path]


def run_program(program: Program, limits: Limits) -> bytes:
    """What a program writes to standard output.

    Raises:
        InputError: it fails; the code is the program's.
        EnvironmentFault: CMD-ARGO-413, it is not installed or does not start; CMD-ARGO-418, it takes too long.
        PolicyError: CMD-ARGO-403, it writes too much.
    """
    command = command_of(program.name, program.profile)
    within_kubectl = len(command) > 1
    command += program.arguments[1:] if within_kubectl else program.arguments
    if program.confined is not None and isolation() == NAMESPACES:
        command = launcher(_view(program, program.confined, command[0]), command)
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                command,
                cwd=program.folder,
                env=_environment(program),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            raise EnvironmentFault(
                "CMD-ARGO-413", f"{program.name} does not start: {error.strerror}", hint="install it again"
            ) from error
        with process:
            try:
                output = _read(process, program.name, limits)
                code = process.wait()
            except BaseException:
                _kill(process)
                raise
        errors.seek(0)
        said = errors.read(1 << 20).decode("utf-8", "replace")
    if code != 0:
        raise _failed(program, code, said)
    return output


def _view(program: Program, root: Path, command: str) -> View:
    scratch = str(program.home.parent)
    found = [command, os.path.realpath(command), *(os.readlink(one) for one in _few_programs(program).iterdir())]
    paths = os.pathsep.join(map(os.path.dirname, found))
    variables = {**_environment(program), "PATH": paths}
    return replace(view_of({str(root): "read", scratch: "read"}, (scratch,), variables), network=program.online)


def _environment(program: Program) -> dict[str, str]:
    home = str(program.home)
    variables = {
        "PATH": str(_few_programs(program)),
        "HOME": home,
        "LANG": "C.UTF-8",
        "TMPDIR": home,
        **{f"XDG_{name}_HOME": f"{home}/{name.lower()}" for name in ("CACHE", "CONFIG", "DATA")},
    }
    if not program.online:
        variables |= dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY"), _NOWHERE)
    else:
        variables |= {name: os.environ[name] for name in _NETWORK if name in os.environ}
        variables |= {name: value for name, value in program.git.items() if name.startswith(_OF_GIT)}
    return variables


def _few_programs(program: Program) -> Path:
    """A folder with git, if the network may be used, and what wrapper scripts need. Plugins and functions, which need
    other programs, find none.
    """
    folder = program.home / "bin"
    if not folder.is_dir():
        folder.mkdir()
        for name in (*_SCRIPTS_NEED, *(["git"] if program.online else [])):
            if (path := shutil.which(name)) is not None:
                _place(folder / name, path, program)
    return folder


def _place(place: Path, path: str, program: Program) -> None:
    """Let a program be called by its name alone; git with its own home and programs, if it has such."""
    home = program.git.get("HOME")
    if place.name != "git" or home in (None, str(program.home)):
        place.symlink_to(path)
        return
    own = [f"{name}={program.git[name]}" for name in _OF_HOME if name in program.git]
    write_file(place, f'#!/bin/sh\nexport {shlex.join(own)}\nexec {shlex.quote(path)} "$@"\n')
    place.chmod(0o700)


def _read(process: subprocess.Popen[bytes], name: str, limits: Limits) -> bytes:
    assert process.stdout is not None
    deadline = time.monotonic() + limits.argocd_source_seconds
    parts: list[bytes] = []
    size = 0
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                raise EnvironmentFault(
                    "CMD-ARGO-418",
                    f"{name} is not done after {limits.argocd_source_seconds:g} s",
                    hint="look for endless loops in templates",
                )
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            if not chunk:
                return b"".join(parts)
            parts.append(chunk)
            size += len(chunk)
            if size > limits.argocd_output_bytes:
                raise PolicyError(
                    "CMD-ARGO-403",
                    f"{name} writes more than {limits.argocd_output_bytes} bytes",
                    hint="split the source",
                )


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _failed(program: Program, code: int, said: str) -> CommodoreError:
    text = _LOGGED.sub(_plain, said.strip())
    for old in sorted(program.rename, key=len, reverse=True):
        text = text.replace(old, program.rename[old])
    text = printable_lines(redact_text(text))
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"
    if code < 0:
        name = signal.Signals(-code).name if -code in {*signal.Signals} else str(-code)
        text = f"it was ended by {name}. {text}"
    return InputError(
        program.code,
        f"{program.name} {program.arguments[0]} fails: {text or f'exit code {code}'}",
        hint="see what it says",
    )


def _plain(logged: re.Match[str]) -> str:
    try:
        return f"error: {json.loads(logged[1])}"
    except ValueError:
        return f"error: {logged[1]}"


def write_file(path: Path, content: bytes | str) -> None:
    """Write a file of this run."""
    stream: IO[bytes]
    with path.open("wb") as stream:
        stream.write(content.encode() if isinstance(content, str) else content)
