"""Parameters of generators that query forges, clusters and plugins, from facts that replace their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from commodore.argocd.appsets.fact_files import Fact, Facts
from commodore.argocd.appsets.flatten import flatten
from commodore.argocd.appsets.functions import branch_slug, normalized
from commodore.argocd.appsets.selectors import selects
from commodore.argocd.model import Cluster
from commodore.base.errors import InputError, Location
from commodore.base.gotemplate import CallProblem, Strings, printed, search_regexp, to_floats

Params = dict[str, Any]
Report = Callable[[str, str, str], None]

_PROVIDERS: Final = {"azuredevops": "azureDevOps"}
_OWNERS: Final = ("organization", "owner", "group", "project")
_REPOSITORIES: Final = ("repo", "project", "repository")


@dataclass(frozen=True, slots=True)
class GeneratorQuery:
    """The query of a generator: its fields, their path and place, the form of parameters, the known clusters.

    Attributes:
        report: called for warnings, with code, message and hint.
    """

    fields: Mapping[str, Any]
    path: str
    place: Location
    go: bool
    clusters: tuple[Cluster, ...]
    report: Report = lambda *_: None

    def wrong(self, message: str, hint: str, code: str = "CMD-ARGO-103") -> InputError:
        """Return an error about the generator."""
        return InputError(code, f"{self.path} {message}", hint=hint, locations=[self.place])


def _no_fact(query: GeneratorQuery, what: str, section: str) -> InputError:
    return query.wrong(
        f"needs {what}, which no facts file has", f"add an entry to {section} of a --facts file", "CMD-ARGO-202"
    )


def decision_params(facts: Facts, query: GeneratorQuery) -> list[Params]:
    """Return the decisions of a resource for known clusters.

    Raises:
        InputError: CMD-ARGO-103, the generator has both a name and labels, or neither; CMD-ARGO-202, no fact matches.
    """
    name, selector = query.fields.get("name", ""), query.fields.get("labelSelector")
    if bool(name) == bool(selector):
        raise query.wrong("must name one of name and labelSelector", "keep one of them")
    reference = query.fields.get("configMapRef", "")
    matches = [
        fact
        for fact in facts.of("clusterDecisions")
        if fact.get("configMapRef", reference) == reference
        and (fact.get("resourceName") == name if name else selects(selector, fact.get("labels") or {}, query.place))
    ]
    if not matches:
        raise _no_fact(query, f"decisions of {reference}", "clusterDecisions")
    known = {key: cluster for cluster in query.clusters for key in (cluster.name, cluster.server)}
    result = []
    for fact in matches:
        key = fact.get("matchKey") or "clusterName"
        for decision in fact.get("decisions") or []:
            cluster = known.get(str(decision.get(key, "")))
            if cluster is not None:
                texts = {name: printed(to_floats(value)) for name, value in decision.items()}
                result.append({"name": cluster.name, "server": cluster.server, **texts})
    return result


def provider_of(query: GeneratorQuery) -> tuple[str, Mapping[str, Any]]:
    """Return the provider that a generator queries, and its settings.

    Raises:
        InputError: CMD-ARGO-103, it names no provider or several.
    """
    blocks = [
        (_PROVIDERS.get(key, key), value)
        for key, value in query.fields.items()
        if isinstance(value, Mapping) and key not in ("template", "values")
    ]
    if len(blocks) != 1:
        raise query.wrong(f"names {len(blocks)} providers instead of one", "keep one of them")
    return blocks[0]


def owner_of(block: Mapping[str, Any]) -> str:
    """Return the owner of the repositories that a provider is queried for."""
    return _first_text(block, _OWNERS)


def repository_of(block: Mapping[str, Any]) -> str:
    """Return the repository whose pull requests a provider is queried for."""
    return _first_text(block, _REPOSITORIES)


def _first_text(block: Mapping[str, Any], keys: Iterable[str]) -> str:
    return next((str(block[key]) for key in keys if block.get(key)), "")


def _fits(pattern: str | None, text: str, query: GeneratorQuery) -> bool:
    if not pattern:
        return True
    try:
        return search_regexp(pattern, text) is not None
    except CallProblem as error:
        raise query.wrong(
            f"has the invalid regular expression {pattern}: {error}", "write it in the syntax of RE2"
        ) from None


def _any_filter(query: GeneratorQuery, fits: Any) -> bool:
    filters = query.fields.get("filters") or []
    return not filters or any(fits(rule) for rule in filters)


def repository_params(facts: Facts, query: GeneratorQuery) -> list[Params]:
    """Return the repositories of an organisation that match the filters of a generator.

    Raises:
        InputError: CMD-ARGO-202, no fact matches.
    """
    provider, block = provider_of(query)
    owner = owner_of(block)
    matches = [
        fact
        for fact in facts.of("scmRepositories")
        if fact.get("provider", provider) == provider and (not owner or fact.get("organization", owner) == owner)
    ]
    if not matches:
        raise _no_fact(query, f"repositories of {owner or provider}", "scmRepositories")
    return [
        _repository(fact, owner)
        for fact in matches
        if _any_filter(query, lambda rule, fact=fact: _passes(rule, fact, query))
    ]


def _passes(rule: Mapping[str, Any], fact: Fact, query: GeneratorQuery) -> bool:
    labels = [str(label) for label in fact.get("labels") or []]
    if not _fits(rule.get("repositoryMatch"), str(fact.get("repository", "")), query):
        return False
    if rule.get("labelMatch") and not any(_fits(rule["labelMatch"], label, query) for label in labels):
        return False
    if not _fits(rule.get("branchMatch"), str(fact.get("branch", "")), query):
        return False
    there, absent = rule.get("pathsExist") or [], rule.get("pathsDoNotExist") or []
    if (there or absent) and "paths" not in fact:
        raise query.wrong(
            f"filters by paths of {fact.get('repository')}, which its fact does not have",
            "add paths to the entry",
            "CMD-ARGO-204",
        )
    paths = fact.get("paths") or []
    return all(path in paths for path in there) and not any(path in paths for path in absent)


def _repository(fact: Fact, owner: str) -> Params:
    branch, sha = str(fact.get("branch", "main")), str(fact.get("sha", ""))
    return {
        "organization": str(fact.get("organization", owner)),
        "repository": str(fact.get("repository", "")),
        "repository_id": printed(fact.get("repositoryID", "")),
        "url": str(fact.get("url", "")),
        "branch": branch,
        "branchNormalized": normalized(branch),
        "sha": sha,
        "short_sha": sha[:8],
        "short_sha_7": sha[:7],
        "labels": ",".join(str(label) for label in fact.get("labels") or []),
    }


def pull_request_params(facts: Facts, query: GeneratorQuery) -> list[Params]:
    """Return the open pull requests of a repository that match the filters of a generator.

    Raises:
        InputError: CMD-ARGO-202, no fact matches.
    """
    provider, block = provider_of(query)
    owner, repository = owner_of(block), repository_of(block)
    matches = [
        fact
        for fact in facts.of("pullRequests")
        if fact.get("provider", provider) == provider
        and (not owner or fact.get("organization", owner) == owner)
        and (not repository or fact.get("repository", repository) == repository)
    ]
    if not matches:
        raise _no_fact(query, f"pull requests of {owner}/{repository}", "pullRequests")
    required = {str(label) for label in block.get("labels") or []}
    result = []
    for fact in matches:
        labels = [str(label) for label in fact.get("labels") or []]
        if fact.get("state", "open") not in ("open", "opened") or not required <= set(labels):
            continue
        if _any_filter(query, lambda rule, fact=fact: _request_passes(rule, fact, query)):
            result.append(_request(fact, labels, query))
    return result


def _request_passes(rule: Mapping[str, Any], fact: Fact, query: GeneratorQuery) -> bool:
    pairs = (("branchMatch", "branch"), ("targetBranchMatch", "targetBranch"), ("titleMatch", "title"))
    return all(_fits(rule.get(pattern), str(fact.get(key, "")), query) for pattern, key in pairs)


def _request(fact: Fact, labels: list[str], query: GeneratorQuery) -> Params:
    branch, target = str(fact.get("branch", "")), str(fact.get("targetBranch", ""))
    sha = str(fact.get("headSHA", ""))
    params: Params = {
        "number": printed(fact.get("number", "")),
        "title": str(fact.get("title", "")),
        "branch": branch,
        "branch_slug": _slug(branch, query),
        "target_branch": target,
        "target_branch_slug": _slug(target, query),
        "head_sha": sha,
        "head_short_sha": sha[:8],
        "head_short_sha_7": sha[:7],
        "author": str(fact.get("author", "")),
    }
    return {**params, "labels": Strings(labels)} if query.go else params


def _slug(branch: str, query: GeneratorQuery) -> str:
    text, unknown = branch_slug(branch)
    if unknown:
        query.report(
            "CMD-ARGO-216",
            f"{query.path}: the slug of the branch {branch!r} lacks {unknown}, which Argo CD transliterates to ASCII",
            "names of branches in Latin, Greek and Cyrillic letters have the same slugs here",
        )
    return text


def plugin_params(facts: Facts, query: GeneratorQuery) -> list[Params]:
    """Return the parameters that a plugin would return.

    Raises:
        InputError: CMD-ARGO-202, no fact matches.
    """
    reference = (query.fields.get("configMapRef") or {}).get("name", "")
    given = to_floats((query.fields.get("input") or {}).get("parameters") or {})
    matches = [
        fact
        for fact in facts.of("plugins")
        if fact.get("configMapRef") == reference and ("input" not in fact or to_floats(fact["input"]) == given)
    ]
    if not matches:
        raise _no_fact(query, f"the answer of the plugin {reference}", "plugins")
    outputs = [to_floats(output) for fact in matches for output in fact.get("outputs") or []]
    extra = {"generator": {"input": {"parameters": given}}}
    if query.go:
        return [{**output, **extra} for output in outputs]
    return [flatten({**output, **extra}) for output in outputs]
