"""Generators: parameter sets from the entries of an ApplicationSet."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commodore.argocd.appsets import facts
from commodore.argocd.appsets.fact_files import Facts
from commodore.argocd.appsets.facts import Report
from commodore.argocd.appsets.fields import TextRenderer
from commodore.argocd.appsets.flatten import flatten
from commodore.argocd.appsets.git_files import GitGenerator
from commodore.argocd.appsets.leaves import cluster_params, list_params, with_values
from commodore.argocd.appsets.model import Entry, read_entry
from commodore.argocd.appsets.selectors import selects
from commodore.argocd.model import Cluster
from commodore.base.errors import InputError, Location

Params = dict[str, Any]
_DEEPEST = 2  # matrix or merge in matrix or merge


@dataclass(frozen=True, slots=True)
class GeneratorInputs:
    """The inputs of generators.

    Attributes:
        clusters: the clusters of the settings and of the facts.
        git: reads repositories.
        facts: replace the answers of forges, cluster decisions and plugins.
        report: called for warnings, with code, message and hint.
        early_values: True if `values` of the second generator of a matrix may use parameters of the first.
    """

    clusters: Sequence[Cluster]
    git: GitGenerator
    facts: Facts
    report: Report
    early_values: bool = True


class Generators:
    """Runs the generators of an ApplicationSet."""

    def __init__(self, inputs: GeneratorInputs, texts: TextRenderer, place: Location) -> None:
        self._inputs = inputs
        self._texts = texts
        self._place = place

    def run(self, entry: Entry, depth: int = 0) -> list[tuple[Params, Mapping[str, Any]]]:
        """Return the parameter sets of an entry, each with the fields of its generator.

        Raises:
            InputError: a generator is invalid, or needs facts offline (CMD-ARGO-201 to 204, 211 to 213, 218, 220).
        """
        results = []
        for kind, fields in entry.several:
            several = self._params(kind, fields, f"{entry.path}.{kind}", depth)
            chosen = (params for params in several if selects(entry.selector, flatten(params), self._place))
            results += [(params, fields) for params in chosen]
        return results

    def _params(self, kind: str, fields: Mapping[str, Any], path: str, depth: int) -> list[Params]:
        if kind == "matrix":
            return self._matrix(fields, path, depth)
        if kind == "merge":
            return self._merge(fields, path, depth)
        if kind == "list":
            return list_params(fields, go=self._texts.go, path=path, place=self._place)
        if kind == "clusters":
            return cluster_params(fields, self._inputs.clusters, self._texts, path, self._place)
        if kind == "git":
            several = self._inputs.git.params(fields, path, self._place)
        else:
            several = self._from_facts(kind, fields, path)
        return [with_values(params, fields, self._texts, path) for params in several]

    def _from_facts(self, kind: str, fields: Mapping[str, Any], path: str) -> list[Params]:
        known: dict[str, Callable[..., list[Params]]] = {
            "clusterDecisionResource": facts.decision_params,
            "scmProvider": facts.repository_params,
            "pullRequest": facts.pull_request_params,
            "plugin": facts.plugin_params,
        }
        query = facts.GeneratorQuery(
            fields, path, self._place, self._texts.go, tuple(self._inputs.clusters), self._inputs.report
        )
        return known[kind](self._inputs.facts, query)

    def _children(self, fields: Mapping[str, Any], path: str, depth: int) -> list[Any]:
        if depth >= _DEEPEST:
            raise self._shape(f"{path} is nested deeper than Argo CD allows", "matrix and merge nest two levels deep")
        return fields.get("generators") or []

    def _child(self, value: Any, path: str, depth: int) -> list[Params]:
        entry = read_entry(value, path, self._place)
        if len(entry.several) > 1:
            names = ", ".join(kind for kind, _ in entry.several)
            raise self._shape(f"{path} holds several generators: {names}", "write each in a separate entry")
        return [params for params, _ in self.run(entry, depth + 1)]

    def _matrix(self, fields: Mapping[str, Any], path: str, depth: int) -> list[Params]:
        children = self._children(fields, path, depth)
        if len(children) != 2:
            raise self._shape(f"{path} has {len(children)} generators instead of two", "nest a matrix for a third one")
        result: list[Params] = []
        second_path = f"{path}.generators[1]"
        for first in self._child(children[0], f"{path}.generators[0]", depth):
            several = self._child(self._with(children[1], first, second_path), second_path, depth)
            result += [crossed(first, second, go=self._texts.go, path=path, place=self._place) for second in several]
        return result

    def _with(self, entry: Any, params: Params, path: str) -> Any:
        """Return an entry with its texts rendered with the parameters of the first generator."""
        if not isinstance(entry, Mapping):
            return entry
        return {kind: self._rendered(fields, params, f"{path}.{kind}") for kind, fields in entry.items()}

    def _rendered(self, fields: Any, params: Params, path: str) -> Any:
        if not isinstance(fields, Mapping):
            return self._texts.walk(fields, params, path)
        result: dict[str, Any] = {}
        for key, value in fields.items():
            if key == "template":
                continue
            if key == "values" and isinstance(value, Mapping) and not self._inputs.early_values:
                result[key] = value  # rendered later, with its own parameters only
            elif key == "values" and isinstance(value, Mapping):
                result[key] = {
                    name: self._texts.render_strictly(text, params) if isinstance(text, str) else text
                    for name, text in value.items()
                }
            elif key == "generators" and isinstance(value, list):
                result[key] = [self._with(child, params, f"{path}.generators[{at}]") for at, child in enumerate(value)]
            else:
                result[key] = self._texts.walk(value, params, f"{path}.{key}")
        return result

    def _merge(self, fields: Mapping[str, Any], path: str, depth: int) -> list[Params]:
        children = self._children(fields, path, depth)
        if len(children) < 2:
            raise self._shape(f"{path} has {len(children)} generators; it needs two or more", "add generators")
        several = [self._child(child, f"{path}.generators[{at}]", depth) for at, child in enumerate(children)]
        keys = fields.get("mergeKeys") or []
        return merged(several, keys, go=self._texts.go, path=path, place=self._place)

    def _shape(self, message: str, hint: str) -> InputError:
        return InputError("CMD-ARGO-211", message, hint=hint, locations=[self._place])


def crossed(first: Params, second: Params, *, go: bool, path: str, place: Location) -> Params:
    """Return the parameters of both; with Go templates those of the first take precedence.

    Raises:
        InputError: CMD-ARGO-213, both have a flat parameter, with different values.
    """
    if go:
        return overlaid(second, first)
    for key, value in second.items():
        if key in first and first[key] != value:
            raise InputError(
                "CMD-ARGO-213",
                f"{path}: both generators give the parameter {key}, with different values",
                hint="rename one of them, or use Go templates",
                locations=[place],
            )
    return {**first, **second}


def overlaid(under: Mapping[str, Any], over: Mapping[str, Any]) -> Params:
    """Merge two maps recursively; of other values those of the second take precedence."""
    result = dict(under)
    for key, value in over.items():
        old = result.get(key)
        result[key] = overlaid(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


def merged(
    several: Sequence[Sequence[Params]], keys: Sequence[str], *, go: bool, path: str, place: Location
) -> list[Params]:
    """Return the sets of the first generator, overridden in turn by the sets of the others that have the same keys.

    Raises:
        InputError: CMD-ARGO-212, two sets of one generator have the same keys, or no keys are named.
    """
    if not keys:
        raise InputError(
            "CMD-ARGO-212",
            f"{path} names no mergeKeys",
            hint="name the common parameters",
            locations=[place],
        )
    base = _keyed(several[0], keys, path, place)
    for others in several[1:]:
        for key, params in _keyed(others, keys, path, place).items():
            if key in base:
                base[key] = overlaid(base[key], params) if go else {**base[key], **params}
    return list(base.values())


def _keyed(several: Sequence[Params], keys: Sequence[str], path: str, place: Location) -> dict[str, Params]:
    result: dict[str, Params] = {}
    for params in several:
        values = {key: params.get(key) for key in keys}
        text = json.dumps(values, sort_keys=True)
        if text in result:
            raise InputError(
                "CMD-ARGO-212",
                f"{path}: two sets of one generator have the same mergeKeys: {text}",
                hint="the values of the keys must differ within each generator; nested keys are not looked up",
                locations=[place],
            )
        result[text] = params
    return result
