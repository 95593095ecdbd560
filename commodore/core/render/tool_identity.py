"""Which program is called: the identity of helm, kustomize or kubectl, as part of what a result depends on.

A native program is what its file is. A script may be anything: it counts with what it says of its version, with the
files that its text names, and with the variables that occur in it. docs/explanation/observed.md tells what a script may
do beyond that.
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
_SAID = 1 << 20  # bytes of what a program says of its version
_POD = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
_LOCAL_TIME = "/etc/localtime"
_ZONES = ("/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo")  # Go's, in its order
_RULES = ("/usr/share/zoneinfo/tzdata.zi", "/usr/share/zoneinfo/+VERSION")  # one of them changes with every zone
_SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"  # has a kustomize that only calls kubectl


class Programs:
    """Tells the identity of programs: the digest of the file; of a mere starter what it names, and says of its version.

    Args:
        environment: what those who call them have; its PATH is where programs are looked up.
        directory: the folder that those who call them are in.
        memory: a file that remembers digests by size and times, None for none.
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
        """The identity of a program, given by name or path; the word `missing` if there is none."""
        if name not in self._known:
            self._known[name] = self._identity(name)
        return self._known[name]

    def has_changed(self, name: str) -> bool:
        """Whether a program is not the one any more that was recorded, so that it is not known which one has run."""
        name = self.builder() if name == "kustomize" else name
        seen = self._seen.get(name, [])
        if not seen or seen[0][0] != self._find(name):
            return True
        return any(_times(path) != times for path, times in seen)

    def builder(self) -> str:
        """The name of the program that builds kustomizations, as the wrapper chooses it."""
        found = shutil.which("kustomize", path=self._path + ":/opt/homebrew/bin")
        return "kubectl" if found is None or Path(found).is_relative_to(_SCRIPTS) else "kustomize"

    def _find(self, name: str) -> str:
        """The path of a program; empty if there is none."""
        if os.sep in name:
            name = os.path.join(self._directory, name)
        return shutil.which(name, path=self._path + ":/opt/homebrew/bin") or ""

    def _identity(self, name: str) -> str:
        found = self._find(name)
        self._seen[name] = [(found, _times(found))]
        if not found:
            return "missing"
        real = os.path.realpath(found)
        tool = next((tool for tool in _VERSION if os.path.basename(found).startswith(tool)), "")
        digest, is_script = self._content(real)
        if is_script:
            digest += " " + self._mentioned(name, found)
        if is_script or not os.path.basename(real).startswith(tool or os.path.basename(found)):
            digest += " " + self._version(found, tool)  # it may start this program today and another one tomorrow
        return digest

    def _mentioned(self, name: str, script: str) -> str:
        """The digest of what a script names."""
        files, variables = scripts.mentions(script, self._directory, self._environment)
        self._seen[name] += [(path, _times(path)) for _, path in files]
        contents = [[word, self._content(path)[0]] for word, path in files]
        return hashlib.sha256(json.dumps([contents, variables]).encode()).hexdigest()

    def _content(self, path: str) -> tuple[str, bool]:
        """The digest of a file, and whether it is a script, which everything is but a native program. It is remembered
        only if the file did not change while it was read, and not just before: one that is being written may get other
        content at the same time.
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
                found = read_note(self._memory, _NOTE)
                self._remembered = {stamp: str(digest) for stamp, digest in found.items()}
        return self._remembered

    def _remember(self, remembered: dict[str, str]) -> None:
        if self._memory is not None:
            write_note(self._memory, dict(list(remembered.items())[-self._limits.remembered_programs :]), _NOTE)


def _stamp(path: str, status: os.stat_result) -> str:
    return f"{path} {status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def _times(path: str) -> str:
    """What changes when something else is put at a path, or written to it."""
    found = hashlib.sha256()
    add_times(found, path)
    return found.hexdigest()


def tool_digest(name: str, programs: Programs) -> str:
    """The identity of a program that a result depends on; `kustomize` is what the wrapper takes for it."""
    if name != "kustomize":
        return programs.digest(name)
    builder = programs.builder()
    return f"{builder} {programs.digest(builder)}"


def defaults_digest(tool: str, environment: Mapping[str, str]) -> str:
    """The digest of what a tool takes from the user's own configuration where it is not told otherwise.

    Args:
        tool: `helm` for the namespace of a release, which is that of the current Kubernetes context; `kubectl` for the
            preferences that give commands other defaults; `zone` for the time zone, which charts see in dates.
    """
    if tool == "zone":
        return _zone(environment)
    home = environment.get("HOME", "")
    if tool == "kubectl":
        chosen = environment.get("KUBERC", "")
        found = [chosen, _digest_of(chosen or os.path.join(home, ".kube", "kuberc"))]
        found += sorted(f"{key}={value}" for key, value in environment.items() if key.startswith("KUBECTL_"))
    else:
        files = environment.get("KUBECONFIG") or os.path.join(home, ".kube", "config")
        found = [_contexts(file) for file in files.split(os.pathsep) if file]
        if environment.get("KUBERNETES_SERVICE_HOST"):
            found += [environment.get("POD_NAMESPACE", ""), _digest_of(_POD)]
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()


def _zone(environment: Mapping[str, str]) -> str:
    """The local time zone as helm finds it, and the rules of all zones."""
    name = environment.get("TZ")
    plain = (name or "").removeprefix(":")
    places = [_LOCAL_TIME] if name is None else [os.path.join(folder, plain) for folder in _ZONES] if plain else []
    others = environment.get("ZONEINFO", "")
    found = [name, others, *map(_digest_of, (*places, *([others] if others else []), *_RULES))]
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()


def _contexts(file: str) -> str:
    """The part of a Kubernetes configuration that says which namespace is meant; all of it if that cannot be told."""
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
