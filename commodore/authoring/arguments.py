"""Conversion of an author's choices to the arguments of a template, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from commodore.authoring.slug import COMPONENT, Kind, check_case, check_owner, check_slug, check_switch, check_text
from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError
from commodore.base.events import Noted
from commodore.base.yaml import load

DEFAULT_HOLDER = "VSHN AG <info@vshn.ch>"
DEFAULT_CASE = "defaults"

PATCH_BLOCK = "automerge_patch_regexp_blocklist"
PATCH_V0_ALLOW = "automerge_patch_v0_regexp_allowlist"
MINOR_ALLOW = "automerge_minor_regexp_allowlist"
PATTERN_LISTS = (PATCH_BLOCK, PATCH_V0_ALLOW, MINOR_ALLOW)

_SEPARATOR = ";"
_COMMON = {"add_golden": "y"}
_DEFAULTS = {
    "component": _COMMON
    | {"add_lib": "n", "add_pp": "n", "add_matrix": "y"}
    | {"automerge_patch": "y", "automerge_patch_v0": "n", "auto_release": "y"}
    | dict.fromkeys(PATTERN_LISTS, ""),
    "package": _COMMON,
}
_SWITCHES = _DEFAULTS["component"].keys() - set(PATTERN_LISTS)


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of an author; None and empty keep the present value (for a new repository: the default).

    Attributes:
        switches: template arguments that are yes or no (`add_golden`, `add_lib`, `add_pp`, `add_matrix`,
            `automerge_patch`, `automerge_patch_v0`, `auto_release`).
        add_cases, remove_cases: test cases; additions come first.
        add_patterns, remove_patterns: by argument (one of `PATTERN_LISTS`), regular expressions for dependencies.
    """

    copyright_holder: str | None = None
    update_copyright_year: bool = False
    switches: Mapping[str, bool | None] = field(default_factory=dict)
    add_cases: tuple[str, ...] = ()
    remove_cases: tuple[str, ...] = ()
    add_patterns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    remove_patterns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def depname(name: str) -> str:
    """Return the pattern of a dependency's name; it is not escaped."""
    return f"^{name}$"


def new_arguments(
    kind: Kind, slug: str, name: str | None, owner: str, choices: Choices, context: Context
) -> dict[str, Any]:
    """Return the arguments for a new component or package.

    Raises:
        InputError: a value is invalid.
    """
    begin = {
        "slug": check_slug(slug, kind),
        "name": check_text(slug if name is None else name, "name"),
        "github_owner": check_owner(owner),
        "copyright_holder": DEFAULT_HOLDER,
        "copyright_year": this_year(),
        "test_cases": DEFAULT_CASE,
        **_DEFAULTS[kind.name],
    }
    return choose(begin, choices, context)


def choose(arguments: Mapping[str, Any], choices: Choices, context: Context) -> dict[str, Any]:
    """Apply the author's choices to arguments. Arguments that commodore does not know stay as they are.

    Raises:
        InputError: no test case is left, or a value is invalid.
    """
    chosen = dict(arguments)
    if choices.copyright_holder:
        chosen["copyright_holder"] = check_text(choices.copyright_holder, "copyright holder")
    if choices.update_copyright_year:
        chosen["copyright_year"] = this_year()
    for argument, wish in choices.switches.items():
        if wish is not None:
            chosen[argument] = "y" if wish else "n"
    chosen["test_cases"] = " ".join(_cases(str(chosen["test_cases"]).split(), choices, context))
    for argument in PATTERN_LISTS:
        add, remove = choices.add_patterns.get(argument, ()), choices.remove_patterns.get(argument, ())
        if add or remove:
            chosen[argument] = _patterns(argument, str(chosen.get(argument, "")), add, remove, context)
    _force(chosen, context)
    return chosen


def complete(arguments: Mapping[str, Any], kind: Kind, folder: Path) -> dict[str, Any]:
    """Complete the stored arguments of an existing repository by arguments that its template did not have.

    Raises:
        InputError: a stored slug, owner or test case is invalid.
    """
    missing: dict[str, Any] = {
        "copyright_holder": DEFAULT_HOLDER,
        "copyright_year": this_year(),
        "test_cases": DEFAULT_CASE,
        "github_owner": "projectsyn",
        **_DEFAULTS[kind.name],
    }
    if kind is COMPONENT:
        missing |= {"add_lib": _yes((folder / "lib").is_dir()), "add_matrix": "n", "add_golden": "n"}
        missing |= {"add_pp": _yes(_has_postprocess(folder, str(arguments.get("slug"))))}
        missing |= _license(folder)
    missing["add_golden"] = _yes((folder / "tests" / "golden").is_dir())
    completed = {**arguments, **{name: value for name, value in missing.items() if name not in arguments}}
    check_owner(completed["github_owner"])
    for case in str(completed["test_cases"]).split():
        check_case(case)
    for name in sorted(_SWITCHES & completed.keys()):
        check_switch(completed[name], name)
    return completed


def this_year() -> str:
    """Return the current year."""
    return str(datetime.now(UTC).year)


def _cases(present: list[str], choices: Choices, context: Context) -> list[str]:
    cases = list(dict.fromkeys([*present, *map(check_case, choices.add_cases)]))
    for case in choices.remove_cases:
        if case not in cases:
            context.announce(Noted(f"there is no test case {case!r} to remove", level=1))
    left = [case for case in cases if case not in choices.remove_cases]
    if not left:
        raise InputError(
            "CMD-TPL-007", "no test case would be left", hint="keep one, or add another with --additional-test-case"
        )
    return left


def _patterns(argument: str, present: str, add: Iterable[str], remove: Iterable[str], context: Context) -> str:
    patterns = {pattern for pattern in present.split(_SEPARATOR) if pattern}
    for pattern in add:
        if not pattern or _SEPARATOR in pattern or not pattern.isprintable():
            raise InputError(
                "CMD-TPL-008",
                f"{pattern!r} is not a valid pattern for dependencies",
                hint="write a regular expression on one line without ';', which separates the stored patterns",
            )
        patterns.add(pattern)
    for pattern in remove:
        if pattern not in patterns:
            context.announce(Noted(f"there is no pattern {pattern!r} in {argument} to remove", level=1))
        patterns.discard(pattern)
    return _SEPARATOR.join(sorted(patterns))


def _force(chosen: dict[str, Any], context: Context) -> None:
    """Set settings that are implied by others."""
    if chosen.get("add_matrix") == "n" and " " in chosen["test_cases"]:
        chosen["add_matrix"] = "y"
        context.announce(Noted("matrix tests are turned on, as there is more than one test case"))
    if chosen.get("automerge_patch_v0") == "y" and chosen.get("automerge_patch") == "n":
        chosen["automerge_patch"] = "y"
        context.announce(Noted("automerging of patches is turned on, as it is on for v0 versions"))


def _yes(answer: bool) -> str:
    return "y" if answer else "n"


def _read_yaml(path: Path) -> dict[str, Any]:
    """Read a mapping from a file of the author; empty for any other content, as it only improves a guess."""
    try:
        data = load(path.read_bytes(), place=str(path))
    except (OSError, CommodoreError):
        return {}
    return data if isinstance(data, dict) else {}


def _has_postprocess(folder: Path, slug: str) -> bool:
    value: Any = _read_yaml(folder / "class" / f"{slug}.yml")
    for key in ("parameters", "commodore"):
        value = value.get(key) if isinstance(value, dict) else None
    return isinstance(value, dict) and "postprocess" in value


def _license(folder: Path) -> dict[str, str]:
    """Return the licence settings of a repository that was managed by ModuleSync before."""
    if not (folder / ".sync.yml").is_file():
        return {}
    section = _read_yaml(folder / ".sync.yml").get("LICENSE")
    kept = section if isinstance(section, dict) else {}
    return {
        "copyright_holder": check_text(str(kept.get("holder") or DEFAULT_HOLDER), "copyright holder"),
        "copyright_year": str(kept.get("year") or "2021"),
    }
