"""The page of decisions has every reason that the planner can give, with its kind, in the order of the table."""

from __future__ import annotations

import re
from pathlib import Path

from commodore.observe.origins import FREIGHT_ROWS
from commodore.observe.table import STAGE_ROWS

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "reference" / "observe-decisions.md"
ROW = re.compile(r"^\| `(\w+)` \| (none|wait|blocked|promote) \|", re.MULTILINE)
VERDICT = re.compile(r"Verdict\(\s*\"(\w+)\", \"(\w+)\"|(blocked)\(\s*\"(\w+)\"|kind=\"(\w+)\", reason=\"(\w+)\"")


def given() -> set[tuple[str, str]]:
    """The reasons that the source gives, with their kinds."""
    results = {("PreviouslyAborted", "blocked"), ("PreviouslyFailed", "blocked")}  # one of both, by the phase
    for module in ("table", "origins"):
        text = (ROOT / "commodore" / "observe" / f"{module}.py").read_text(encoding="utf-8")
        for match in VERDICT.finditer(text):
            kind, reason = [group for group in match.groups() if group]
            results.add((reason, kind))
    return results


def test_every_reason_is_on_the_page() -> None:
    assert set(ROW.findall(PAGE.read_text(encoding="utf-8"))) == given()


def test_the_page_has_the_order_of_the_table() -> None:
    reasons = [reason for reason, _ in ROW.findall(PAGE.read_text(encoding="utf-8"))]
    rows = [reason for reason, _ in (*STAGE_ROWS, *FREIGHT_ROWS)]
    assert [reason for reason in reasons if reason in rows] == [
        "StageDeleting" if reason == "ApplicationDeleting" else reason for reason in rows
    ]


EVENT = re.compile(r"\"((?:Promotion|AuthorizedStage|DryRunPromotion)[A-Z]?[a-z]+[A-Za-z]*)\"")


def test_every_event_of_its_own_is_on_the_page() -> None:
    source = (ROOT / "commodore" / "observe" / "cluster" / "controller.py").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "how-to" / "observe-kargo.md").read_text(encoding="utf-8")
    reasons = set(EVENT.findall(source))
    assert "PromotionsLimited" in reasons
    assert reasons <= set(re.findall(r"`(\w+)`", page)) | {reason for reason, _ in given()}
