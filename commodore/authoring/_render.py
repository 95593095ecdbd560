"""Script that renders templates with cookiecutter, which changes the current directory and may run code of the
template. It reads jobs from standard input, and writes the results to the file of its argument.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


class _Given(str):
    """A text of an author or of `.cruft.json`, which cookiecutter must not render as a template."""


def _given(value: Any) -> Any:
    if isinstance(value, str):
        return _Given(value)
    if isinstance(value, dict):
        return {_given(key): _given(item) for key, item in value.items()}
    return [_given(item) for item in value] if isinstance(value, list) else value


def _take_given_texts_as_they_are() -> None:
    from cookiecutter import prompt

    rendered = prompt.render_variable
    prompt.render_variable = lambda env, raw, known: str(raw) if isinstance(raw, _Given) else rendered(env, raw, known)


def _keep_names_inside() -> None:
    """Refuse rendered names of files and folders that lead out of the output folder."""
    from cookiecutter import generate

    make_file, make_folder = generate.generate_file, generate.render_and_create_dir

    def checked_file(project_dir: str, infile: str, context: Any, env: Any, *others: Any, **options: Any) -> None:
        _check_inside(str(project_dir), env.from_string(infile).render(**context), infile)
        make_file(project_dir, infile, context, env, *others, **options)

    def checked_folder(dirname: str, context: Any, output_dir: Any, environment: Any, *others: Any) -> Any:
        _check_inside(str(output_dir), environment.from_string(dirname).render(**context), dirname)
        return make_folder(dirname, context, output_dir, environment, *others)

    generate.generate_file, generate.render_and_create_dir = checked_file, checked_folder


def _check_inside(folder: str, name: str, template: str) -> None:
    real = os.path.realpath(os.path.join(folder, name))
    if not real.startswith(os.path.join(os.path.realpath(folder), "")) and real != os.path.realpath(folder):
        raise ValueError(f"the name {template!r} becomes {name!r}, which leads out of the output folder")


def render(job: dict[str, Any]) -> dict[str, Any]:
    """Render one template. Returns its context and the output folder."""
    from cookiecutter.generate import generate_context, generate_files
    from cookiecutter.prompt import prompt_for_config

    context = generate_context(
        str(Path(job["template"], "cookiecutter.json")), default_context={}, extra_context=_given(job["arguments"])
    )
    context["cookiecutter"] = prompt_for_config(context, no_input=True)
    context["cookiecutter"].update(job["marks"])
    folder = generate_files(repo_dir=job["template"], context=context, output_dir=job["output"])
    return {"arguments": context["cookiecutter"], "folder": str(folder)}


def main() -> None:
    """Render all jobs."""
    _take_given_texts_as_they_are()
    _keep_names_inside()
    try:
        answer: dict[str, Any] = {"done": [render(job) for job in json.load(sys.stdin)]}
    except Exception as error:  # a template may fail in any way; the parent process reports it
        answer = {"error": f"{type(error).__name__}: {error}"}
    Path(sys.argv[1]).write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
