"""The keys of Argo CD's ConfigMaps, and their lines in files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping

from commodore.argocd.configuration.model import DEFAULTS, PARAMETER_DEFAULTS, LocatedValue
from commodore.base.diagnostics import Diagnostic

_FIXED = (
    "additionalUrls",
    "application.allowedNodeLabels",
    "application.links",
    "application.sync.impersonation.enabled",
    "application.sync.impersonation.enforced",
    "application.sync.requireOverridePrivilegeForRevisionSync",
    "helm.repositories",
    "kustomize.buildOptions",
    "resource.customLabels",
    "resource.customizations",
    "resource.excludeEventLabelKeys",
    "resource.ignoreResourceUpdatesEnabled",
    "resource.includeEventLabelKeys",
    "resource.links",
    "resource.respectRBAC",
)
_KEYS = frozenset((*DEFAULTS, *_FIXED))
_OPEN = ("kustomize.buildOptions.", "kustomize.path.", "kustomize.version.", "resource.customizations.")
"""Prefixes of keys that end with a version or a kind."""
_CLOSED = ("application.", "helm.", "jsonnet.", "kustomize.", "resource.")
"""Prefixes whose keys are all known. Those of logins, servers and the user interface are not listed."""
_PARAMETERS = frozenset(
    (
        *PARAMETER_DEFAULTS,
        "reposerver.enable.git.submodule",
        "reposerver.plugin.tar.exclusions",
        "reposerver.plugin.use.manifest.generate.paths",
    )
)
CONFIG, PARAMETERS = "argocd-cm", "argocd-cmd-params-cm"
_TABLES = {CONFIG: _KEYS, PARAMETERS: _PARAMETERS}
_SHOWN = 80


def unknown_keys(name: str, table: Mapping[str, LocatedValue]) -> Iterator[Diagnostic]:
    """Yield diagnostics for unknown keys of a ConfigMap, see `is_misspelt`.

    Args:
        name: the name of the ConfigMap.
    """
    for key in sorted(table):
        if not is_misspelt(name, key):
            continue
        meant, place = _meant(name, key), table[key].place
        hint = meant or next(iter(difflib.get_close_matches(key, sorted(_TABLES[name]), 1)), "")
        yield Diagnostic(
            "CMD-ARGO-122",
            f"{name} has the unknown key {key[:_SHOWN]!r}, which has no effect",
            "warning" if meant else "info",
            f"did you mean {hint!r}?" if hint else "leave it out",
            locations=(place,) if place is not None else (),
        )


def is_misspelt(name: str, key: str) -> bool:
    """Check if a key is similar to a known key, or has a prefix whose keys are all known. Others are not reported, as
    another version of Argo CD may have further keys.
    """
    if key in _TABLES[name] or key.startswith(_OPEN):
        return False
    return bool(_meant(name, key)) or (name == CONFIG and key.startswith(_CLOSED))


def is_used(name: str, key: str) -> bool:
    """Check if a key of a ConfigMap is used, or reported by `unknown_keys`."""
    defaults = DEFAULTS if name == CONFIG else PARAMETER_DEFAULTS
    return key in defaults or key.startswith(("resource.customizations", "kustomize.")) or is_misspelt(name, key)


def _meant(name: str, key: str) -> str:
    """Return the known key that differs by a letter; empty without a match."""
    return next((known for known in sorted(_TABLES[name]) if _is_close(key, known)), "")


def _is_close(text: str, other: str) -> bool:
    """Check if texts differ in case or by a letter that is missing, added, changed or swapped with the next."""
    if text.casefold() == other.casefold():
        return True
    start = next((at for at, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))
    text, other = text[start:], other[start:]
    same = text[1:] == other or text == other[1:] or text[1:] == other[1:]
    return same or (text[:2] == other[1::-1] and text[2:] == other[2:])


def key_lines(content: bytes, line: int, keys: Iterable[str]) -> dict[str, int]:
    """Return the lines of keys of a document.

    Args:
        content: the whole file.
        line: the first line of the document.
    """
    lines: dict[str, int] = {}
    start = 0
    for _ in range(line - 1):
        start = content.find(b"\n", start) + 1
    for key in keys:
        match = re.compile(rb"""(?<![\w.-])["']?%s["']?[ \t]*:""" % re.escape(key.encode())).search(content, start)
        if match is not None:
            lines[key] = line + content.count(b"\n", start, match.start())
    return lines
