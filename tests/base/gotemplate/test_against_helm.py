"""Templates against real helm. `bench/gotemplate.py` compares many more."""

from __future__ import annotations

import base64
import json
import random
import subprocess
from pathlib import Path
from typing import Any

from commodore.base.gotemplate import to_yaml
from tests.base.gotemplate.helm_oracle import compare
from tests.base.gotemplate.pairs import make
from tests.conftest import ROOT


def test_generated_templates_give_what_helm_gives(tmp_path: Path) -> None:
    pairs = [make(1, index) for index in range(1200)]
    tally = compare(pairs, str(ROOT / ".tools" / "helm"), tmp_path / "chart", asked=50)
    assert tally.differences == []
    assert tally.ran > 500
    assert tally.failed >= 5


PARTS = (
    "{{ split (substr 3 10 .s) .s }}|{{ splitList (substr 3 4 .s) .s }}|{{ splitn (substr 3 4 .s) 2 .s }}",
    '{{ replace (substr 3 10 .s) "x" .s | quote }}|{{ replace "é" (trunc 1 .s) .s }}|{{ contains (substr 3 4 .s) .s }}',
    "{{ hasSuffix (substr 3 10 .s) .s }}|{{ hasPrefix (trunc 1 .s) .s }}|{{ trimPrefix (trunc 1 .s) .s | quote }}",
    '{{ trimSuffix (substr 3 10 .s) .s | quote }}|{{ camelcase (printf "ab_%scd" (trunc 1 .s)) }}',
)
LOOPS = (
    "{{ range .items }}a{{ range $.none }}{{ else }}b{{ break }}c{{ end }}d{{ end }}",
    "{{ range .items }}a{{ range $.none }}{{ else }}b{{ continue }}c{{ end }}d{{ end }}",
    "{{ range .items }}a{{ range $x := $.none }}{{ else }}{{ $y := 1 }}{{ break }}{{ end }}{{ . }}{{ else }}x{{ end }}",
)


def test_cut_characters_and_loops_that_end_early_give_what_helm_gives(tmp_path: Path) -> None:
    values = {"s": "éü中", "items": [1, 2], "none": []}
    pairs = [(template, values) for template in (*PARTS, *LOOPS)]
    tally = compare(pairs, str(ROOT / ".tools" / "helm"), tmp_path / "chart", asked=1)
    assert (tally.differences, tally.ran) == ([], len(pairs))


WORDS = (  # noqa: SIM905 - a literal would take eighty lines
    "y no ON off true ~ null 012 0o12 0x1F 1_000 1e3 1.5 .5 .inf 2024-01-02 2024-01-02T03:04:05Z 12:30:45 - -- "
    "--- ... : ? # a: :a a#b 'a' \"b\" é 中 😀 {{ }} [ ] , & * ! | > % @ ` = << 1e309 123456789012345678901234567890 "
    "0b11 +1 1. -a ?a /a/b http://x.y/z \\ \a \t \xa0 0 00 -0 09 0o8 0xG"
).split(" ")


def value(chance: random.Random, depth: int = 0) -> Any:
    """A value of JSON with texts that YAML has to quote, to fold, or to write as blocks."""
    kind = chance.random()
    if depth < 3 and kind < 0.5:
        several = [value(chance, depth + 1) for _ in range(chance.randrange(4))]
        return several if kind < 0.2 else {f"{chance.choice('abé')}{chance.randrange(12)}": item for item in several}
    if kind < 0.6:
        return chance.choice([None, True, 0, -1, 1e6, 1.5, 1e21, 1e-7, 123456789.5, 2**53, 1.2345e19, 1.2e20])
    if kind < 0.75:
        return "\n".join(chance.choice(["", "a", " b", "c ", "x y"]) for _ in range(chance.randrange(1, 5)))
    blank = chance.choice([" ", " ", "  "])
    return blank.join(chance.choice(WORDS) for _ in range(chance.choice([0, 1, 1, 1, 3, 40])))


def test_yaml_is_what_helm_writes(tmp_path: Path) -> None:
    """Values that are generated, all in one call; helm reads them from JSON, as Argo CD does parameters."""
    chance = random.Random(1)
    values = [{word: word, "x": value(chance)} for word in (*WORDS, *map(str, range(300))) if word != "<<"]
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 1.0.0\n")
    texts = [base64.b64encode(json.dumps(item).encode()).decode() for item in values]
    (tmp_path / "values.yaml").write_text(json.dumps({"texts": texts}))
    template = "all:\n{{- range .Values.texts }}\n- {{ b64dec . | fromJson | toYaml | b64enc | quote }}\n{{- end }}\n"
    (tmp_path / "templates" / "all.yaml").write_text(template)
    command = [str(ROOT / ".tools" / "helm"), "template", str(tmp_path)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    theirs = [base64.b64decode(line[3:-1]).decode() for line in lines if line.startswith('- "')]
    assert [to_yaml(json.loads(json.dumps(item), parse_int=float)) for item in values] == theirs
