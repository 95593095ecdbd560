"""The identity of a called program (helm, kustomize, kubectl), as a part of what a result depends on.

A native program is identified by its file. A script may do anything: it is identified by its reported version, the
files that its text mentions, and the variables that occur in it. docs/explanation/observed.md describes the limits of
that.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from commodore.base.cancellation import Cancellation
from commodore.base.errors import CommodoreError
from commodore.base.files.sealed import read_note, write_note
from commodore.base.files.tree import add_times
from commodore.base.limits import Limits
from commodore.base.programs import running
from commodore.base.programs.child_processes import Child, child_environment
from commodore.core.render import script_reads as scripts

_VERSION = {"helm": ["version"], "kustomize": ["version"], "kubectl": ["version", "--client"]}
_NATIVE = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe")  # Linux, macOS
_NOTE = "digests of programs"
_SAID = 1 << 20  # bytes of a reported version
_POD = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
_LOCAL_TIME = "/etc/localtime"
# the places of Go, in its order
_ZONES = ("/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo")
# one of them changes with every release of the zones
_RULES = ("/usr/share/zoneinfo/tzdata.zi", "/usr/share/zoneinfo/+VERSION")
_SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"  # contains a kustomize that only calls kubectl


class Programs:
    """Identities of programs: the digest of the file; for a starter script also the mentioned files and its version.

    Args:
        environment: the environment of the callers; programs are searched on its PATH.
        directory: the working directory of the callers.
        memory: a file with digests by size and times; None disables it.
    """

    def __init__(self, environment: Mapping[str, str], directory: Path, memory: Path | None, limits: Limits) -> None:
        folders = environment.get("PATH", os.defpath).split(os.pathsep)
        self._path = os.pathsep.join(os.path.join(directory, folder) for folder in folders)
        self._environment = dict(environment)
        self._directory = directory
        self._memory = memory
        self._limits = limits
        self._known: dict[str, str] = {}
        self._seen: dict[str, list[tuple[str, str]]] = {}
        self._remembered: dict[str, str] | None = None

    def digest(self, name: str) -> str:
        """Return the identity of a program, given by name or path; `missing` if it does not exist."""
        if name not in self._known:
            self._known[name] = self._identity(name)
        return self._known[name]

    def has_changed(self, name: str) -> bool:
        """Return True if a program is not the recorded one any more, so that it is unknown which one has run."""
        name = self.builder() if name == "kustomize" else name
        seen = self._seen.get(name, [])
        if not seen or seen[0][0] != self._find(name):
            return True
        return any(_times(path) != times for path, times in seen)

    def builder(self) -> str:
        """Return the name of the program that builds kustomizations, as the wrapper chooses it."""
        kustomize = shutil.which("kustomize", path=self._path + ":/opt/homebrew/bin")
        return "kubectl" if kustomize is None or Path(kustomize).is_relative_to(_SCRIPTS) else "kustomize"

    def _find(self, name: str) -> str:
        """Return the path of a program; empty if it does not exist."""
        if os.sep in name:
            name = os.path.join(self._directory, name)
        return shutil.which(name, path=self._path + ":/opt/homebrew/bin") or ""

    def _identity(self, name: str) -> str:
        path = self._find(name)
        self._seen[name] = [(path, _times(path))]
        if not path:
            return "missing"
        real = os.path.realpath(path)
        tool = next((tool for tool in _VERSION if os.path.basename(path).startswith(tool)), "")
        digest, is_script = self._content(real)
        if is_script:
            digest += " " + self._mentioned(name, path)
        if is_script or not os.path.basename(real).startswith(tool or os.path.basename(path)):
            digest += " " + self._version(path, tool)  # a starter may choose another program later
        return digest

    def _mentioned(self, name: str, script: str) -> str:
        """Return the digest of the files and variables that a script mentions."""
        files, variables = scripts.mentions(script, self._directory, self._environment)
        self._seen[name] += [(path, _times(path)) for _, path in files]
        contents = [[word, self._content(path)[0]] for word, path in files]
        return hashlib.sha256(json.dumps([contents, variables]).encode()).hexdigest()

    def _content(self, path: str) -> tuple[str, bool]:
        """Return the digest of a file, and True for a script: everything except a native program. It is remembered only
        if the file did not change during and shortly before the read: a file that is being written may change within
        the resolution of its times.
        """
        remembered = self._recall()
        try:
            with open(path, "rb") as file:
                status = os.fstat(file.fileno())
                stamp = _stamp(path, status)
                is_script = not file.read(4).startswith(_NATIVE)
                if stamp not in remembered:
                    file.seek(0)
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                    if stamp != _stamp(path, os.fstat(file.fileno())):  # uncovered: written at the same time
                        return digest, is_script
                    remembered[stamp] = digest
                    if time.time() - max(status.st_mtime, status.st_ctime) > self._limits.settled_seconds:
                        self._remember(remembered)
                return remembered[stamp], is_script
        except OSError as error:  # uncovered: root, who runs tests in containers, may read everything
            return f"unreadable {error.errno}", False

    def _version(self, path: str, tool: str) -> str:
        command = running.Command(
            [path, *_VERSION.get(tool, ["--version"])],
            child_environment(Child.TOOL, self._environment),
            self._directory,
        )
        try:
            ended = running.run(command, running.Bounds(self._limits.tool_timeout, _SAID, _SAID), Cancellation())
        except (OSError, running.OutOfBounds):
            return "unknown"
        return hashlib.sha256(ended.output + ended.said).hexdigest()

    def _recall(self) -> dict[str, str]:
        if self._remembered is None:
            self._remembered = {}
            if self._memory is not None:
                note = read_note(self._memory, _NOTE)
                self._remembered = {stamp: str(digest) for stamp, digest in note.items()}
        return self._remembered

    def _remember(self, remembered: dict[str, str]) -> None:
        if self._memory is not None:
            write_note(self._memory, dict(list(remembered.items())[-self._limits.remembered_programs :]), _NOTE)


def _stamp(path: str, status: os.stat_result) -> str:
    return f"{path} {status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def _times(path: str) -> str:
    """Return values that change if the file at a path is replaced or written."""
    digest = hashlib.sha256()
    add_times(digest, path)
    return digest.hexdigest()


def tool_digest(name: str, programs: Programs) -> str:
    """Return the identity of a program that a result depends on; `kustomize` is the program that the wrapper
    chooses.
    """
    if name != "kustomize":
        return programs.digest(name)
    builder = programs.builder()
    return f"{builder} {programs.digest(builder)}"


def defaults_digest(tool: str, environment: Mapping[str, str]) -> str:
    """Return the digest of a tool's defaults from the user's own configuration.

    Args:
        tool: `helm` for the namespace of a release, which is that of the current Kubernetes context; `kubectl` for the
            preferences that give commands other defaults; `zone` for the time zone, which appears in dates of charts.
    """
    if tool == "zone":
        return _zone(environment)
    home = environment.get("HOME", "")
    if tool == "kubectl":
        chosen = environment.get("KUBERC", "")
        parts = [chosen, _digest_of(chosen or os.path.join(home, ".kube", "kuberc"))]
        parts += sorted(f"{key}={value}" for key, value in environment.items() if key.startswith("KUBECTL_"))
    else:
        files = environment.get("KUBECONFIG") or os.path.join(home, ".kube", "config")
        parts = [_contexts(file) for file in files.split(os.pathsep) if file]
        if environment.get("KUBERNETES_SERVICE_HOST"):
            parts += [environment.get("POD_NAMESPACE", ""), _digest_of(_POD)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _zone(environment: Mapping[str, str]) -> str:
    """Return the local time zone as helm determines it, and the rules of all zones."""
    name = environment.get("TZ")
    plain = (name or "").removeprefix(":")
    places = [_LOCAL_TIME] if name is None else [os.path.join(folder, plain) for folder in _ZONES] if plain else []
    others = environment.get("ZONEINFO", "")
    parts = [name, others, *map(_digest_of, (*places, *([others] if others else []), *_RULES))]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _contexts(file: str) -> str:
    """Return the part of a kubeconfig that determines the namespace; the whole text if it cannot be parsed."""
    from commodore.base import yaml as manifests  # loads the YAML library, which most callers do not need

    with contextlib.suppress(CommodoreError, OSError, ValueError):
        document = manifests.load(Path(file).read_bytes(), place=file)
        if isinstance(document, Mapping):
            return json.dumps([document.get("current-context"), document.get("contexts")], default=str)
    return _digest_of(file)


def _digest_of(file: str) -> str:
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError as error:
        return type(error).__name__
