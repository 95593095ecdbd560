"""A facts file to fill in, with the queries of the generators of ApplicationSets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from commodore.argocd.appsets.facts import GeneratorQuery, owner_of, provider_of, repository_of
from commodore.argocd.appsets.model import ApplicationSet, Entry, read_entry

_SECTIONS = ("clusters", "clusterDecisions", "scmRepositories", "pullRequests", "plugins")


def needed_facts(sets: Iterable[ApplicationSet]) -> dict[str, list[dict[str, Any]]]:
    """Return the sections of a facts file, each with an entry for each query of the generators.

    The fields that the generators specify are filled in, the others are empty.

    Raises:
        InputError: CMD-ARGO-103, 201, a generator is invalid.
    """
    sections: dict[str, list[dict[str, Any]]] = {}
    for appset in sets:
        for kind, query in _queries(appset, appset.entries):
            made = _MAKERS.get(kind)
            if made is None:
                continue
            section, entry = made(query)
            if entry not in sections.setdefault(section, []):
                sections[section].append(entry)
    return {section: sections[section] for section in _SECTIONS if section in sections}


def _queries(appset: ApplicationSet, entries: Iterable[Entry]) -> Iterator[tuple[str, GeneratorQuery]]:
    for entry in entries:
        for kind, fields in entry.several:
            path = f"{entry.path}.{kind}"
            if kind in ("matrix", "merge"):
                inner = fields.get("generators") or []
                children = [
                    read_entry(child, f"{path}.generators[{at}]", appset.place) for at, child in enumerate(inner)
                ]
                yield from _queries(appset, children)
            else:
                yield kind, GeneratorQuery(fields, path, appset.place, appset.go, ())


def _cluster(query: GeneratorQuery) -> tuple[str, dict[str, Any]]:
    selector = query.fields.get("selector") or {}
    labels = dict(selector.get("matchLabels") or {}) if isinstance(selector, Mapping) else {}
    return "clusters", {"name": "", "server": "", "labels": labels}


def _decision(query: GeneratorQuery) -> tuple[str, dict[str, Any]]:
    entry = {"configMapRef": query.fields.get("configMapRef", ""), "resourceName": query.fields.get("name", "")}
    return "clusterDecisions", {**entry, "matchKey": "clusterName", "decisions": [{"clusterName": ""}]}


def _repository(query: GeneratorQuery) -> tuple[str, dict[str, Any]]:
    provider, block = provider_of(query)
    entry = {"provider": provider, "organization": owner_of(block), "repository": "", "url": "", "branch": "main"}
    filters = [rule for rule in query.fields.get("filters") or [] if isinstance(rule, Mapping)]
    paths: dict[str, Any] = (
        {"paths": []} if any({"pathsExist", "pathsDoNotExist"} & {*rule} for rule in filters) else {}
    )
    return "scmRepositories", {**entry, "sha": "", "labels": [], **paths}


def _request(query: GeneratorQuery) -> tuple[str, dict[str, Any]]:
    provider, block = provider_of(query)
    entry = {"provider": provider, "organization": owner_of(block), "repository": repository_of(block)}
    labels = [str(label) for label in block.get("labels") or []]
    texts = {"title": "", "branch": "", "targetBranch": "main", "headSHA": "", "author": ""}
    return "pullRequests", {**entry, "number": 1, **texts, "labels": labels}


def _plugin(query: GeneratorQuery) -> tuple[str, dict[str, Any]]:
    reference = (query.fields.get("configMapRef") or {}).get("name", "")
    given = (query.fields.get("input") or {}).get("parameters") or {}
    return "plugins", {"configMapRef": reference, "input": given, "outputs": [{}]}


_MAKERS = {
    "clusters": _cluster,
    "clusterDecisionResource": _decision,
    "scmProvider": _repository,
    "pullRequest": _request,
    "plugin": _plugin,
}
