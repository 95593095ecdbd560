"""What generators of ApplicationSets would ask for, as a facts file to be filled in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from commodore.argocd.appsets.facts import Asked, owner_of, provider_of, repository_asked
from commodore.argocd.appsets.model import ApplicationSet, Entry, read_entry

_SECTIONS = ("clusters", "clusterDecisions", "scmRepositories", "pullRequests", "plugins")


def needed_facts(sets: Iterable[ApplicationSet]) -> dict[str, list[dict[str, Any]]]:
    """The sections of a facts file, each with an entry for each thing that the generators ask for.

    What the generators say is filled in, the rest is empty.

    Raises:
        InputError: CMD-ARGO-103, 201, a generator is wrong.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for one in sets:
        for kind, asked in _asked(one, one.entries):
            made = _MAKERS.get(kind)
            if made is None:
                continue
            section, entry = made(asked)
            if entry not in found.setdefault(section, []):
                found[section].append(entry)
    return {section: found[section] for section in _SECTIONS if section in found}


def _asked(one: ApplicationSet, entries: Iterable[Entry]) -> Iterator[tuple[str, Asked]]:
    for entry in entries:
        for kind, fields in entry.several:
            path = f"{entry.path}.{kind}"
            if kind in ("matrix", "merge"):
                inner = fields.get("generators") or []
                children = [read_entry(child, f"{path}.generators[{at}]", one.place) for at, child in enumerate(inner)]
                yield from _asked(one, children)
            else:
                yield kind, Asked(fields, path, one.place, one.go, ())


def _cluster(asked: Asked) -> tuple[str, dict[str, Any]]:
    selector = asked.fields.get("selector") or {}
    labels = dict(selector.get("matchLabels") or {}) if isinstance(selector, Mapping) else {}
    return "clusters", {"name": "", "server": "", "labels": labels}


def _decision(asked: Asked) -> tuple[str, dict[str, Any]]:
    entry = {"configMapRef": asked.fields.get("configMapRef", ""), "resourceName": asked.fields.get("name", "")}
    return "clusterDecisions", {**entry, "matchKey": "clusterName", "decisions": [{"clusterName": ""}]}


def _repository(asked: Asked) -> tuple[str, dict[str, Any]]:
    provider, block = provider_of(asked)
    entry = {"provider": provider, "organization": owner_of(block), "repository": "", "url": "", "branch": "main"}
    filters = [rule for rule in asked.fields.get("filters") or [] if isinstance(rule, Mapping)]
    paths: dict[str, Any] = (
        {"paths": []} if any({"pathsExist", "pathsDoNotExist"} & {*rule} for rule in filters) else {}
    )
    return "scmRepositories", {**entry, "sha": "", "labels": [], **paths}


def _request(asked: Asked) -> tuple[str, dict[str, Any]]:
    provider, block = provider_of(asked)
    entry = {"provider": provider, "organization": owner_of(block), "repository": repository_asked(block)}
    labels = [str(one) for one in block.get("labels") or []]
    texts = {"title": "", "branch": "", "targetBranch": "main", "headSHA": "", "author": ""}
    return "pullRequests", {**entry, "number": 1, **texts, "labels": labels}


def _plugin(asked: Asked) -> tuple[str, dict[str, Any]]:
    reference = (asked.fields.get("configMapRef") or {}).get("name", "")
    given = (asked.fields.get("input") or {}).get("parameters") or {}
    return "plugins", {"configMapRef": reference, "input": given, "outputs": [{}]}


_MAKERS = {
    "clusters": _cluster,
    "clusterDecisionResource": _decision,
    "scmProvider": _repository,
    "pullRequest": _request,
    "plugin": _plugin,
}
