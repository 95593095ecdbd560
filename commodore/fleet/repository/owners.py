"""Who may change which file of a fleet: OWNERS files, as they are at a revision."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.context import Context
from commodore.errors import CommodoreError, InputError
from commodore.events import Warned
from commodore.fleet.findings import kind_of
from commodore.fleet.repository.layout import CONFIG, METADATA, OWNERS, RENDERED
from commodore.git import Git
from commodore.manifests import load
from commodore.printable import some_of

_LISTS = ("approvers", "reviewers", "emeritus_approvers", "labels")
_KNOWN = (*_LISTS, "options", "filters")


@dataclass(slots=True)
class Owners:
    """The owners of a fleet's files at a revision.

    Args:
        root: the folder of the fleet, within a git repository.
        revision: whose OWNERS files count, not those of a change.
    """

    root: Path
    revision: str
    context: Context
    _read: dict[str, Any] = field(default_factory=dict)

    def changed(self) -> list[str]:
        """The files of the fleet that differ from the revision, renamed ones by both names.

        Raises:
            EnvironmentFault: git fails.
        """
        git = Git(self.root, self.context)
        compared = git.run(
            ["diff", "--name-only", "--no-renames", "--relative", "-z", "--end-of-options", self.revision, "--", "."]
        ).text
        new = git.run(["ls-files", "--others", "--exclude-standard", "-z", "--", "."]).text
        return sorted({name for name in (*compared.split("\0"), *new.split("\0")) if name})

    def approvers(self, path: str) -> list[str]:
        """The logins that may approve a change of a file, in lower case.

        Raises:
            InputError: CMD-FLT-082, an OWNERS file cannot be read.
        """
        found: list[str] = []
        folder = posixpath.dirname(path)
        seen = False
        while True:
            data = self._file(posixpath.join(folder, OWNERS))
            if data is not None:
                seen = True
                found += self._of(data, posixpath.relpath(path, folder or "."))
                if (data.get("options") or {}).get("no_parent_owners"):
                    break
            if not folder:
                break
            folder = posixpath.dirname(folder)
        parts = path.split("/")
        if not seen and len(parts) > 3 and parts[0] == CONFIG:
            metadata = self._file("/".join([*parts[:3], METADATA])) or {}
            found += self._texts(metadata.get("owners"))
        return sorted(set(self._expanded(found)))

    def refusals(self, author: str | None, approved_by: Sequence[str]) -> Iterator[CommodoreError]:
        """What may not be changed by these people.

        Raises:
            CommodoreError: git fails, or an OWNERS file cannot be read.
        """
        people = {one.lower() for one in (*([author] if author else []), *approved_by)}
        changed = self.changed()
        own = [path for path in changed if not path.startswith(f"{RENDERED}/")]
        for path in own:
            if not path.startswith(f"{CONFIG}/"):
                continue
            allowed = self.approvers(path)
            if not people & set(allowed):
                asked = some_of(sorted(people)) or "no one"
                yield InputError(
                    "CMD-FLT-080",
                    f"{path} may be changed by {some_of(allowed) or 'no one'}; {asked} is none of them",
                    hint="let one of them approve" if allowed else "name approvers in an OWNERS file above it",
                    locations=[path],
                )
        if len(changed) > len(own) and not own:
            yield InputError(
                "CMD-FLT-060",
                f"{RENDERED}/ was changed without a cause in {CONFIG}/: {some_of(changed)}",
                hint="change the configuration, and run 'commodore fleet generate'",
            )

    def _of(self, data: Mapping[str, Any], path: str) -> list[str]:
        found = self._texts(data.get("approvers"))
        for pattern, lists in (data.get("filters") or {}).items():
            if re.search(str(pattern), path) and isinstance(lists, dict):
                found += self._texts(lists.get("approvers"))
        return found

    def _texts(self, value: object) -> list[str]:
        return [str(one).lower() for one in value] if isinstance(value, list) else []

    def _expanded(self, names: Sequence[str]) -> Iterator[str]:
        aliases = (self._file("OWNERS_ALIASES") or {}).get("aliases") or {}
        known = {str(name).lower(): members for name, members in aliases.items()}
        for name in names:
            yield from self._texts(known[name]) if name in known else [name]

    def _file(self, path: str) -> Any:
        """A YAML file of the revision; None if it has none."""
        if path not in self._read:
            done = Git(self.root, self.context).run(["show", f"{self.revision}:./{path}"], check=False)
            self._read[path] = None if done.failed else self._checked(path, done.text)
        return self._read[path]

    def _checked(self, path: str, text: str) -> Mapping[str, Any]:
        data = load(text, place=path) or {}
        if not isinstance(data, dict) or not isinstance(data.get("filters") or {}, dict):
            raise InputError(
                "CMD-FLT-082",
                f"{path} is {kind_of(data)}, must be a map"
                if not isinstance(data, dict)
                else f"{path}: filters must be a map",
                hint="write approvers and reviewers as lists of logins",
                locations=[path],
            )
        if path.endswith(OWNERS):
            for key in (key for key in data if key not in _KNOWN):
                self.context.announce(
                    Warned("CMD-FLT-081", f"{path}: the key {key!r} is unknown", f"known are {', '.join(_KNOWN)}")
                )
        return data
