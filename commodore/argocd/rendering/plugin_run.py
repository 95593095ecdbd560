"""Running the program of a config management plugin, as a policy of the user allows it.

It sees a copy of the source and what programs need to run at all: no network, no other process, no other file, and no
variable but those that Argo CD gives to plugins. What it writes is gone in the end.
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
    """The objects that a plugin's program gives for a source.

    Raises:
        PolicyError: CMD-ARGO-423, the program is another one than the policy means, or cannot be kept apart here;
            CMD-ARGO-420, the source sets a variable that the policy does not let through; CMD-ARGO-403, it is given or
            writes too much.
        EnvironmentFault: CMD-ARGO-424, it fails; CMD-ARGO-413, it does not start; CMD-ARGO-418, it takes too long.
        InputError: CMD-ARGO-103, `plugin` of the source has a wrong type; CMD-ARGO-417, it writes what is no object.
    """
    program = rule.program
    assert program is not None
    if not isolation():
        raise PolicyError(
            "CMD-ARGO-423",
            f"the plugin {rule.name} is not run: this machine cannot keep it apart",
            hint="it takes Linux with user namespaces for all, or bubblewrap",
            locations=[unit.source.place],
        )
    command = _Command(unit, rule, _copy_of(program, rule, unit), _workplace(unit, program))
    environment = {**_surroundings(unit), **_variables(unit, program)}
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

    def __init__(self, unit: Unit, rule: PluginRule, program: Path, workplace: Path) -> None:
        self._unit = unit
        self._rule = rule
        self._program = str(program)
        self._root = str(workplace)
        self._folder = workplace / unit.folder.relative_to(unit.root)

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
                hint="it has no network, and sees the folder of the source and `paths` of its rule alone",
                locations=[self._unit.source.place],
            )
        return ended.output


def _copy_of(program: PluginProgram, rule: PluginRule, unit: Unit) -> Path:
    """A copy of the program, which is the one that the policy means, and which nothing changes any more."""
    place = unit.scratch / "program"
    try:
        content = Path(program.generate[0]).read_bytes()
    except OSError as error:
        raise EnvironmentFault(
            "CMD-ARGO-413",
            f"the program of the plugin {rule.name} does not start: {error.strerror}",
            hint=f"see that {program.generate[0]} is there",
        ) from error
    if hashlib.sha256(content).hexdigest() != program.digest:
        raise PolicyError(
            "CMD-ARGO-423",
            f"the plugin {rule.name} is not run: {program.generate[0]} is not the program whose digest the policy says",
            hint="compare it by sha256sum, and see who has changed it",
            locations=[rule.place or unit.source.place],
        )
    place.write_bytes(content)
    place.chmod(0o500)
    return place


def _workplace(unit: Unit, program: PluginProgram) -> Path:
    """A copy of what the program sees of the repository, without git's own folder and links that leave it."""
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
                continue  # it is copied with that
            check_inside(unit.root / part, unit.root, str(part))
            if (unit.root / part).is_dir():
                measure(unit.root / part, copy / part, rules)
            elif (unit.root / part).is_file():
                (copy / part).parent.mkdir(parents=True, exist_ok=True)
                (copy / part).write_bytes((unit.root / part).read_bytes())
    except Refused as error:
        raise PolicyError(
            "CMD-ARGO-403", "the source has more than a plugin is given", hint="split it, or name fewer paths"
        ) from error
    return copy


def _surroundings(unit: Unit) -> dict[str, str]:
    told = unit.capabilities
    return {
        "PATH": _PATH,
        "HOME": "/tmp/home",  # noqa: S108 - in memory, and of that process alone
        "TMPDIR": "/tmp",  # noqa: S108
        "LANG": "C.UTF-8",
        **unit.environment.variables,
        "ARGOCD_APP_SOURCE_REPO_URL": redact(unit.source.repo_url),
        "KUBE_VERSION": told.kube_version,
        "KUBE_API_VERSIONS": ",".join(told.api_versions),
    }


def _variables(unit: Unit, program: PluginProgram) -> dict[str, str]:
    """What the source sets, under names that nothing but a plugin reads."""
    fields = Fields.of(unit.source.data.get("plugin"), f"{unit.source.field}.plugin", unit.source.place)
    found: dict[str, str] = {}
    for one in fields.items("env"):
        name = one.required("name")
        if name not in program.env or not _NAME.fullmatch(name):
            raise PolicyError(
                "CMD-ARGO-420",
                f"the source sets {name!r} for its plugin, which the policy does not let through",
                hint="name it under env of the rule, if the program may be told it",
                locations=[unit.source.place],
            )
        found[f"ARGOCD_ENV_{name}"] = unit.environment.substitute(one.text("value"))
    parameters = [one.data for one in fields.items("parameters")]
    found["ARGOCD_APP_PARAMETERS"] = json.dumps(parameters)
    for given in fields.items("parameters"):
        parameter = f"PARAM_{_plain(given.required('name'))}"
        if "string" in given:
            found[parameter] = given.text("string")
        for key, value in given.text_map("map").items():
            found[f"{parameter}_{_plain(key)}"] = value
        for number, value in enumerate(given.texts("array")):
            found[f"{parameter}_{number}"] = value
    if any("\0" in value for value in found.values()):
        raise InputError(
            "CMD-ARGO-103",
            "a value for the plugin has a character that no variable can have",
            hint="take the null character out",
            locations=[unit.source.place],
        )
    return found


def _plain(name: str) -> str:
    return _OTHER.sub("_", name.upper())
