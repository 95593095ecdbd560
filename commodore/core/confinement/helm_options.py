"""What helm does with the values of its options besides taking them as they are."""

from __future__ import annotations

import re

_READS = re.compile("env|getHostByName", re.IGNORECASE)


def list_item(text: str) -> str:
    """A text for an option that helm takes for a list (`--values`), which this is one item of."""
    return '"' + text.replace('"', '""') + '"' if any(letter in text for letter in ',"\r\n') else text


def reads_environment(name_template: str) -> bool:
    """Whether a `--name-template` may ask for variables or addresses, which templates of charts cannot."""
    return "{{" in name_template and _READS.search(name_template) is not None
