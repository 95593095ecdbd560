"""Render a template at one or more commits into files in memory."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.authoring.templates import Template
from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError
from commodore.base.files import tree
from commodore.base.files.staging import temporary_folder
from commodore.base.files.workspace import is_inside
from commodore.base.printable import only_printable
from commodore.base.programs import running
from commodore.base.programs.child_processes import Child, child_environment
from commodore.core.sources.git import redact_text

PLAIN, EXECUTABLE, LINK = "100644", "100755", "120000"
_OUTPUT = 16 << 20  # bytes that a template's hooks may write to the terminal


@dataclass(frozen=True, slots=True)
class File:
    """A file in git: `mode` is one of `PLAIN`, `EXECUTABLE` and `LINK` (then `content` is its target)."""

    content: bytes
    mode: str = PLAIN

    @classmethod
    def read(cls, path: Path) -> File:
        if path.is_symlink():
            return cls(os.fsencode(os.readlink(path)), LINK)
        executable = bool(path.stat().st_mode & stat.S_IXUSR)
        return cls(path.read_bytes(), EXECUTABLE if executable else PLAIN)


@dataclass(frozen=True, slots=True)
class Rendering:
    """The output of a template: files by path (with `/`), and all its arguments, including derived ones."""

    files: Mapping[str, File]
    arguments: Mapping[str, Any]


def render(
    template: Template,
    requests: Sequence[tuple[str, Mapping[str, Any]]],
    context: Context,
    *,
    directory: str | None = None,
) -> list[Rendering]:
    """Render a template for pairs of commit and arguments, in one process.

    Args:
        directory: the folder of the template in its repository.

    Raises:
        InputError: the commit has no template, or the template cannot be rendered.
        EnvironmentFault: it takes too long, or its output is too large.
    """
    with temporary_folder() as root:
        jobs = []
        for number, (commit, arguments) in enumerate(requests):
            source, output = root / f"template-{number}", root / f"output-{number}"
            output.mkdir()
            template.write(commit, source)
            jobs.append(
                {
                    "template": str(_find(template, source, directory, commit)),
                    "output": str(output),
                    "arguments": {name: value for name, value in arguments.items() if not _is_setting(name)},
                    "marks": {"_template": template.url, "_commit": commit},
                }
            )
        done = _run(template, jobs, root / "answer.json", context)
        renderings = []
        for job, made in zip(jobs, done, strict=True):
            folder = Path(made["folder"])
            if not is_inside(folder, Path(str(job["output"]))):
                raise _broken(template, f"it writes to {folder}")
            renderings.append(Rendering(_read(template, folder, context), made["arguments"]))
        return renderings


def _is_setting(name: str) -> bool:
    """Check if an argument is for cookiecutter itself, like `_extensions`, whose value in the template is used."""
    return name.startswith("_") and not name.startswith("__")


def _find(template: Template, source: Path, directory: str | None, commit: str) -> Path:
    folder = source / directory if directory else source
    if not is_inside(folder, source) or not (folder / "cookiecutter.json").is_file():
        raise InputError(
            "CMD-TPL-022",
            f"the template {template.url} has no cookiecutter.json at commit {commit[:10]}",
            hint="use the URL of a cookiecutter template",
        )
    return folder


def _run(template: Template, jobs: list[dict[str, Any]], answer: Path, context: Context) -> list[dict[str, Any]]:
    temporary = answer.with_name("temporary")  # cookiecutter leaves rendered hooks there
    temporary.mkdir()
    command = [sys.executable, "-P", str(Path(__file__).with_name("_render.py")), str(answer)]
    environment = child_environment(Child.PYTHON)
    environment |= {"PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(temporary)}
    called = running.Command(command, environment, answer.parent, json.dumps(jobs).encode())
    seconds = context.limits.template_timeout
    try:
        ended = running.run(called, running.Bounds(seconds, _OUTPUT, _OUTPUT), context.cancellation)
    except running.OutOfBounds as hit:
        what = f"did not end within {seconds:g} seconds" if hit.bound == "seconds" else f"writes over {_OUTPUT} bytes"
        raise EnvironmentFault(
            "CMD-TPL-024", f"rendering the template {template.url} {what}", hint="check its hooks"
        ) from hit
    said = _last_words(ended.said) or _last_words(ended.output)
    if not answer.is_file():
        raise _broken(template, said or f"exit status {ended.code}")
    result = json.loads(answer.read_bytes())
    if "error" in result:
        raise _broken(template, result["error"] + (f" ({said})" if said else ""))
    done: list[dict[str, Any]] = result["done"]
    return done


def _read(template: Template, folder: Path, context: Context) -> dict[str, File]:
    files: dict[str, File] = {}
    size = 0
    repository = str(folder / ".git")
    for name, path in tree.files(folder, skip=lambda entry: entry.path == repository, links=True):
        file = files[name] = File.read(path)
        size += len(file.content)
        if len(files) > context.limits.template_files or size > context.limits.template_bytes:
            raise EnvironmentFault(
                "CMD-TPL-025",
                f"the template {template.url} makes more than {context.limits.template_files} files or "
                f"{context.limits.template_bytes >> 20} MiB",
                hint="check that it is the right template",
            )
    return dict(sorted(files.items()))


def _last_words(output: bytes) -> str:
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
    return _clean(lines[-1]) if lines else ""


def _clean(text: str) -> str:
    return redact_text(only_printable(text))


def _broken(template: Template, reason: str) -> InputError:
    return InputError(
        "CMD-TPL-023",
        f"the template {template.url} cannot be rendered: {_clean(reason)}",
        hint="report this to the template's authors; another version may work: --template-version",
    )
