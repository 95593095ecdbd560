"""Compare the template engine with real helm on many generated templates.

    .venv/bin/python -m bench.gotemplate --pairs 100000 --seed 7

Prints how many pairs were tried and every difference; exits with 1 if there is one. Helm stops at the first template
that fails, so templates that we refuse cost a call each: helm is asked about one of ``--asked`` of them.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.base.gotemplate.helm_oracle import Tally, compare
from tests.base.gotemplate.pairs import make

ROOT = Path(__file__).parents[1]
_CHUNK = 2000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--asked", type=int, default=100)
    parser.add_argument("--helm", default=str(ROOT / ".tools" / "helm"))
    options = parser.parse_args()
    total = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, options.pairs, _CHUNK):
            pairs = [make(options.seed, number) for number in range(start, min(start + _CHUNK, options.pairs))]
            tally = compare(pairs, options.helm, Path(folder) / "c", asked=options.asked)
            total.ran += tally.ran
            total.failed += tally.failed
            total.skipped += tally.skipped
            total.differences += tally.differences
            for difference in tally.differences:
                print(difference)
    print(
        f"{options.pairs} pairs, seed {options.seed}: {total.ran} run with the same output, {total.failed} refused"
        f" with the same error, {total.skipped} refused by us and not asked about, {len(total.differences)} differences"
    )
    return 1 if total.differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
