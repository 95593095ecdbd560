"""The message of a catalog commit, byte for byte as other tools expect it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from commodore.base.printable import only_printable
from commodore.catalog.metadata import CompileMetadata, RepositoryVersion

SUBJECT: Final = "Automated catalog update from Commodore"
"""The subject, and the message of the initial empty commit of an empty catalog repository."""


def commit_message(metadata: CompileMetadata) -> str:
    """Return the commit message for a catalog, ending with a newline. It does not contain credentials."""
    lines = [SUBJECT, ""]
    for title, repositories in sections(metadata).items():
        lines += [f"{title}:", *_entries(repositories), ""]
    lines += [f"Compilation timestamp: {metadata.timestamp}", ""]
    return "\n".join(lines)


def sections(metadata: CompileMetadata) -> dict[str, Mapping[str, RepositoryVersion]]:
    """Return the repositories in the message by name, by section title."""
    return {
        "Component instance commits": metadata.instances,
        "Package commits": metadata.packages,
        "Configuration commits": {"global": metadata.global_config, "tenant": metadata.tenant_config},
    }


def _entries(repositories: Mapping[str, RepositoryVersion]) -> list[str]:
    """Return two or three lines for each repository; an empty section is one empty line."""
    lines = []
    for name in sorted(repositories):
        used = repositories[name]
        component = f" ({used.component})" if used.component not in (None, name) else ""
        lines.append(f" * {name}{component}: {_line(used.version)} ({used.short_sha})")
        lines.append(f"   url: {_line(used.display_url)}")
        if used.path:
            lines.append(f"   path: {_line(used.path)}")
    return lines or [""]


def _line(text: str) -> str:
    """Make a text from the hierarchy printable in one line of the message."""
    return only_printable(text)
