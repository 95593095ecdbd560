"""Run as a program of its own: renders templates with cookiecutter, which changes the current directory and may run
code of the template. Reads jobs from standard input, and writes what came of them to the file that is its argument.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


class _Given(str):
    """A text of an author or of `.cruft.json`. Cookiecutter would render it as if it were the template's own."""


def _given(value: Any) -> Any:
    if isinstance(value, str):
        return _Given(value)
    if isinstance(value, dict):
        return {_given(key): _given(one) for key, one in value.items()}
    return [_given(one) for one in value] if isinstance(value, list) else value


def _take_given_texts_as_they_are() -> None:
    from cookiecutter import prompt

    rendered = prompt.render_variable
    prompt.render_variable = lambda env, raw, known: str(raw) if isinstance(raw, _Given) else rendered(env, raw, known)


def render(job: dict[str, Any]) -> dict[str, Any]:
    """Render one template; returns its context and the folder that was made."""
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
    try:
        answer: dict[str, Any] = {"done": [render(job) for job in json.load(sys.stdin)]}
    except Exception as error:  # a template may fail in any way; the parent process reports it
        answer = {"error": f"{type(error).__name__}: {error}"}
    Path(sys.argv[1]).write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
