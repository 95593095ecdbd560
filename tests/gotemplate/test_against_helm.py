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
