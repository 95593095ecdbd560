"""The template functions that Argo CD adds: conversion of texts to names, and YAML."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from commodore.base.errors import CommodoreError
from commodore.base.gotemplate import CallProblem, Function, Table, clock_functions, function, sprig, to_floats, to_yaml
from commodore.base.yaml.kube_yaml import read_documents

_TABLE: Final[Table] = {}
_LONGEST: Final = 253
_SLUG: Final = 50


def normalized(text: str) -> str:
    """Return a text as a DNS name: lower case, other characters as hyphens, at most 253 characters."""
    return re.sub(r"[^-a-z0-9.]", "-", text.lower())[:_LONGEST].strip("-.")


def slug(text: str, longest: int = _SLUG, *, smart: bool = True) -> str:
    """Return a short name for a text: other characters as one hyphen, cut at a hyphen if `smart`."""
    plain = re.sub(r"-+", "-", re.sub(r"[^-a-z0-9_]", "-", normalized(text))).strip("-_")
    if len(plain) <= longest:
        return plain
    cut = plain[:longest]
    if smart and plain[longest] != "-" and "-" in cut:
        cut = cut[: cut.rfind("-")]
    return cut.strip("-_")


def branch_slug(branch: str) -> tuple[str, str]:
    """Return the slug of a pull request's branch, and its letters that have no transliteration to ASCII."""
    text, unknown = in_ascii(_expand_signs(branch))
    return slug(text.replace("_", "-")), unknown


def _expand_signs(text: str) -> str:
    return re.sub("[\"'’]", "", text).replace("&", "and").replace("@", "at")


@function(_TABLE, "normalize", "string")
def _normalize(text: str) -> str:
    return normalized(text)


@function(_TABLE, "slugify", "...any")
def _slugify(*values: Any) -> str:
    longest, smart, text = _SLUG, True, ""
    match values:
        case ():
            pass
        case (str() as text,):
            pass
        case (int() as longest, str() as text):
            pass
        case (int() as longest, bool() as smart, str() as text):
            pass
        case _:
            raise CallProblem("slugify takes a length, whether to cut at hyphens, and a text")
    return slug(text, int(longest), smart=bool(smart))


@function(_TABLE, "toYaml", "any")
def _to_yaml(value: Any) -> str:
    return to_yaml(value)


def _read(text: str) -> Any:
    try:
        return to_floats(next(read_documents(text, place="the text"), None))
    except CommodoreError as error:
        raise CallProblem(error.message) from None


@function(_TABLE, "fromYaml", "string")
def _from_yaml(text: str) -> Any:
    value = _read(text)
    if value is not None and not isinstance(value, dict):
        raise CallProblem("the text must be a YAML map")
    return value or {}


@function(_TABLE, "fromYamlArray", "string")
def _from_yaml_array(text: str) -> Any:
    value = _read(text)
    if value is not None and not isinstance(value, list):
        raise CallProblem("the text must be a YAML list")
    return value or []


@functools.cache
def template_functions(moment: datetime | None = None) -> Mapping[str, Function]:
    """Return all template functions of an ApplicationSet.

    Args:
        moment: the time that `now` returns; None if calling it is an error.
    """
    return {**sprig(), **(clock_functions(moment) if moment is not None else {}), **_TABLE}


# Pairs of a letter and its transliteration; letters with accents are decomposed first.
_LATIN: Final = "ßss æae œoe øo đd ðd łl þth ħh ıi ĸk ŀl ŋng ŧt ŉn ſs ƒf əe"
_GREEK: Final = "αa βb γg δd εe ζz ηe θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υu φph χkh ψps ωo"
_CYRILLIC: Final = (
    "аa бb вv гg дd еe ёio жzh зz иi йi кk лl мm нn оo пp рr сs тt уu фf хkh цts чch шsh щshch ъ' ыy ь' эe юiu яia"
    " іi їi єie ґg ўu ђdj јj љlj њnj ћtsh џdzh"
)
_SIGNS: Final = "‐- ‑- ‒- –- —- ―- ’' ‘' “\" ”\""
_LETTERS: Final = {pair[0]: pair[1:] for pair in " ".join((_LATIN, _GREEK, _CYRILLIC, _SIGNS)).split()}


def in_ascii(text: str) -> tuple[str, str]:
    """Return a text in lower case and ASCII, and its letters and digits that have no transliteration."""
    plain: list[str] = []
    unknown: list[str] = []
    for character in unicodedata.normalize("NFC", text.lower()):
        decomposed = unicodedata.normalize("NFKD", character)
        if character in _LETTERS:
            plain.append(_LETTERS[character])
            continue
        for part in decomposed:
            if part.isascii() or part in _LETTERS:
                plain.append(_LETTERS.get(part, part))
            elif unicodedata.category(part)[0] in "LN":
                unknown.append(part)
    return "".join(plain), "".join(unknown)
