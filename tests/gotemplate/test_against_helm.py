"""Templates against real helm. `bench/gotemplate.py` compares many more."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import ROOT
from tests.gotemplate.helm_oracle import compare
from tests.gotemplate.pairs import make


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
