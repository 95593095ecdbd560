"""Helpers of `new` and `update`: parsing of options to choices, and output of results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from commodore.authoring import Choices

_SWITCHES = {
    "golden_tests": "add_golden",
    "matrix_tests": "add_matrix",
    "lib": "add_lib",
    "pp": "add_pp",
    "automerge_patch": "automerge_patch",
    "automerge_patch_v0": "automerge_patch_v0",
    "autorelease": "auto_release",
}


def read_choices(values: Mapping[str, Any]) -> Choices:
    """The choices that the options of a command line stand for."""
    from commodore.authoring import MINOR_ALLOW, PATCH_BLOCK, PATCH_V0_ALLOW, Choices, depname

    lists = {"patch_block": PATCH_BLOCK, "patch_v0_allow": PATCH_V0_ALLOW, "minor_allow": MINOR_ALLOW}

    def patterns(action: str) -> dict[str, tuple[str, ...]]:
        return {
            argument: (
                *map(depname, values.get(f"{action}_{name}_depname", ())),
                *values.get(f"{action}_{name}_pattern", ()),
            )
            for name, argument in lists.items()
        }

    return Choices(
        copyright_holder=values["copyright"],
        update_copyright_year=values.get("update_copyright_year", False),
        switches={argument: values[option] for option, argument in _SWITCHES.items() if option in values},
        add_cases=values["additional_test_case"],
        remove_cases=values.get("remove_test_case", ()),
        add_patterns=patterns("add"),
        remove_patterns=patterns("remove"),
    )


def diff_lines(diff: str) -> Iterator[tuple[str, str]]:
    """The lines of git's unified diff with their kinds, for `paint`."""
    in_header = True
    for line in diff.splitlines():
        if line.startswith("diff --git "):
            in_header = True
        elif line.startswith("@@"):
            in_header = False
            yield "hunk", line
            continue
        if in_header:
            yield "header", line
        else:
            yield {"+": "add", "-": "remove"}.get(line[:1], "context"), line
