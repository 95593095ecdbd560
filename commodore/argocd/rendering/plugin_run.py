"""Run the program of a config management plugin, if a policy of the user allows it.

It has access to a copy of the source and the files that any program needs: not to the network, other processes, other
files, or variables, except for the variables that Argo CD sets for plugins. Files that it writes are removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from commodore.argocd.model.fields import Fields
from commodore.argocd.model.plugins import PluginProgram, PluginRule
from commodore.argocd.rendering.model import Rendered, Unit
from commodore.argocd.rendering.programs import explained
from commodore.argocd.rendering.streams import objects_of_stream
from commodore.argocd.trees import check_inside, is_git
from commodore.base.errors import EnvironmentFault, InputError, PolicyError
from commodore.base.files.tree import Refused, Rules, measure
from commodore.base.programs.running import Bounds, Command
from commodore.core.confinement import isolated_command, isolation, view_of
from commodore.core.render.programs import start, why_it_failed
from commodore.core.sources.git import redact

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OTHER = re.compile(r"[^A-Z0-9_]")
_OUTPUT, _SAID = 10 << 20, 64 << 10
_INPUT, _ENTRIES = 1 << 30, 100_000
_PATH = "/usr/local/bin:/usr/bin:/bin"


def run_plugin(unit: Unit, rule: PluginRule) -> Iterator[Rendered]:
    """Run a plugin's program for a source, and yield its objects.

    Raises:
        PolicyError: CMD-ARGO-423, the program differs from that of the policy, or cannot be isolated on this machine;
            CMD-ARGO-420, the source sets a variable that the policy does not allow; CMD-ARGO-403, its input or output
            is too large.
        EnvironmentFault: CMD-ARGO-424, it fails; CMD-ARGO-413, it does not start; CMD-ARGO-418, it exceeds the time
            limit.
        InputError: CMD-ARGO-103, `plugin` of the source has a wrong type; CMD-ARGO-417, its output is not an object.
    """
    program = rule.program
    assert program is not None
    if not isolation():
        raise PolicyError(
            "CMD-ARGO-423",
            f"the plugin {rule.name} is not run: it cannot be isolated on this machine",
            hint="isolation needs Linux with unprivileged user namespaces, or bubblewrap",
            locations=[unit.source.place],
        )
    command = _Command(unit, rule, _copy_of(program, rule, unit), _work_folder(unit, program))
    environment = {**_environment(unit), **_variables(unit, program)}
    before, during, after = program.seconds
    if program.init:
        command.run(program.init, before, environment)
    output = command.run(program.generate, during, environment)
    if program.post:
        output = command.run(program.post, after, environment, output)
    unit.note("CMD-ARGO-428", f"the plugin {rule.name} ran {program.generate[0]}", "info")
    yield from objects_of_stream(output.decode("utf-8", "replace"), f"the output of the plugin {rule.name}")


class _Command:
    """Runs the program in the copy of a source."""

    def __init__(self, unit: Unit, rule: PluginRule, program: Path, work_folder: Path) -> None:
        self._unit = unit
        self._rule = rule
        self._program = str(program)
        self._root = str(work_folder)
        self._folder = work_folder / unit.folder.relative_to(unit.root)

    def run(self, words: tuple[str, ...], seconds: float, environment: Mapping[str, str], given: bytes = b"") -> bytes:
        view = view_of({self._program: "read", self._root: "read"}, (self._root,), environment)
        command = isolated_command([self._program, *words[1:]], view, str(self._folder))
        name = f"the plugin {self._rule.name}"
        called = Command(command, environment, self._folder, given)
        bounds = Bounds(seconds, _OUTPUT, _SAID, file=_INPUT)
        with explained(name, seconds, _OUTPUT):
            ended = start(name, called, bounds, self._unit.context.cancellation)
        if ended.code != 0:
            rename = {f"{self._root}/": "", self._root: ".", self._program: words[0]}
            raise EnvironmentFault(
                "CMD-ARGO-424",
                f"{name} fails: {why_it_failed(ended, rename)}",
                hint="it has no network, and can read only the folder of the source and `paths` of its rule",
                locations=[self._unit.source.place],
            )
        return ended.output


def _copy_of(program: PluginProgram, rule: PluginRule, unit: Unit) -> Path:
    """Return a private copy of the program, whose digest is checked against the policy."""
    place = unit.scratch / "program"
    try:
        content = Path(program.generate[0]).read_bytes()
    except OSError as error:
        raise EnvironmentFault(
            "CMD-ARGO-413",
            f"the program of the plugin {rule.name} does not start: {error.strerror}",
            hint=f"check that {program.generate[0]} exists",
        ) from error
    if hashlib.sha256(content).hexdigest() != program.digest:
        raise PolicyError(
            "CMD-ARGO-423",
            f"the plugin {rule.name} is not run: {program.generate[0]} does not have the digest of the policy",
            hint="compare it by sha256sum, and check who has changed it",
            locations=[rule.place or unit.source.place],
        )
    place.write_bytes(content)
    place.chmod(0o500)
    return place


def _work_folder(unit: Unit, program: PluginProgram) -> Path:
    """Return a copy of the parts of the repository that the program may read, without `.git` and links that leave
    it.
    """
    root = os.path.realpath(unit.root)

    def left_out(entry: os.DirEntry[str]) -> bool:
        if is_git(entry):
            return True
        real = os.path.realpath(entry.path) if entry.is_symlink() else root
        return real != root and not real.startswith(f"{root}/")

    copy = unit.scratch / "repository"
    rules = Rules(skip=left_out, entries=_ENTRIES, bytes=_INPUT)
    named = (unit.root / path for path in program.paths)
    parts = {path.relative_to(unit.root) for path in (unit.folder, *named)}
    try:
        for part in sorted(parts):
            if any(other in part.parents for other in parts):
                continue  # it is copied with its parent
            check_inside(unit.root / part, unit.root, str(part))
            if (unit.root / part).is_dir():
                measure(unit.root / part, copy / part, rules)
            elif (unit.root / part).is_file():
                (copy / part).parent.mkdir(parents=True, exist_ok=True)
                (copy / part).write_bytes((unit.root / part).read_bytes())
    except Refused as error:
        raise PolicyError(
            "CMD-ARGO-403", "the source is too large for a plugin", hint="split it, or name fewer paths"
        ) from error
    return copy


def _environment(unit: Unit) -> dict[str, str]:
    capabilities = unit.capabilities
    return {
        "PATH": _PATH,
        "HOME": "/tmp/home",  # noqa: S108 - in memory, and of that process alone
        "TMPDIR": "/tmp",  # noqa: S108
        "LANG": "C.UTF-8",
        **unit.environment.variables,
        "ARGOCD_APP_SOURCE_REPO_URL": redact(unit.source.repo_url),
        "KUBE_VERSION": capabilities.kube_version,
        "KUBE_API_VERSIONS": ",".join(capabilities.api_versions),
    }


def _variables(unit: Unit, program: PluginProgram) -> dict[str, str]:
    """Return the variables and parameters of the source, under the names that Argo CD gives them."""
    fields = Fields.of(unit.source.data.get("plugin"), f"{unit.source.field}.plugin", unit.source.place)
    variables: dict[str, str] = {}
    for variable in fields.items("env"):
        name = variable.required("name")
        if name not in program.env or not _NAME.fullmatch(name):
            raise PolicyError(
                "CMD-ARGO-420",
                f"the source sets {name!r} for its plugin, which the policy does not allow",
                hint="list it in env of the rule if the program may read it",
                locations=[unit.source.place],
            )
        variables[f"ARGOCD_ENV_{name}"] = unit.environment.substitute(variable.text("value"))
    parameters = [parameter.data for parameter in fields.items("parameters")]
    variables["ARGOCD_APP_PARAMETERS"] = json.dumps(parameters)
    for given in fields.items("parameters"):
        parameter = f"PARAM_{_plain(given.required('name'))}"
        if "string" in given:
            variables[parameter] = given.text("string")
        for key, value in given.text_map("map").items():
            variables[f"{parameter}_{_plain(key)}"] = value
        for number, value in enumerate(given.texts("array")):
            variables[f"{parameter}_{number}"] = value
    if any("\0" in value for value in variables.values()):
        raise InputError(
            "CMD-ARGO-103",
            "a value for the plugin contains a null character",
            hint="remove the character",
            locations=[unit.source.place],
        )
    return variables


def _plain(name: str) -> str:
    return _OTHER.sub("_", name.upper())
