"""What was found, and where each thing is from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from commodore.argocd.model.application import Application, read_application
from commodore.base.diagnostics import Diagnostic, Diagnostics, Subject
from commodore.base.errors import CommodoreError, Location, PolicyError
from commodore.base.limits import Limits

Raw = tuple[Mapping[str, Any], Location]
Key = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True, slots=True)
class Origin:
    """How an object was found.

    Attributes:
        kind: in a file; made by an ApplicationSet; in what another Application renders.
        set: the ApplicationSet, as `namespace/name`.
        generator: where its generator is in the set.
        parent: the Application, as `namespace/name`; empty for a folder that was named as an entry.
    """

    kind: Literal["file", "set", "rendered"] = "file"
    set: str = ""
    generator: str = ""
    parent: str = ""

    def __str__(self) -> str:
        if self.kind == "set":
            return f"the ApplicationSet {self.set}"
        if self.kind == "rendered":
            return f"what {self.parent or 'an entry'} renders"
        return "a file"


LostKind = Literal["Application", "ApplicationSet", "file", "entry"]


@dataclass(frozen=True, slots=True)
class Lost:
    """A definition of Applications that cannot be read, expanded or followed, so that they are unknown.

    Attributes:
        kind: `entry` is a folder that was to be rendered first.
        name: `namespace/name`, of a file its path; empty if it has none.
        place: where it is defined.
        reason: the first diagnostic about it.
        data: the object as written; None for files and entries.
    """

    kind: LostKind
    name: str
    place: Location
    reason: Diagnostic
    data: Mapping[str, Any] | None = None

    def at(self, path: str) -> bool:
        """Indicate that it has no name and is defined in this file, as may be what is missing."""
        return self.place.place == path and (not self.name or self.kind == "file")

    @property
    def label(self) -> str:
        """Its name, or else its place."""
        return self.name or str(self.place)


@dataclass
class Discovered:
    """Applications and ApplicationSets, each of which counts once.

    Attributes:
        controller: the namespace of Argo CD, which objects without one belong to.
        sets: ApplicationSets as written, with their places.
        set_origins: how each was found.
        lost: objects that cannot be read.
        dry: whether Applications that are hydrated stand for their dry source.
    """

    controller: str
    limits: Limits
    dry: bool = False
    applications: dict[Key, Application] = field(default_factory=dict)
    origins: dict[Key, Origin] = field(default_factory=dict)
    sets: dict[Key, Raw] = field(default_factory=dict)
    set_origins: dict[Key, Origin] = field(default_factory=dict)
    lost: list[Lost] = field(default_factory=list)

    def listed(self) -> list[Application]:
        """The Applications by namespace and name."""
        return [self.applications[key] for key in sorted(self.applications)]

    def origin(self, application: Application) -> Origin:
        """How an Application was found."""
        return self.origins.get(self.key(application.namespace, application.name), Origin())

    def key(self, namespace: str, name: str) -> Key:
        """Namespace and name of an Application; without a namespace it is in that of the controller."""
        return namespace or self.controller, name

    def label(self, application: Application) -> str:
        """An Application as `namespace/name`."""
        return "/".join(filter(None, self.key(application.namespace, application.name)))

    def lose(self, value: Mapping[str, Any], place: Location, error: CommodoreError, diagnostics: Diagnostics) -> None:
        """Report an Application or an ApplicationSet that cannot be read, and keep what it is."""
        metadata = value.get("metadata")
        parts = [metadata.get(key) for key in ("namespace", "name")] if isinstance(metadata, Mapping) else [None, None]
        namespace, name = (part if isinstance(part, str) else "" for part in parts)
        label = "/".join(filter(None, self.key(namespace, name))) if name else ""
        is_set = value["kind"] == "ApplicationSet"
        subject = (name if is_set else label) or str(place)
        reason = Diagnostic.of(error, Subject(set=subject) if is_set else Subject(application=subject))
        self.lost.append(Lost("ApplicationSet" if is_set else "Application", label, place, reason, value))
        diagnostics.add(reason)

    def add(self, application: Application, origin: Origin, diagnostics: Diagnostics) -> None:
        """Take an Application in. If it is known already, the one that was taken first counts.

        Raises:
            PolicyError: CMD-ARGO-217, there are too many.
        """
        key = self.key(application.namespace, application.name)
        known = self.applications.get(key)
        if known is not None:
            self._compare(known, self.origins[key], application, origin, diagnostics)
            return
        if self.dry and "sourceHydrator" in application.data["spec"]:
            application = read_application(application.data, application.place, dry=True)
        self.applications[key] = application
        self.origins[key] = origin
        if len(self.applications) > self.limits.argocd_applications:
            raise PolicyError(
                "CMD-ARGO-217",
                f"there are more than {self.limits.argocd_applications} Applications",
                hint="choose a smaller folder with --path",
            )

    def add_set(
        self, key: Key, value: Mapping[str, Any], place: Location, origin: Origin, diagnostics: Diagnostics
    ) -> None:
        """Take an ApplicationSet in. If it is known already, the one that was taken first counts."""
        known, before = self.sets.setdefault(key, (value, place))
        first = self.set_origins.setdefault(key, origin)
        if _content(known) != _content(value):
            diagnostics.add(
                _defined_twice(f"the ApplicationSet {key[1]}", (first, before), (origin, place), Subject(set=key[1]))
            )

    def _compare(
        self, known: Application, before: Origin, application: Application, origin: Origin, diagnostics: Diagnostics
    ) -> None:
        if _content(known.data) == _content(application.data) or (origin.kind == "set" and before.set == origin.set):
            return  # of one set: its expansion says which of its parameters make a name twice
        told = _defined_twice(
            f"the Application {application.name}",
            (before, known.place),
            (origin, application.place),
            Subject(application=self.label(application)),
        )
        diagnostics.add(told)


def _defined_twice(
    what: str,
    first: tuple[Origin, Location],
    second: tuple[Origin, Location],
    subject: Subject,
) -> Diagnostic:
    (before, place), (origin, other) = first, second
    rendered = {before.kind, origin.kind} == {"file", "rendered"}
    by = f"by {before} and by {origin}"
    if before.kind == origin.kind == "file":
        by = "by two documents of a file" if place.place == other.place else "by two files"
    return Diagnostic(
        "CMD-ARGO-106" if rendered else "CMD-ARGO-105",
        f"{what} is defined twice, differently: {by}; the first one counts",
        "info" if rendered else "warning",
        "" if rendered else "keep one of them, or look at another folder with --path",
        subject=subject,
        locations=(place, other),
    )


def _content(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """An object without its namespace, which may be written or not."""
    metadata = {key: value for key, value in data["metadata"].items() if key != "namespace"}
    return {**data, "metadata": metadata}
