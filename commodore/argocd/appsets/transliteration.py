"""Texts in ASCII letters: Latin with its accents, Greek and Cyrillic."""

from __future__ import annotations

import unicodedata
from typing import Final

# Pairs of a letter and what stands for it; those with accents are taken apart before.
_LATIN: Final = "ßss æae œoe øo đd ðd łl þth ħh ıi ĸk ŀl ŋng ŧt ŉn ſs ƒf əe"
_GREEK: Final = "αa βb γg δd εe ζz ηe θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υu φph χkh ψps ωo"
_CYRILLIC: Final = (
    "аa бb вv гg дd еe ёio жzh зz иi йi кk лl мm нn оo пp рr сs тt уu фf хkh цts чch шsh щshch ъ' ыy ь' эe юiu яia"
    " іi їi єie ґg ўu ђdj јj љlj њnj ћtsh џdzh"
)
_SIGNS: Final = "‐- ‑- ‒- –- —- ―- ’' ‘' “\" ”\""
_LETTERS: Final = {pair[0]: pair[1:] for pair in " ".join((_LATIN, _GREEK, _CYRILLIC, _SIGNS)).split()}


def in_ascii(text: str) -> tuple[str, str]:
    """A text in lower case with ASCII characters only, and the letters and digits that nothing here stands for."""
    plain: list[str] = []
    unknown: list[str] = []
    for character in unicodedata.normalize("NFC", text.lower()):
        apart = unicodedata.normalize("NFKD", character)
        if character in _LETTERS:
            plain.append(_LETTERS[character])
            continue
        for part in apart:
            if part.isascii() or part in _LETTERS:
                plain.append(_LETTERS.get(part, part))
            elif unicodedata.category(part)[0] in "LN":
                unknown.append(part)
    return "".join(plain), "".join(unknown)
