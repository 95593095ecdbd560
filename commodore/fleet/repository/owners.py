"""Owners of a fleet's files, by its OWNERS files at a revision."""

from __future__ import annotations

import functools
import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, Location, did_you_mean, raise_all
from commodore.base.events import Warned
from commodore.base.fields import kind_of
from commodore.base.files.tree import files
from commodore.base.gotemplate import CallProblem, search_regexp
from commodore.base.printable import some_of
from commodore.core.sources.git import Git
from commodore.fleet.findings import at, shown
from commodore.fleet.repository.config import read_config
from commodore.fleet.repository.files import Document, parse_document
from commodore.fleet.repository.layout import CHARTS, CONFIG, METADATA, OWNERS
from commodore.fleet.repository.schema import schema_problems, static_schema

_ALIASES = "OWNERS_ALIASES"


def owners_files(root: Path) -> Iterator[Path]:
    """Yield the OWNERS files of a fleet, and its file of aliases."""
    yield from (path for name in (OWNERS, _ALIASES) if os.path.lexists(path := root / name))
    yield from (path for _, path in files(root / CONFIG, links=True) if path.name == OWNERS)


def owners_problems(document: Document) -> list[CommodoreError | Warned]:
    """Return the errors in a file with owners or aliases, and warnings about unknown keys."""
    schema = static_schema("owners-aliases" if document.path.name == _ALIASES else "owners")
    known = list(schema["properties"])
    data = document.data if isinstance(document.data, dict) else {}
    problems: list[CommodoreError | Warned] = list(schema_problems(document, schema))
    for key in (key for key in data if key not in known):
        hint = did_you_mean(str(key), known) or f"known are {', '.join(known)}"
        problems.append(Warned("CMD-FLT-081", f"{at(document.at((key,)))}: the key {shown(key)} is unknown", hint))
    filters = data.get("filters")
    for pattern in filters if isinstance(filters, dict) and schema is static_schema("owners") else ():
        try:
            search_regexp(str(pattern), "")
        except CallProblem as error:
            problems.append(_unusable(document.place, pattern, error, [document.at(("filters", pattern))]))
    return problems


def _unusable(place: str, pattern: object, why: CallProblem, locations: Sequence[Location | str]) -> InputError:
    return InputError(
        "CMD-FLT-082",
        f"{place}: the filter {shown(pattern)} cannot be used as a regular expression: {why}",
        hint="write one in RE2's syntax, such as '.*' for all files",
        locations=locations,
    )


@dataclass
class Owners:
    """The owners of a fleet's files at a revision.

    Args:
        root: the folder of the fleet, within a git repository.
        revision: the revision whose OWNERS files apply; a change of them has no effect on itself.
    """

    root: Path
    revision: str
    context: Context
    _read: dict[str, Any] = field(default_factory=dict)

    @functools.cached_property
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
        """Return the logins that may approve a change of a file, in lower case.

        Raises:
            InputError: CMD-FLT-082, an OWNERS file cannot be read.
        """
        approvers: list[str] = []
        folder = posixpath.dirname(path)
        seen = False
        while True:
            data = self._file(posixpath.join(folder, OWNERS))
            if data is not None:
                seen = True
                approvers += self._of(data, path, folder)
                if (data.get("options") or {}).get("no_parent_owners"):
                    break
            if not folder:
                break
            folder = posixpath.dirname(folder)
        parts = path.split("/")
        if not seen and len(parts) > 3 and parts[0] == CONFIG:
            metadata = self._file("/".join([*parts[:3], METADATA])) or {}
            approvers += self._texts(metadata.get("owners"))
        return sorted(set(self._expanded(approvers)))

    def refusals(self, author: str | None, approved_by: Sequence[str]) -> Iterator[CommodoreError]:
        """Yield an error for each changed file that neither the author nor an approver owns.

        Raises:
            CommodoreError: git fails, or an OWNERS file cannot be read.
        """
        people = sorted({login.lower() for login in (*([author] if author else []), *approved_by)})
        charts = self._charts()
        for path in self.changed:
            if not (path.startswith((f"{CONFIG}/", *charts)) or path in (OWNERS, _ALIASES)):
                continue
            allowed = self.approvers(path)
            if not set(people) & set(allowed):
                asked = f"not by {some_of(people)}" if people else "and no author or approver is given"
                yield InputError(
                    "CMD-FLT-080",
                    f"{path} may be changed by {some_of(allowed) or 'no one'}, {asked}",
                    hint="let one of them approve" if allowed else "name approvers in an OWNERS file above it",
                    locations=[path],
                )

    def _charts(self) -> tuple[str, ...]:
        """Return the folders of charts, before and after the change: they affect the output of all cells."""
        places = {*CHARTS, read_config(self.root, self.context.limits).generator.get("chart")}
        generator = (self._file(f"{CONFIG}/{CONFIG}.yaml") or {}).get("generator")
        places.add(generator.get("chart") if isinstance(generator, dict) else None)
        return tuple(f"{posixpath.normpath(place)}/" for place in sorted(filter(None, places)))

    def _of(self, data: Mapping[str, Any], path: str, folder: str) -> list[str]:
        """Return the approvers of a file, by the OWNERS file of a folder above it."""
        approvers = self._texts(data.get("approvers"))
        for pattern, lists in (data.get("filters") or {}).items():
            try:
                fits = search_regexp(str(pattern), posixpath.relpath(path, folder or ".")) is not None
            except CallProblem as error:
                place = posixpath.join(folder, OWNERS)
                raise _unusable(place, pattern, error, [place]) from None
            if fits and isinstance(lists, dict):
                approvers += self._texts(lists.get("approvers"))
        return approvers

    def _texts(self, value: object) -> list[str]:
        return [str(login).lower() for login in value] if isinstance(value, list) else []

    def _expanded(self, names: Sequence[str]) -> Iterator[str]:
        aliases = (self._file(_ALIASES) or {}).get("aliases") or {}
        known = {str(name).lower(): members for name, members in aliases.items()}
        for name in names:
            yield from self._texts(known[name]) if name in known else [name]

    def _file(self, path: str) -> Any:
        """Read a YAML file of the revision; None if the revision does not have it."""
        if path not in self._read:
            done = Git(self.root, self.context).run(["show", f"{self.revision}:./{path}"], check=False)
            self._read[path] = None if done.failed else self._checked(path, done.text)
        return self._read[path]

    def _checked(self, path: str, text: str) -> Mapping[str, Any]:
        document = parse_document(path, self.root / path, text.encode(), self.context.limits)
        if document.data is not None and not isinstance(document.data, dict):
            raise InputError(
                "CMD-FLT-082",
                f"{path} is {kind_of(document.data)}, must be a map",
                hint="write approvers and reviewers as lists of logins",
                locations=[path],
            )
        if document.path.name in (OWNERS, _ALIASES):
            problems = owners_problems(document)
            raise_all([problem for problem in problems if isinstance(problem, CommodoreError)])
            for warning in problems:
                if isinstance(warning, Warned):
                    self.context.announce(warning)
        return document.data or {}
