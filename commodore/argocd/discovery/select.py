"""Choosing Applications by name, project, labels and destination."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commodore.argocd.appsets.selectors import selects
from commodore.argocd.discovery.model import Lost
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
class Narrowing:
    """Which Applications count, beside their names; what is empty fits all.

    Attributes:
        project: a pattern of projects.
        labels: a selector of labels, as `parse_selector` gives it.
        cluster: the address of the destination, or a pattern of its name.
        namespace: a pattern of the namespace of the destination.
    """

    project: str = ""
    labels: Mapping[str, Any] | None = None
    cluster: str = ""
    namespace: str = ""

    def fits(self, application: Application, clusters: tuple[Cluster, ...] = ()) -> bool:
        """Whether an Application counts.

        Args:
            clusters: those that are known, each by its name and address.
        """
        destination = application.destination
        return (
            fnmatch.fnmatchcase(application.project, self.project or "*")
            and selects(self.labels, application.labels, application.place)
            and fnmatch.fnmatchcase(destination.namespace, self.namespace or "*")
            and (not self.cluster or self._goes_there(application, clusters))
        )

    def _goes_there(self, application: Application, clusters: tuple[Cluster, ...]) -> bool:
        address = application.destination.address(clusters)
        names = {cluster.name for cluster in clusters if cluster.server == address} | {application.destination.name}
        requested = self.cluster.rstrip("/")
        return address.rstrip("/") == requested or any(fnmatch.fnmatchcase(name, requested) for name in names if name)


_FIELD = re.compile(r"(?P<field>project|cluster|namespace)\s*(?P<operator>==?|!=|\bin\b|\bnotin\b)\s*(?P<value>.*)")


def parse_select(text: str) -> Narrowing:
    """The Applications that an expression chooses: terms with commas between them, all of which must hold.

    `project=GLOB`, `cluster=NAME|URL` and `namespace=GLOB` are of the Application and its destination. All other terms
    are of its labels, as kubectl has them: `team=a`, `tier!=test`, `env in (dev,prod)`, `!old`; `label:` before one
    says so of a label with one of the three names.

    Raises:
        UsageError: CMD-ARGO-028, it is not such an expression.
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
                f"--select {text!r}: {part!r} does not say which {match['field']} counts",
                hint=f"write {match['field']}=PATTERN once, or label:{part} if a label is meant",
            )
        else:
            fields[match["field"]] = match["value"]
    return Narrowing(labels=parse_selector(",".join(labels)), **fields)


def parse_selector(text: str) -> dict[str, Any] | None:
    """A selector of labels as kubectl takes it (`a=b,c!=d,e in (f,g),!h`), as Kubernetes writes it; None if empty.

    Raises:
        UsageError: CMD-ARGO-028, it is none.
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
        "CMD-ARGO-028", f"{whole!r} is not a selector of labels", hint="write it as team=a,tier!=test,env in (dev,prod)"
    )


def select(
    applications: Sequence[Application],
    names: Sequence[str],
    *,
    controller: str,
    narrowing: Narrowing = Narrowing(),
    clusters: tuple[Cluster, ...] = (),
    lost: Sequence[Lost] = (),
) -> list[Application]:
    """The Applications that are named, in their order; all if none is named.

    Args:
        wanted: `NAME` or `NAMESPACE/NAME`, or patterns of these with `*` and `?`.
        controller: the namespace of Applications that name none.
        narrowing: which of them count.
        clusters: those that are known.
        lost: what defines Applications and cannot be read or expanded.

    Raises:
        InputError: CMD-ARGO-006, a name fits none, or one that cannot be read; CMD-ARGO-007, an exact name fits several
            namespaces.
    """
    places = {
        id(application): f"{application.namespace or controller}/{application.name}" for application in applications
    }
    kept = [application for application in applications if narrowing.fits(application, clusters)]
    if not names:
        return kept
    chosen = {id(application) for text in names for application in _named(text, kept, places, lost)}
    return [application for application in kept if id(application) in chosen]


def is_exact(text: str) -> bool:
    """Whether a text names one Application: it is not a pattern."""
    return not any(character in text for character in "*?[")


def names_fit(names: Sequence[str], label: str) -> bool:
    """Whether an Application, as `namespace/name`, is among those that names or patterns of them choose."""
    return any(fnmatch.fnmatchcase(label, text if "/" in text else f"*/{text}") for text in names)


def may_be_meant(lost: Lost, names: Sequence[str]) -> bool:
    """Whether a lost definition may be of an Application that is named: an exact name is that of one that is known."""
    if not names or (lost.kind == "Application" and names_fit(names, lost.label)):
        return True
    return lost.kind != "Application" and not all(map(is_exact, names))


def _named(
    text: str, kept: Sequence[Application], places: Mapping[int, str], lost: Sequence[Lost]
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


def _no_fit(text: str, names: Sequence[str], lost: Sequence[Lost]) -> InputError:
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
    return InputError("CMD-ARGO-006", f"no Application fits {text!r}", hint=hint)
