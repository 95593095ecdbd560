"""Everything that real helm makes of templates: hundreds of them in one chart and one call."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.base.gotemplate import LimitProblem, RefusedFunction, Template, TemplateProblem

Pair = tuple[str, dict[str, Any]]
_BATCH = 300
_EXEMPT = re.compile(r"(?s)b(64|32)dec.*(kebab|snake|camel)case")  # of bytes that are no UTF-8, see the reference
_OWN = {"fromJson": "mustFromJson"}  # helm has its own functions of these names


@dataclass
class Tally:
    """Anything that was compared."""

    ran: int = 0  # templates that both run
    failed: int = 0  # templates that both refuse
    skipped: int = 0  # templates that we refuse and helm was not asked about
    differences: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Ours:
    """Everything that we make of a template."""

    output: str
    error: str


def ours(template: str, values: dict[str, Any]) -> Ours | None:
    """Our own result; keys are missing as helm has it. None of what we refuse on purpose."""
    try:
        return Ours(Template(template).render(json.loads(json.dumps(values), parse_int=float), missing="zero"), "")
    except (RefusedFunction, LimitProblem):
        return None
    except TemplateProblem as problem:
        return Ours("", problem.text)


def compare(pairs: list[Pair], helm: str, folder: Path, *, asked: int = 1) -> Tally:
    """Compare our results with helm's.

    Args:
        pairs: templates with values.
        helm: the program.
        folder: where charts are written.
        asked: of so many templates that we refuse helm is asked about one; it takes a call for each.
    """
    tally = Tally()
    sound: list[tuple[Pair, str]] = []
    refused = 0
    for template, values in pairs:
        if _EXEMPT.search(template):
            tally.skipped += 1
            continue
        text = re.sub(r"\b(" + "|".join(_OWN) + r")\b", lambda match: _OWN[match[1]], template)
        result = ours(text, values)
        if result is None:
            tally.skipped += 1
        elif not result.error:
            sound.append(((text, values), result.output))
        elif refused % asked:
            refused += 1
            tally.skipped += 1
        else:
            refused += 1
            _one_refused((text, values), result.error, helm, folder, tally)
    for start in range(0, len(sound), _BATCH):
        _batch(sound[start : start + _BATCH], helm, folder, tally)
    return tally


def _one_refused(pair: Pair, error: str, helm: str, folder: Path, tally: Tally) -> None:
    results, said = _call([pair], helm, folder)
    if results is not None:
        tally.differences.append(f"{pair}: helm gives {results[0]!r}, we say {error}")
    elif not all(part in " ".join(said.split()) for part in _parts(error)):
        tally.differences.append(f"{pair}: helm says {said!r}, we say {error}")
    else:
        tally.failed += 1


def _parts(error: str) -> list[str]:
    """The parts of an error that do not name the template: place, code, message. Helm breaks lines between them."""
    match = re.match(r'(?s)template: base:(\d+(?::\d+)?): (?:executing "[^"]*" at )?(<.*?>: )?(.*)', error)
    assert match is not None, error
    parts = [f":{match[1]}", match[2] or "", *match[3].split(": ")]
    return [" ".join(part.split()) for part in parts]


def _batch(sound: list[tuple[Pair, str]], helm: str, folder: Path, tally: Tally) -> None:
    while sound:
        results, said = _call([pair for pair, _ in sound], helm, folder)
        if results is not None:
            for (pair, output), theirs in zip(sound, results, strict=True):
                if output == theirs:
                    tally.ran += 1
                else:
                    tally.differences.append(f"{pair}: helm gives {theirs!r}, we {output!r}")
            return
        named = re.findall(r"_t(\d+)\.tpl", said)
        assert named, said
        bad = int(named[-1])
        pair, output = sound.pop(bad)
        tally.differences.append(f"{pair}: helm says {said!r}, we give {output!r}")


def _call(pairs: list[Pair], helm: str, folder: Path) -> tuple[list[str] | None, str]:
    """Everything that helm prints for each template, or None and its error."""
    templates = folder / "templates"
    templates.mkdir(parents=True, exist_ok=True)
    for old in templates.iterdir():
        old.unlink()
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 1.0.0\n")
    lines = []
    for index, (template, _) in enumerate(pairs):
        (templates / f"_t{index}.tpl").write_bytes(template.encode())
        lines.append(
            f'r{index}: {{{{ include "c/templates/_t{index}.tpl" ($.Values.v{index} | fromJson) | b64enc | quote }}}}\n'
        )
    (templates / "all.yaml").write_text("".join(lines))
    values = {f"v{index}": json.dumps(value) for index, (_, value) in enumerate(pairs)}
    (folder / "values.yaml").write_text(json.dumps(values))
    done = subprocess.run(
        [helm, "template", str(folder)], capture_output=True, text=True, errors="surrogateescape", check=False
    )
    if done.returncode:
        return None, done.stderr
    matches = dict(re.findall(r'^r(\d+): "([^"]*)"', done.stdout, re.MULTILINE))
    return [base64.b64decode(matches[str(index)]).decode("utf-8", "surrogateescape") for index in range(len(pairs))], ""
