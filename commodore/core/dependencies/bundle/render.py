"""What a component requires: its `jsonnetfile.jsonnet`, rendered outside of the checkout, or its `jsonnetfile.json`."""

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

_OUT_OF_MEMORY = (2, -signal.SIGABRT)  # how the Go runtime ends then


@dataclass(frozen=True, slots=True)
class Requirer:
    """A component that may require libraries.

    `folder` is the root of its repository. `variables` is its parameter `jsonnetfile_parameters`, passed on as external
    variables whole. `name` is the component's, for messages.
    """

    name: str
    folder: Path
    variables: Mapping[str, object] = field(default_factory=dict)


def effective_jsonnetfiles(requirers: Sequence[Requirer], context: Context) -> list[JsonnetFile | None]:
    """What each component requires, in the order given; None for those with neither file. Nothing is written.

    All `jsonnetfile.jsonnet` are evaluated in one child process. One wins over a tracked `jsonnetfile.json` beside it.

    Raises:
        InputError: a variable is no string or missing, a file cannot be evaluated, or gives no jsonnetfile.
        PolicyError: a file is a link that leads out of the repository.
        EnvironmentFault: the evaluation did not end in time.
        Findings: several of these.
    """
    rendered = [one for one in requirers if (one.folder / SOURCE_NAME).is_file()]
    errors: list[CommodoreError] = [
        _leads_out(one, name)
        for one in requirers
        for name in (SOURCE_NAME, FILE_NAME)
        if (one.folder / name).is_file() and not is_inside(one.folder / name, one.folder)
    ]
    for one in rendered:
        errors += _check_variables(one)
        if _tracks(one.folder, FILE_NAME, context):
            context.announce(_ignored(one))
    raise_all(errors)
    evaluated = _evaluate(rendered, context)
    result: list[JsonnetFile | None] = []
    for one in requirers:
        try:
            if one in rendered:
                result.append(_parse(one, evaluated[rendered.index(one)], context))
            elif (one.folder / FILE_NAME).is_file():
                result.append(read_jsonnetfile(one.folder / FILE_NAME, context.limits))
            else:
                result.append(None)
        except CommodoreError as error:
            errors.append(error)
    raise_all(errors)
    return result


def _check_variables(one: Requirer) -> list[CommodoreError]:
    return [
        InputError(
            "CMD-JB-020",
            f"the value of jsonnetfile_parameters.{key} of component {one.name} must be a string, found"
            f" {json.dumps(value, default=str)[:60]}",
            hint=f"put quotes around it: {key}: '{json.dumps(value)}'" if isinstance(value, int | float | bool) else "",
            locations=[str(one.folder / SOURCE_NAME)],
        )
        for key, value in one.variables.items()
        if not isinstance(value, str)
    ]


def _evaluate(rendered: Sequence[Requirer], context: Context) -> list[JsonnetResult]:
    if not rendered:
        return []
    limits = context.limits
    files = [
        JsonnetTask(
            str(one.folder / SOURCE_NAME),
            str(one.folder),
            ext_vars={name: str(value) for name, value in one.variables.items()},
        )
        for one in rendered
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
        f"the evaluation of {SOURCE_NAME} was given up: {reason}",
        hint="check the named files for an endless recursion",
        locations=[str(one.folder / SOURCE_NAME) for one in rendered],
    )


def _parse(one: Requirer, evaluated: JsonnetResult, context: Context) -> JsonnetFile:
    source = str(one.folder / SOURCE_NAME)
    if evaluated.value is not None:
        return parse_jsonnetfile(evaluated.value.encode(), source, context.limits)
    refused = [
        f"the import of {name!r} {f'cannot be read: {why}' if why else 'is outside of the folder of the jsonnetfile'}"
        for name, why in evaluated.refused
    ]
    text = "\n".join([*refused, evaluated.complaint])  # the place follows
    found = re.search(re.escape(source) + r":\(?(\d+):(\d+)", text)
    place = Location(source, int(found[1]), int(found[2])) if found else Location(source)
    first = next(line for line in text.splitlines() if line.strip())
    message = re.sub(re.escape(source) + r"[:()\d-]*\s*", "", first).removeprefix("RUNTIME ERROR: ")
    message = only_printable(message)
    missing = re.search(r"Undefined external variable: (\S+)", message)
    raise InputError(
        "CMD-JB-021",
        f"{SOURCE_NAME} of component {one.name} cannot be evaluated: {message}",
        hint=f"set jsonnetfile_parameters.{missing[1]} in the component's parameters" if missing else "",
        locations=[place],
    )


def _tracks(folder: Path, name: str, context: Context) -> bool:
    """Whether the commit that `folder` is a checkout of holds the file; false where there is no repository."""
    if not (folder / name).is_file():
        return False
    answer = Git(folder, context).run(["ls-tree", "--name-only", "HEAD", "--", name], check=False)
    return answer.returncode == 0 and answer.text == name


def _ignored(one: Requirer) -> Warned:
    return Warned(
        "CMD-JB-023",
        f"component {one.name} has both {SOURCE_NAME} and {FILE_NAME} in its repository; the first one counts",
        hint=f"remove {FILE_NAME} from the repository",
    )


def _leads_out(one: Requirer, name: str) -> PolicyError:
    return PolicyError(
        "CMD-JB-010",
        f"{name} of component {one.name} is a link that leads out of its repository",
        hint="put the file itself there",
        locations=[str(one.folder / name)],
    )
