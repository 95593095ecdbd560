"""Where parameters come from: the chain of class files that set one, replayed to prove it."""

from commodore.inventory.explain.explaining import Explaining, explain_parameter
from commodore.inventory.explain.model import (
    Contribution,
    Effect,
    Explanation,
    Origin,
    Outcome,
    Part,
    Reference,
    Source,
    agrees,
    replay,
)

__all__ = [
    "Contribution",
    "Effect",
    "Explaining",
    "Explanation",
    "Origin",
    "Outcome",
    "Part",
    "Reference",
    "Source",
    "agrees",
    "explain_parameter",
    "replay",
]
