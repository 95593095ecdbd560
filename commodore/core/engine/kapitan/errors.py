"""Convert exceptions of Kapitan's inputs to errors with the entry, the file, and the tool's own reason."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
import traceback
from dataclasses import dataclass

import jinja2
from kapitan.errors import (
    CuelangTemplateError,
    HelmTemplateError,
    KustomizeTemplateError,
    RefBackendError,
    RefError,
    RefHashMismatchError,
)

from commodore.base.errors import CommodoreError, EnvironmentFault, Findings, InputError, Location, Setting
from commodore.base.exhaustion import find_exhaustion, find_in_output
from commodore.base.yaml.helm_errors import endless_template
from commodore.core.engine.cache.static_key import WRAPPER
from commodore.core.engine.jsonnet.go import JsonnetError
from commodore.core.engine.kapitan.patches import CommandError
from commodore.core.render.kustomize_errors import read_kustomize_failure
from commodore.core.sources.git import redact

_TAG = re.compile(r"\?\{[^}]*\}")
_NOT_EXECUTABLE = 126
_COMMAND_NOT_FOUND = (_NOT_EXECUTABLE, 127)
_KUSTOMIZE_WRAPPER_FINDS_NOTHING = 7
_IMPORT_HINT = "name its repository in the component's jsonnetfile.json, or include the component that publishes it"
_JSONNET_HINT = "the first place is where it failed, those below it are where it was called from"
_ENTRY_HINT = "correct the entry in `parameters.kapitan.compile`, or the file that it names"


@dataclass(frozen=True, slots=True)
class EntryPlace:
    """An entry of `parameters.kapitan.compile`. Its text begins every message about it."""

    instance: str
    index: int
    input_type: str
    output_path: str

    def __str__(self) -> str:
        return (
            f"instance {self.instance!r}, compile entry {self.index} ({self.input_type} to {self.output_path or '.'})"
        )

    def setting(self, *keys: str | int) -> Setting:
        """Return the location of the entry, or a field of it, in class files."""
        path = ("kapitan", "compile", self.index, *keys)
        return Setting(f"{self.instance}: parameters.kapitan.compile[{self.index}]", path=path, target=self.instance)


def explain(error: Exception, place: EntryPlace, path: str) -> CommodoreError:
    """Convert an exception like `explain_cause`, and add the location of the entry in the class files."""
    fault = explain_cause(error, place, path)
    errors = fault.errors if isinstance(fault, Findings) else (fault,)
    if any(isinstance(at, Setting) for part in errors for at in part.locations):
        return fault
    return fault.about(at=[place.setting()])


def explain_cause(error: Exception, place: EntryPlace, path: str) -> CommodoreError:
    """Convert an exception of an entry to an error.

    Args:
        error: the exception, with its causes.
        place: the entry.
        path: the current input file or folder, or an empty string.
    """
    chain = _causes(error)
    at = [Location(path)] if path and path != str(WRAPPER) else []
    fault = find_exhaustion(error, str(place)) or find_in_output(_tool_output(chain), str(place))
    if fault is not None:
        return fault.about(at=at)
    for cause in chain:
        if isinstance(cause, CommodoreError):
            return _placed(cause, place, at)
        if isinstance(cause, JsonnetError):
            where = cause.locations or tuple(at)
            hint = _IMPORT_HINT if cause.message.startswith("cannot find the import") else _JSONNET_HINT
            return InputError("CMD-ENG-015", f"{place}: {cause.message}", hint=hint, locations=where)
    for explainer in (_explain_missing_tool, _explain_kustomize, _explain_tool, _explain_template, _explain_reference):
        for cause in chain:
            explained = explainer(cause, place, at)
            if explained is not None:
                return explained
    if place.input_type == "kadet":
        return _explain_kadet(chain, place, at)
    root = chain[-1]
    return InputError("CMD-ENG-022", f"{place}: {_text(root)}", hint=_ENTRY_HINT, locations=at)


def _tool_output(chain: list[BaseException]) -> str:
    """Return the error output of a failed tool."""
    failures = (cause for cause in chain if isinstance(cause, _TOOLS))
    return next((cause.stderr if isinstance(cause, CommandError) else str(cause) for cause in failures), "")


_TOOLS = (CommandError, HelmTemplateError, KustomizeTemplateError, CuelangTemplateError)


def _causes(error: BaseException) -> list[BaseException]:
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    return chain


def _placed(error: CommodoreError, place: EntryPlace, at: list[Location]) -> CommodoreError:
    """Add the entry to an error that does not name an instance."""
    if error.message.startswith("instance "):
        return error
    return error.about(str(place), at=at)


def _text(error: BaseException) -> str:
    text = str(error).strip()
    return text if isinstance(error, OSError | ValueError) and text else f"{type(error).__name__}: {text}"


def _explain_missing_tool(error: BaseException, place: EntryPlace, at: list[Location]) -> CommodoreError | None:
    text = str(error)
    tool = ""
    if isinstance(error, HelmTemplateError) and text.startswith("helm binary not found"):
        tool = "helm"
    elif isinstance(error, FileNotFoundError) and place.input_type in ("kustomize", "cuelang") and error.filename:
        tool = error.filename if error.filename in ("kustomize", "cue") else ""
    elif isinstance(error, CommandError) and (
        error.status in _COMMAND_NOT_FOUND or (error.status == _KUSTOMIZE_WRAPPER_FINDS_NOTHING and error.kustomization)
    ):
        hint = _EXECUTABLE if error.status == _NOT_EXECUTABLE else _INSTALL
        return EnvironmentFault("CMD-ENG-016", f"{place}: {tail(error.stderr)}", locations=at, hint=hint)
    if not tool:
        return None
    return EnvironmentFault("CMD-ENG-016", f"{place}: the program {tool!r} was not found", locations=at, hint=_INSTALL)


_EXECUTABLE = "make the file executable (chmod +x), and let its first line name a program that is installed"
_INSTALL = "install it (for helm and kustomize see 'commodore tool install --help'), or put its folder into PATH"


def _explain_tool(error: BaseException, place: EntryPlace, at: list[Location]) -> CommodoreError | None:
    text = str(error)
    if isinstance(error, HelmTemplateError):
        if text.startswith("Helm command timed out"):
            return EnvironmentFault(
                "CMD-ENG-017",
                f"{place}: helm did not finish in time",
                hint="look for templates that include themselves; else raise KAPITAN_HELM_TIMEOUT (seconds)",
                locations=at,
            )
        return InputError(
            "CMD-ENG-018",
            f"{place}: {endless_template(text) or tail(text)}",
            hint="correct the chart, or the values that the entry gives it",
            locations=[*_in_chart(text, at), *at],
        )
    if isinstance(error, CuelangTemplateError):
        output = text.partition(": ")[2] if ": " in text else text
        return InputError(
            "CMD-ENG-019", f"{place}: {tail(output)}", hint="try the same call in the folder named", locations=at
        )
    if isinstance(error, CommandError):
        status = f"exit code {error.status}" if error.status > 0 else f"signal {-error.status}"
        return InputError(
            "CMD-ENG-020",
            f"{place}: the command failed ({status}): {tail(error.stderr)}",
            hint="run the command manually to see its whole output; commands of components run without network and with"
            " their own files only, unless the trust policy has `isolated = false`",
            locations=at,
        )
    return None


def _in_chart(output: str, at: list[Location]) -> list[Location]:
    """Return the line of the chart's template in helm's output, which names the folder like the chart."""
    match = _TEMPLATE_LINE.search(output)
    if match is None or not at:
        return []
    file = os.path.join(at[0].place, match["file"])
    column = int(match["column"]) if match["column"] else None
    return [Location(file, int(match["line"]), column)] if os.path.isfile(file) else []


_TEMPLATE_LINE = re.compile(r"[\w.-]+/(?P<file>[\w./-]*\btemplates/[^\s:()]+):(?P<line>\d+)(?::(?P<column>\d+))?")


def _explain_kustomize(error: BaseException, place: EntryPlace, at: list[Location]) -> CommodoreError | None:
    """Return an error with the kustomization that failed, and its resource."""
    if isinstance(error, KustomizeTemplateError):
        built = at[0].place if at else ""
        # Kapitan builds a copy of the folder, in a temporary folder
        copies = re.compile(
            rf"({re.escape(tempfile.gettempdir())}|{re.escape(os.path.realpath(tempfile.gettempdir()))})/[^/]+/"
        )
        output = copies.sub(
            lambda _: os.path.join(os.path.dirname(built), ""), str(error).partition(": ")[2] or str(error)
        )
    elif isinstance(error, CommandError) and error.kustomization:
        built, output = error.kustomization, error.stderr
    else:
        return None
    failure = read_kustomize_failure(tail(output))
    folder = failure.folder or built
    resource = os.path.normpath(os.path.join(folder, failure.resource)) if failure.resource else folder
    hint = f"`kustomize build {shlex.quote(redact(built))}` shows all of it"
    if isinstance(error, KustomizeTemplateError) and not f"{resource}/".startswith(f"{built}/"):
        resource, hint = folder, _NOT_COPIED
    where = resource if os.path.isfile(resource) else folder
    return InputError("CMD-ENG-019", f"{place}: kustomize: {failure.reason}", hint=hint, locations=[redact(where)])


_NOT_COPIED = (
    "this input type builds a copy of its folder, without the files around it; the kustomize wrapper builds it in place"
)


def tail(text: str) -> str:
    """Extract the reason from a tool's error output, on one line: all from the first line that begins with `Error`,
    with its indented continuation lines, else the last lines.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("Use --debug")]
    begin = next((place for place, line in enumerate(lines) if line.lower().startswith(("error", "fatal"))), None)
    reason = ""
    for line in lines[-3:] if begin is None else lines[begin:]:
        continues = (line[0].isspace() and begin is not None) or reason.endswith(":")
        reason += f"{'' if not reason else ' ' if continues else '; '}{line.strip()}"
    return re.sub(r"^[Ee]rror: ", "", reason) or "it printed no message"


def _explain_template(error: BaseException, place: EntryPlace, at: list[Location]) -> CommodoreError | None:
    if not isinstance(error, jinja2.TemplateError):
        return None
    where = list(at)
    if isinstance(error, jinja2.TemplateSyntaxError):
        where.insert(0, Location(error.filename or error.name or "template", error.lineno))
    else:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.name in _TEMPLATE_FRAMES]
        if frames:
            where.insert(0, Location(frames[-1].filename, frames[-1].lineno))
    places = [location for location in where if location.line is not None or location.place != where[0].place]
    return InputError("CMD-ENG-021", f"{place}: {error}", hint=_ENTRY_HINT, locations=places or where)


_TEMPLATE_FRAMES = ("top-level template code", "template", "<module>")


def _explain_reference(error: BaseException, place: EntryPlace, at: list[Location]) -> CommodoreError | None:
    if not isinstance(error, RefError | RefBackendError | RefHashMismatchError):
        return None
    tag = _TAG.search(str(error))
    named = f"the reference {tag.group()}" if tag else "a reference"
    return InputError(
        "CMD-ENG-023",
        f"{place}: {named} cannot be resolved: {str(error).splitlines()[0]}",
        hint="a reference that only a template contains has no file in catalog/refs; add it to the parameters",
        locations=at,
    )


def _explain_kadet(chain: list[BaseException], place: EntryPlace, at: list[Location]) -> CommodoreError:
    """Return the error of a module: its own exception, and the deepest frame in the module's folder."""
    root = chain[-1]
    where = list(at)
    for error in reversed(chain):
        frames = [f for f in traceback.extract_tb(error.__traceback__) if at and f.filename.startswith(at[0].place)]
        if frames:
            where.insert(0, Location(frames[-1].filename, frames[-1].lineno))
            break
    return InputError(
        "CMD-ENG-024",
        f"{place}: {type(root).__name__}: {root}",
        hint="the first place is the line of the module that failed",
        locations=where,
    )
