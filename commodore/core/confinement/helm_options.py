"""The syntax that helm reads in the values of its options."""

from __future__ import annotations

import re

_READS = re.compile("env|getHostByName", re.IGNORECASE)


def list_item(text: str) -> str:
    """Quote a text as one item of an option that helm splits into a list (`--values`)."""
    return '"' + text.replace('"', '""') + '"' if any(letter in text for letter in ',"\r\n') else text


def reads_environment(name_template: str) -> bool:
    """Return True if a `--name-template` may read environment variables or resolve hosts, which chart
    templates cannot.
    """
    return "{{" in name_template and _READS.search(name_template) is not None
