"""What generators would learn of forges, clusters and plugins, from facts that stand for their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from commodore.argocd.appsets.fact_files import Facet, Facts
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
class Asked:
    """What a generator asks: its fields, where they are, the form of parameters, the known clusters.

    Attributes:
        report: hears of what does not fail, by code, message and hint.
    """

    fields: Mapping[str, Any]
    path: str
    place: Location
    go: bool
    clusters: tuple[Cluster, ...]
    report: Report = lambda *_: None

    def wrong(self, message: str, hint: str, code: str = "CMD-ARGO-103") -> InputError:
        """An error about the generator."""
        return InputError(code, f"{self.path} {message}", hint=hint, locations=[self.place])


def _none(asked: Asked, what: str, section: str) -> InputError:
    return asked.wrong(
        f"asks for {what}, which no facts file says", f"add an entry to {section} of a --facts file", "CMD-ARGO-202"
    )


def decision_params(facts: Facts, asked: Asked) -> list[Params]:
    """The decisions of a resource for clusters that are known.

    Raises:
        InputError: CMD-ARGO-103, the generator names both a name and labels, or none; CMD-ARGO-202, no fact fits.
    """
    name, selector = asked.fields.get("name", ""), asked.fields.get("labelSelector")
    if bool(name) == bool(selector):
        raise asked.wrong("must name one of name and labelSelector", "keep one of them")
    reference = asked.fields.get("configMapRef", "")
    fitting = [
        one
        for one in facts.of("clusterDecisions")
        if one.get("configMapRef", reference) == reference
        and (one.get("resourceName") == name if name else selects(selector, one.get("labels") or {}, asked.place))
    ]
    if not fitting:
        raise _none(asked, f"decisions of {reference}", "clusterDecisions")
    known = {one.name: one for one in asked.clusters} | {one.server: one for one in asked.clusters}
    found = []
    for one in fitting:
        key = one.get("matchKey") or "clusterName"
        for decision in one.get("decisions") or []:
            cluster = known.get(str(decision.get(key, "")))
            if cluster is not None:
                texts = {name: printed(to_floats(value)) for name, value in decision.items()}
                found.append({"name": cluster.name, "server": cluster.server, **texts})
    return found


def provider_of(asked: Asked) -> tuple[str, Mapping[str, Any]]:
    """The provider that a generator asks, and what it says of it.

    Raises:
        InputError: CMD-ARGO-103, it names none or several.
    """
    blocks = [
        (_PROVIDERS.get(key, key), value)
        for key, value in asked.fields.items()
        if isinstance(value, Mapping) and key not in ("template", "values")
    ]
    if len(blocks) != 1:
        raise asked.wrong(f"names {len(blocks)} providers instead of one", "keep one of them")
    return blocks[0]


def owner_of(block: Mapping[str, Any]) -> str:
    """Whose repositories a provider is asked for."""
    return _first_text(block, _OWNERS)


def repository_asked(block: Mapping[str, Any]) -> str:
    """The repository whose pull requests a provider is asked for."""
    return _first_text(block, _REPOSITORIES)


def _first_text(block: Mapping[str, Any], keys: Iterable[str]) -> str:
    return next((str(block[key]) for key in keys if block.get(key)), "")


def _fits(pattern: str | None, text: str, asked: Asked) -> bool:
    if not pattern:
        return True
    try:
        return search_regexp(pattern, text) is not None
    except CallProblem as error:
        raise asked.wrong(
            f"has an expression that is not valid: {pattern}: {error}", "write one in RE2's syntax"
        ) from None


def _any_filter(asked: Asked, fits: Any) -> bool:
    filters = asked.fields.get("filters") or []
    return not filters or any(fits(one) for one in filters)


def repository_params(facts: Facts, asked: Asked) -> list[Params]:
    """The repositories of an organisation that a generator's filters let through.

    Raises:
        InputError: CMD-ARGO-202, no fact fits.
    """
    provider, block = provider_of(asked)
    owner = owner_of(block)
    fitting = [
        one
        for one in facts.of("scmRepositories")
        if one.get("provider", provider) == provider and (not owner or one.get("organization", owner) == owner)
    ]
    if not fitting:
        raise _none(asked, f"repositories of {owner or provider}", "scmRepositories")
    return [
        _repository(one, owner)
        for one in fitting
        if _any_filter(asked, lambda rule, one=one: _passes(rule, one, asked))
    ]


def _passes(rule: Mapping[str, Any], one: Facet, asked: Asked) -> bool:
    labels = [str(label) for label in one.get("labels") or []]
    if not _fits(rule.get("repositoryMatch"), str(one.get("repository", "")), asked):
        return False
    if rule.get("labelMatch") and not any(_fits(rule["labelMatch"], label, asked) for label in labels):
        return False
    if not _fits(rule.get("branchMatch"), str(one.get("branch", "")), asked):
        return False
    there, absent = rule.get("pathsExist") or [], rule.get("pathsDoNotExist") or []
    if (there or absent) and "paths" not in one:
        raise asked.wrong(
            f"asks for paths of {one.get('repository')}, which its fact does not say",
            "add paths to the entry",
            "CMD-ARGO-204",
        )
    paths = one.get("paths") or []
    return all(path in paths for path in there) and not any(path in paths for path in absent)


def _repository(one: Facet, owner: str) -> Params:
    branch, sha = str(one.get("branch", "main")), str(one.get("sha", ""))
    return {
        "organization": str(one.get("organization", owner)),
        "repository": str(one.get("repository", "")),
        "repository_id": printed(one.get("repositoryID", "")),
        "url": str(one.get("url", "")),
        "branch": branch,
        "branchNormalized": normalized(branch),
        "sha": sha,
        "short_sha": sha[:8],
        "short_sha_7": sha[:7],
        "labels": ",".join(str(label) for label in one.get("labels") or []),
    }


def pull_request_params(facts: Facts, asked: Asked) -> list[Params]:
    """The open pull requests of a repository that a generator's filters let through.

    Raises:
        InputError: CMD-ARGO-202, no fact fits.
    """
    provider, block = provider_of(asked)
    owner, repository = owner_of(block), repository_asked(block)
    fitting = [
        one
        for one in facts.of("pullRequests")
        if one.get("provider", provider) == provider
        and (not owner or one.get("organization", owner) == owner)
        and (not repository or one.get("repository", repository) == repository)
    ]
    if not fitting:
        raise _none(asked, f"pull requests of {owner}/{repository}", "pullRequests")
    wanted = {str(label) for label in block.get("labels") or []}
    found = []
    for one in fitting:
        labels = [str(label) for label in one.get("labels") or []]
        if one.get("state", "open") not in ("open", "opened") or not wanted <= set(labels):
            continue
        if _any_filter(asked, lambda rule, one=one: _request_passes(rule, one, asked)):
            found.append(_request(one, labels, asked))
    return found


def _request_passes(rule: Mapping[str, Any], one: Facet, asked: Asked) -> bool:
    pairs = (("branchMatch", "branch"), ("targetBranchMatch", "targetBranch"), ("titleMatch", "title"))
    return all(_fits(rule.get(pattern), str(one.get(key, "")), asked) for pattern, key in pairs)


def _request(one: Facet, labels: list[str], asked: Asked) -> Params:
    branch, target = str(one.get("branch", "")), str(one.get("targetBranch", ""))
    sha = str(one.get("headSHA", ""))
    found: Params = {
        "number": printed(one.get("number", "")),
        "title": str(one.get("title", "")),
        "branch": branch,
        "branch_slug": _slug(branch, asked),
        "target_branch": target,
        "target_branch_slug": _slug(target, asked),
        "head_sha": sha,
        "head_short_sha": sha[:8],
        "head_short_sha_7": sha[:7],
        "author": str(one.get("author", "")),
    }
    return {**found, "labels": Strings(labels)} if asked.go else found


def _slug(branch: str, asked: Asked) -> str:
    text, unknown = branch_slug(branch)
    if unknown:
        asked.report(
            "CMD-ARGO-216",
            f"{asked.path}: the slug of the branch {branch!r} leaves out {unknown}, which Argo CD spells in ASCII",
            "names of branches in Latin, Greek and Cyrillic letters have the same slugs here",
        )
    return text


def plugin_params(facts: Facts, asked: Asked) -> list[Params]:
    """What a plugin would answer.

    Raises:
        InputError: CMD-ARGO-202, no fact fits.
    """
    reference = (asked.fields.get("configMapRef") or {}).get("name", "")
    given = to_floats((asked.fields.get("input") or {}).get("parameters") or {})
    fitting = [
        one
        for one in facts.of("plugins")
        if one.get("configMapRef") == reference and ("input" not in one or to_floats(one["input"]) == given)
    ]
    if not fitting:
        raise _none(asked, f"the answer of the plugin {reference}", "plugins")
    outputs = [to_floats(output) for one in fitting for output in one.get("outputs") or []]
    extra = {"generator": {"input": {"parameters": given}}}
    if asked.go:
        return [{**output, **extra} for output in outputs]
    return [flatten({**output, **extra}) for output in outputs]
