"""Requirements of components: `jsonnetfile.jsonnet`, evaluated outside of the checkout, or `jsonnetfile.json`."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, Location, PolicyError, raise_all
from commodore.base.events import Warned
from commodore.base.files.workspace import is_inside
from commodore.base.printable import only_printable
from commodore.base.programs.python_children import ChildEnded
from commodore.base.programs.running import Bounds, OutOfBounds
from commodore.core.dependencies.bundle.jsonnetfile import FILE_NAME, JsonnetFile, parse_jsonnetfile, read_jsonnetfile
from commodore.core.render.jsonnet import JsonnetResult, JsonnetTask, evaluate_jsonnet
from commodore.core.sources.git import Git

SOURCE_NAME = "jsonnetfile.jsonnet"

_OUT_OF_MEMORY = (2, -signal.SIGABRT)  # exit statuses of the Go runtime


@dataclass(frozen=True, slots=True)
class Requirer:
    """A component that may require libraries.

    `folder` is the root of its repository. `variables` is its parameter `jsonnetfile_parameters`, passed as
    external variables. `name` is the component's, for messages.
    """

    name: str
    folder: Path
    variables: Mapping[str, object] = field(default_factory=dict)


def effective_jsonnetfiles(requirers: Sequence[Requirer], context: Context) -> list[JsonnetFile | None]:
    """Return the requirements of each component, in order; None for a component with neither file. Nothing is written.

    All `jsonnetfile.jsonnet` are evaluated in one child process. They override a tracked `jsonnetfile.json`.

    Raises:
        InputError: a variable is missing or not a string, a file cannot be evaluated, or is not a jsonnetfile.
        PolicyError: a file is a link that leads out of the repository.
        EnvironmentFault: the evaluation did not end in time.
        Findings: several of these.
    """
    rendered = [requirer for requirer in requirers if (requirer.folder / SOURCE_NAME).is_file()]
    errors: list[CommodoreError] = [
        _leads_out(requirer, name)
        for requirer in requirers
        for name in (SOURCE_NAME, FILE_NAME)
        if (requirer.folder / name).is_file() and not is_inside(requirer.folder / name, requirer.folder)
    ]
    for requirer in rendered:
        errors += _check_variables(requirer)
        if _tracks(requirer.folder, FILE_NAME, context):
            context.announce(_ignored(requirer))
    raise_all(errors)
    evaluated = _evaluate(rendered, context)
    result: list[JsonnetFile | None] = []
    for requirer in requirers:
        try:
            if requirer in rendered:
                result.append(_parse(requirer, evaluated[rendered.index(requirer)], context))
            elif (requirer.folder / FILE_NAME).is_file():
                result.append(read_jsonnetfile(requirer.folder / FILE_NAME, context.limits))
            else:
                result.append(None)
        except CommodoreError as error:
            errors.append(error)
    raise_all(errors)
    return result


def _check_variables(requirer: Requirer) -> list[CommodoreError]:
    return [
        InputError(
            "CMD-JB-020",
            f"the value of jsonnetfile_parameters.{key} of component {requirer.name} must be a string, found"
            f" {json.dumps(value, default=str)[:60]}",
            hint=f"put quotes around it: {key}: '{json.dumps(value)}'" if isinstance(value, int | float | bool) else "",
            locations=[str(requirer.folder / SOURCE_NAME)],
        )
        for key, value in requirer.variables.items()
        if not isinstance(value, str)
    ]


def _evaluate(rendered: Sequence[Requirer], context: Context) -> list[JsonnetResult]:
    if not rendered:
        return []
    limits = context.limits
    files = [
        JsonnetTask(
            str(requirer.folder / SOURCE_NAME),
            str(requirer.folder),
            ext_vars={name: str(value) for name, value in requirer.variables.items()},
        )
        for requirer in rendered
    ]
    bounds = Bounds(limits.jsonnetfile_timeout, memory=limits.jsonnetfile_memory)
    try:
        return evaluate_jsonnet(files, limits.input_file_bytes, bounds, context.cancellation)
    except OutOfBounds:
        raise _gave_up(rendered, f"it did not end within {bounds.seconds:g} seconds") from None
    except ChildEnded as ended:
        if ended.code in _OUT_OF_MEMORY:
            raise _gave_up(rendered, f"it takes more than {bounds.memory} bytes of memory") from None
        raise _gave_up(rendered, ended.last or f"it ended with status {ended.code}") from None


def _gave_up(rendered: Sequence[Requirer], reason: str) -> EnvironmentFault:
    return EnvironmentFault(
        "CMD-JB-022",
        f"the evaluation of {SOURCE_NAME} was aborted: {reason}",
        hint="check the named files for an endless recursion",
        locations=[str(requirer.folder / SOURCE_NAME) for requirer in rendered],
    )


def _parse(requirer: Requirer, evaluated: JsonnetResult, context: Context) -> JsonnetFile:
    source = str(requirer.folder / SOURCE_NAME)
    if evaluated.value is not None:
        return parse_jsonnetfile(evaluated.value.encode(), source, context.limits)
    refused = [
        f"the import of {name!r} {f'cannot be read: {why}' if why else 'is outside of the folder of the jsonnetfile'}"
        for name, why in evaluated.refused
    ]
    text = "\n".join([*refused, evaluated.complaint])  # the location follows
    match = re.search(re.escape(source) + r":\(?(\d+):(\d+)", text)
    place = Location(source, int(match[1]), int(match[2])) if match else Location(source)
    first = next(line for line in text.splitlines() if line.strip())
    message = re.sub(re.escape(source) + r"[:()\d-]*\s*", "", first).removeprefix("RUNTIME ERROR: ")
    message = only_printable(message)
    missing = re.search(r"Undefined external variable: (\S+)", message)
    raise InputError(
        "CMD-JB-021",
        f"{SOURCE_NAME} of component {requirer.name} cannot be evaluated: {message}",
        hint=f"set jsonnetfile_parameters.{missing[1]} in the component's parameters" if missing else "",
        locations=[place],
    )


def _tracks(folder: Path, name: str, context: Context) -> bool:
    """Check if the commit of the checkout `folder` has the file; False without a repository."""
    if not (folder / name).is_file():
        return False
    answer = Git(folder, context).run(["ls-tree", "--name-only", "HEAD", "--", name], check=False)
    return answer.returncode == 0 and answer.text == name


def _ignored(requirer: Requirer) -> Warned:
    return Warned(
        "CMD-JB-023",
        f"component {requirer.name} has both {SOURCE_NAME} and {FILE_NAME} in its repository; the first one is used",
        hint=f"remove {FILE_NAME} from the repository",
    )


def _leads_out(requirer: Requirer, name: str) -> PolicyError:
    return PolicyError(
        "CMD-JB-010",
        f"{name} of component {requirer.name} is a link that leads out of its repository",
        hint="replace the link by the file itself",
        locations=[str(requirer.folder / name)],
    )
