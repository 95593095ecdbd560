"""Running helm and kustomize: with nothing of the user's surroundings, for a limited time, with limited output."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from commodore.argocd.rendering.causes import cause_of, plain
from commodore.base.cancellation import Cancellation
from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError, PolicyError
from commodore.base.printable import printable_lines
from commodore.base.programs.child_processes import child_environment, start_program
from commodore.core.confinement import NAMESPACES, View, isolation, launcher, view_of
from commodore.core.sources.git import redact_text
from commodore.core.tools import Source, locate_tool, profile_toolbox

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
_WARNED = re.compile(r"^# Warning: .*\n", re.MULTILINE)  # of kustomize, about deprecated fields
_LOGGED = re.compile(r'^[EF]\d{4} [\d:.]+ +\d+ \S+\] "command failed" err=(".*")$', re.MULTILINE)
"""How kubectl reports an error: with the time and the number of its process."""
_NOWHERE = "http://127.0.0.1:9"  # no proxy listens there, so the network is not reached
HELM_COMMAND = "--helm-command"
"""The option that names kustomize the helm that it calls."""
_CONTAINERS = ("docker", "nerdctl", "podman")  # in which functions of kustomizations would run
_OF_GIT = ("GIT_", "SSH_")


@dataclass(frozen=True, slots=True)
class Program:
    """One run of a program.

    Attributes:
        code: the code of the error if it fails.
        rename: pairs of texts that are replaced in what it says, such as folders of this run.
        profile: the version of Argo CD of which the program is taken if it was installed for it.
        git: the variables of git.
        git_program: what is called as git; None if that may not be called.
        confined: the folder, besides those of `home` and `stores`, that alone it may read where this machine can see to
            that.
        stores: folders that its git reads and writes.
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
    git_program: Path | None = None
    stores: tuple[Path, ...] = ()


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


def run_program(program: Program, context: Context, hear: Callable[[str], None]) -> bytes:
    """What a program writes to standard output.

    Args:
        hear: gets all that it says if it fails and the error is shorter.

    Raises:
        InputError: it fails; the code is the program's, and the message begins with the cause.
        EnvironmentFault: CMD-ARGO-413, it is not installed or does not start; CMD-ARGO-418, it takes too long.
        PolicyError: CMD-ARGO-403, it writes too much.
    """
    command = command_of(program.name, program.profile)
    within_kubectl = len(command) > 1
    command += program.arguments[1:] if within_kubectl else program.arguments
    if program.confined is not None and isolation() == NAMESPACES:
        command = launcher(_view(program, program.confined, command[0]), command)
    limits = context.limits
    bounds = Bounds(program.name, limits.argocd_source_seconds, limits.argocd_output_bytes, 1 << 20)
    bounds = replace(bounds, cancellation=context.cancellation)
    ended = run_bounded(command, program.folder, _environment(program), bounds)
    if ended.code != 0:
        said = why_it_failed(ended, program.rename)
        why, hint = cause_of(program.name, said)
        if not plain(said).startswith(why):
            hear(said)
            hint = f"{hint}; --diagnostics all shows all that {program.name} says"
        raise InputError(program.code, f"{program.name} {program.arguments[0]} fails: {why}", hint=hint)
    return ended.output


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a program may take.

    Attributes:
        name: what messages call it.
        seconds: how long it may run.
        bytes: how much it may write to standard output.
        said: how much of what it writes to standard error is kept.
        file: how large a file may be that it writes; None for any size.
        cancellation: ends it from another thread.
    """

    name: str
    seconds: float
    bytes: int
    said: int
    file: int | None = None
    cancellation: Cancellation = field(default_factory=Cancellation)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: its exit code, negative for a signal, and what it wrote."""

    code: int
    output: bytes
    said: bytes


def run_bounded(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], bounds: Bounds, given: bytes = b""
) -> Ended:
    """Run a program in a session of its own, which is ended with all that it has started.

    Args:
        given: its standard input.

    Raises:
        EnvironmentFault: CMD-ARGO-413, it does not start; CMD-ARGO-418, it takes too long.
        PolicyError: CMD-ARGO-403, it writes too much.
    """
    with tempfile.TemporaryFile() as stream:
        stream.write(given)
        stream.seek(0)
        try:
            process = start_program(
                command,
                cwd=folder,
                env=environment,
                stdin=stream,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise EnvironmentFault(
                "CMD-ARGO-413", f"{bounds.name} does not start: {why}", hint="install it again"
            ) from error
    with process, bounds.cancellation.hold(process):
        try:
            if bounds.file is not None and sys.platform == "linux":
                with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended, or is setuid
                    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (bounds.file, bounds.file))
            output, said = _read(process, bounds)
            code = process.wait()
        except BaseException:
            _kill(process)
            raise
    return Ended(code, output, said)


def _view(program: Program, root: Path, command: str) -> View:
    scratch, stores = str(program.home.parent), [str(one) for one in program.stores]
    called = [command, *(command_of("helm", program.profile)[:1] if HELM_COMMAND in program.arguments else ())]
    folders = [*map(os.path.dirname, (*called, *map(os.path.realpath, called))), *_own_path().split(os.pathsep)]
    variables = {**_environment(program), "PATH": os.pathsep.join(folders)}
    roots = dict.fromkeys((str(root), scratch, *stores), "read")
    return replace(view_of(roots, (scratch, *stores), variables), network=program.online)


def _own_path() -> str:
    return child_environment().get("PATH", os.defpath)


def _path(program: Program) -> str:
    """Where it finds programs: git alone, and what a wrapper script needs, but nothing that would run a container."""
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


def _read(process: subprocess.Popen[bytes], bounds: Bounds) -> tuple[bytes, bytes]:
    """What a program writes to standard output and to standard error, until it closes both."""
    assert process.stdout is not None
    assert process.stderr is not None
    deadline = time.monotonic() + bounds.seconds
    output, said = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        for stream, taken in ((process.stdout, output), (process.stderr, said)):
            selector.register(stream, selectors.EVENT_READ, taken)
        while selector.get_map():
            left = deadline - time.monotonic()
            ready = selector.select(left) if left > 0 else []
            if not ready:
                raise takes_too_long(bounds.name, bounds.seconds)
            for key, _ in ready:
                chunk = os.read(key.fd, 1 << 16)
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.data is output:
                    output += chunk
                else:
                    said += chunk[: bounds.said - len(said)]
            if len(output) > bounds.bytes:
                raise PolicyError(
                    "CMD-ARGO-403", f"{bounds.name} writes more than {bounds.bytes} bytes", hint="split the source"
                )
    return bytes(output), bytes(said)


def takes_too_long(name: str, seconds: float) -> EnvironmentFault:
    """The error for a program, or Jsonnet, that has not come to an end within its time."""
    return EnvironmentFault(
        "CMD-ARGO-418",
        f"{name} is not done after {seconds:g} s",
        hint="look for endless loops and for expressions that multiply, or raise --timeout or "
        "argocd_source_seconds with COMMODORE_LIMITS",
    )


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def why_it_failed(ended: Ended, rename: Mapping[str, str]) -> str:
    """What a program that failed says, in short and without credentials.

    Args:
        rename: see `Program`.
    """
    code = ended.code
    text = _LOGGED.sub(_plain, ended.said.decode("utf-8", "replace").strip())
    text = _WARNED.sub("", text) or text
    for old in sorted(rename, key=len, reverse=True):
        text = text.replace(old, rename[old])
    text = printable_lines(redact_text(text))
    half = _SHOWN // 2
    text = text if len(text) <= _SHOWN else f"{text[:half]} … {text[-half:]}"  # the cause comes last
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
    """Write a file of this run."""
    stream: IO[bytes]
    with path.open("wb") as stream:
        stream.write(content.encode() if isinstance(content, str) else content)
