"""Errors that a user may lower to warnings, by code, where syn-commodore continues.

A cluster that compiles there must compile here on the first day, with the same result, but reproducible. Codes that
protect paths, execution or credentials are not in the table: they cannot be lowered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from commodore.base.errors import InputError, Setting, UsageError, did_you_mean, raise_all

OPTION: Final = "--allow"
PARAMETER: Final = Setting.of("commodore", "allow")


@dataclass(frozen=True, slots=True)
class Lowerable:
    """A code that can be lowered.

    Args:
        code: such as `CMD-ENG-041`.
        problem: a short description.
        effect: the effect of allowing it.
        repair: the correction.
        linter: the linter of `inventory lint` that reports it in class files; empty if a compile is needed.
    """

    code: str
    problem: str
    effect: str
    repair: str
    linter: str = ""


LOWERABLE: Final[Mapping[str, Lowerable]] = {
    entry.code: entry
    for entry in (
        Lowerable(
            "CMD-CAT-001",
            "two instances write one file with different contents",
            "the file of the last of them in name order is in the catalog",
            "write to an output path that contains the parameter `_instance`",
        ),
        Lowerable(
            "CMD-DEP-003",
            "`c` and `c as c` are both in `applications`",
            "they count once",
            "remove one of the entries",
            linter="applications",
        ),
        Lowerable(
            "CMD-DEP-004",
            "the names of two components or instances differ in `-` and `_` only",
            "they share their parameters",
            "rename one of them, or give it another alias",
        ),
        Lowerable(
            "CMD-DEP-015",
            "an entry of `parameters.components` or `parameters.packages` has a key that looks like a typing error",
            "the key does not count",
            "correct the key: `url`, `version` or `path`",
            linter="components",
        ),
        Lowerable(
            "CMD-DEP-031",
            "a library does not begin with its component's name as a whole word",
            "it is published under its name",
            "rename the library, or publish it with `_metadata.library_aliases`",
        ),
        Lowerable(
            "CMD-DEP-032",
            "a library begins with the name of another deployed component",
            "it is published under its name",
            "rename the library",
        ),
        Lowerable(
            "CMD-DEP-036",
            "a library alias names a file that does not exist",
            "the alias is left out",
            "correct `_metadata.library_aliases`, or remove the alias",
        ),
        Lowerable(
            "CMD-ENG-012",
            "a Jsonnet file gives a text where `output_type: yaml` needs objects",
            "the output is a stream with one document for each character of the text",
            "set `output_type: plain`",
        ),
        Lowerable(
            "CMD-ENG-041",
            "a filter lacks a key, has an unknown type or name, or an `enabled` that is neither true nor false",
            "the filter is skipped",
            "correct the filter, or remove it: it has done nothing so far",
            linter="filters",
        ),
        Lowerable(
            "CMD-ENG-044",
            "a filter's `path` does not exist in the instance's output",
            "the filter is skipped",
            "correct `path`, or remove the filter: it has done nothing so far",
        ),
        Lowerable(
            "CMD-INV-007",
            "`~name` in `applications` is merged before `name`, which is therefore included here and not there",
            "`name` is not included",
            "remove the `~name`, or both entries",
            linter="removals",
        ),
        Lowerable(
            "CMD-REF-003",
            "a secret reference has characters that Kapitan does not take for a reference",
            "it stays in the manifests as it is, and its ref file is written",
            "rename the path or key in Vault, or correct the reference",
            linter="secret-references",
        ),
        Lowerable(
            "CMD-REF-004",
            "a secret reference has a sub-variable (`@`)",
            "its ref file is written; the compile fails if a manifest holds the reference",
            "name the key after the last `/`",
            linter="secret-references",
        ),
        Lowerable(
            "CMD-REF-006",
            "a secret reference has too many parts",
            "its ref file is made of the second part; the others do not count",
            "write two parts: `?{vaultkv:path/key}`",
            linter="secret-references",
        ),
        Lowerable(
            "CMD-REF-018",
            "a secret reference ends with `/`",
            "its ref file names an empty key; the compile fails if a manifest holds the reference",
            "name the key after the last `/`",
            linter="secret-references",
        ),
        Lowerable(
            "CMD-TOOL-025",
            "helm or kustomize is older than this program needs",
            "it is used all the same",
            "install a newer one: `commodore tool install helm`",
        ),
    )
}
"""All of them, by code. The table in the page about switching is generated from it."""


def check_allowed(codes: Iterable[str]) -> frozenset[str]:
    """Return the codes given with `--allow`.

    Raises:
        UsageError: CMD-CLI-090, one of them cannot be lowered.
    """
    codes_by_spelling = _by_spelling(codes)
    raise_all(
        [
            UsageError(
                "CMD-CLI-090",
                f"--allow cannot lower {given!r}: it is not among the codes that can be warnings",
                hint=_meant(code),
            )
            for given, code in codes_by_spelling.items()
            if code not in LOWERABLE
        ]
    )
    return frozenset(codes_by_spelling.values())


def read_allowed(parameters: Mapping[str, Any]) -> frozenset[str]:
    """Return the codes in `parameters.commodore.allow` of a rendered hierarchy.

    Raises:
        InputError: CMD-DEP-053, it is not a list of codes, or a code cannot be lowered.
    """
    own = parameters.get("commodore")
    listed = own.get("allow") if isinstance(own, Mapping) else None
    if listed is None:
        return frozenset()
    if not isinstance(listed, list) or not all(isinstance(code, str) for code in listed):
        raise InputError(
            "CMD-DEP-053",
            "parameters.commodore.allow must be a list of error codes",
            hint="write for example: allow: [CMD-ENG-041]",
            locations=[PARAMETER],
        )
    codes_by_spelling = _by_spelling(listed)
    raise_all(
        [
            InputError(
                "CMD-DEP-053",
                f"parameters.commodore.allow cannot lower {given!r}: it is not among the codes that can be warnings",
                hint=_meant(code),
                locations=[PARAMETER],
            )
            for given, code in codes_by_spelling.items()
            if code not in LOWERABLE
        ]
    )
    return frozenset(codes_by_spelling.values())


def _by_spelling(codes: Iterable[str]) -> dict[str, str]:
    return {given: given.strip().upper() for given in sorted(codes)}


def _meant(code: str) -> str:
    return did_you_mean(code, LOWERABLE) or f"these can: {', '.join(LOWERABLE)}"
