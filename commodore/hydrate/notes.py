"""Notes of hydrated commits: which dry commit and inputs each group of a branch has last seen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from commodore.hydrate.model import LAYOUT

NOTES = "refs/notes/hydrator.metadata"


@dataclass(frozen=True, slots=True)
class Note:
    """What is noted of a commit.

    Attributes:
        dry_sha: the dry commit that was last looked at; the only key that other programs read.
        groups: by group id, the dry commit and the digest of the inputs.
    """

    dry_sha: str = ""
    groups: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def with_group(self, group: str, dry_sha: str, inputs: str) -> Note:
        """The note after a group was looked at."""
        return Note(dry_sha, {**self.groups, group: (dry_sha, inputs)})

    def text(self) -> str:
        """The note as it is written."""
        groups = {name: {"drySha": sha, "inputs": inputs} for name, (sha, inputs) in sorted(self.groups.items())}
        own = {"layout": LAYOUT, "groups": groups}
        return json.dumps({"drySha": self.dry_sha, "commodore": own}, separators=(",", ":")) + "\n"


def read_note(content: bytes) -> Note | None:
    """A note, also one that another program wrote; None if it is not JSON with a dry commit."""
    try:
        data: Any = json.loads(content)
        sha, own = data["drySha"], data.get("commodore", {})
        if own.get("layout") != LAYOUT:
            return Note(str(sha))
        groups = {name: (one["drySha"], one["inputs"]) for name, one in own["groups"].items()}
    except (ValueError, TypeError, LookupError, AttributeError):
        return None
    return Note(str(sha), groups)
