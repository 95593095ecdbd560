"""Choosing Applications by name, project, labels and destination."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commodore.argocd.appsets.selectors import selects
from commodore.argocd.discovery.model import LostDefinition
from commodore.argocd.model.application import Application
from commodore.argocd.model.cluster import Cluster
from commodore.base.errors import InputError, UsageError, did_you_mean
from commodore.base.printable import some_of

_KEY = r"[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?"
_VALUE = r"([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?"
_SET = re.compile(rf"(?P<key>{_KEY})\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)")
_EQUAL = re.compile(rf"(?P<key>{_KEY})\s*(?P<operator>==?|!=)\s*(?P<value>{_VALUE})")
_THERE = re.compile(rf"(?P<no>!?)\s*(?P<key>{_KEY})")


@dataclass(frozen=True, slots=True)
class ApplicationFilter:
    """A filter of Applications by other criteria than their names; empty fields match all.

    Attributes:
        project: a pattern of the project.
        labels: a label selector, as returned by `parse_selector`.
        cluster: the address of the destination, or a pattern of its name.
        namespace: a pattern of the namespace of the destination.
    """

    project: str = ""
    labels: Mapping[str, Any] | None = None
    cluster: str = ""
    namespace: str = ""

    def fits(self, application: Application, clusters: tuple[Cluster, ...] = ()) -> bool:
        """Check if an Application matches.

        Args:
            clusters: the known clusters.
        """
        destination = application.destination
        return (
            fnmatch.fnmatchcase(application.project, self.project or "*")
            and selects(self.labels, application.labels, application.place)
            and fnmatch.fnmatchcase(destination.namespace, self.namespace or "*")
            and (not self.cluster or self._matches_cluster(application, clusters))
        )

    def _matches_cluster(self, application: Application, clusters: tuple[Cluster, ...]) -> bool:
        address = application.destination.address(clusters)
        names = {cluster.name for cluster in clusters if cluster.server == address} | {application.destination.name}
        requested = self.cluster.rstrip("/")
        return address.rstrip("/") == requested or any(fnmatch.fnmatchcase(name, requested) for name in names if name)


_FIELD = re.compile(r"(?P<field>project|cluster|namespace)\s*(?P<operator>==?|!=|\bin\b|\bnotin\b)\s*(?P<value>.*)")


def parse_select(text: str) -> ApplicationFilter:
    """Parse an expression that selects Applications: comma-separated terms, all of which must match.

    `project=GLOB`, `cluster=NAME|URL` and `namespace=GLOB` match the Application and its destination. All other terms
    match its labels, as in kubectl: `team=a`, `tier!=test`, `env in (dev,prod)`, `!old`; the prefix `label:` is for a
    label with one of the three names.

    Raises:
        UsageError: CMD-ARGO-028, the expression is invalid.
    """
    fields: dict[str, str] = {}
    labels = []
    for part in map(str.strip, re.split(r",(?![^()]*\))", text) if text.strip() else ()):
        match = _FIELD.fullmatch(part)
        if match is None:
            labels.append(part.removeprefix("label:"))
        elif match["operator"].strip("=") or not match["value"] or match["field"] in fields:
            raise UsageError(
                "CMD-ARGO-028",
                f"--select {text!r}: expected one {match['field']}=PATTERN, not {part!r}",
                hint=f"write label:{part} if a label is meant",
            )
        else:
            fields[match["field"]] = match["value"]
    return ApplicationFilter(labels=parse_selector(",".join(labels)), **fields)


def parse_selector(text: str) -> dict[str, Any] | None:
    """Parse a label selector of kubectl (`a=b,c!=d,e in (f,g),!h`) to the form of Kubernetes; None if empty.

    Raises:
        UsageError: CMD-ARGO-028, the selector is invalid.
    """
    if not text.strip():
        return None
    return {"matchExpressions": [_requirement(part.strip(), text) for part in re.split(r",(?![^()]*\))", text)]}


def _requirement(part: str, whole: str) -> dict[str, Any]:
    if match := _SET.fullmatch(part):
        values = [value.strip() for value in match["values"].split(",")]
        return {"key": match["key"], "operator": "In" if match["operator"] == "in" else "NotIn", "values": values}
    if match := _EQUAL.fullmatch(part):
        return {
            "key": match["key"],
            "operator": "NotIn" if match["operator"] == "!=" else "In",
            "values": [match["value"]],
        }
    if match := _THERE.fullmatch(part):
        return {"key": match["key"], "operator": "DoesNotExist" if match["no"] else "Exists"}
    raise UsageError(
        "CMD-ARGO-028", f"invalid label selector {whole!r}", hint="write it as team=a,tier!=test,env in (dev,prod)"
    )


def select(
    applications: Sequence[Application],
    names: Sequence[str],
    *,
    controller: str,
    application_filter: ApplicationFilter = ApplicationFilter(),
    clusters: tuple[Cluster, ...] = (),
    lost: Sequence[LostDefinition] = (),
) -> list[Application]:
    """Return the Applications with the names, in their order; all without names.

    Args:
        names: `NAME` or `NAMESPACE/NAME`, or patterns of these with `*` and `?`.
        controller: the default namespace of Applications.
        application_filter: a filter of the Applications.
        clusters: the known clusters.
        lost: definitions of Applications that cannot be read or expanded.

    Raises:
        InputError: CMD-ARGO-006, a name matches none, or a definition that cannot be read; CMD-ARGO-007, an exact name
            matches in several namespaces.
    """
    places = {
        id(application): f"{application.namespace or controller}/{application.name}" for application in applications
    }
    kept = [application for application in applications if application_filter.fits(application, clusters)]
    if not names:
        return kept
    chosen = {id(application) for text in names for application in _named(text, kept, places, lost)}
    return [application for application in kept if id(application) in chosen]


def is_exact(text: str) -> bool:
    """Check if a text is a name, not a pattern."""
    return not any(character in text for character in "*?[")


def names_fit(names: Sequence[str], label: str) -> bool:
    """Check if an Application, as `namespace/name`, matches a name or a pattern."""
    return any(fnmatch.fnmatchcase(label, text if "/" in text else f"*/{text}") for text in names)


def may_be_meant(lost: LostDefinition, names: Sequence[str]) -> bool:
    """Check if a lost definition may define an Application with one of the names. Exact names are known already."""
    if not names or (lost.kind == "Application" and names_fit(names, lost.label)):
        return True
    return lost.kind != "Application" and not all(map(is_exact, names))


def _named(
    text: str, kept: Sequence[Application], places: Mapping[int, str], lost: Sequence[LostDefinition]
) -> Iterator[Application]:
    fits = [application for application in kept if names_fit([text], places[id(application)])]
    if not fits:
        raise _no_fit(text, sorted({application.name for application in kept}), lost)
    if is_exact(text) and len(fits) > 1:
        raise InputError(
            "CMD-ARGO-007",
            f"the Application {text!r} is in several namespaces",
            hint=f"name one of {', '.join(places[id(application)] for application in fits)}",
        )
    yield from fits


def _no_fit(text: str, names: Sequence[str], lost: Sequence[LostDefinition]) -> InputError:
    for definition in lost:
        if definition.kind == "Application" and names_fit([text], definition.label):
            return InputError(
                "CMD-ARGO-006",
                f"the Application {definition.label} cannot be read: {definition.reason.message}",
                hint="correct it",
                locations=[definition.place],
            )
    hint = did_you_mean(text.rpartition("/")[2], names) or f"there are {some_of(names) or 'none'}"
    if labels := list(dict.fromkeys(definition.label for definition in lost)):
        hint += f"; it may be among what cannot be read or expanded: {some_of(labels)}"
    return InputError("CMD-ARGO-006", f"no Application matches {text!r}", hint=hint)
