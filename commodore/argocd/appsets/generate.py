"""Running generators: from the entries of an ApplicationSet to sets of parameters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commodore.argocd.appsets import facts
from commodore.argocd.appsets.fact_files import Facts
from commodore.argocd.appsets.facts import Report
from commodore.argocd.appsets.fields import Texts
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
class Sources:
    """What generators read from.

    Attributes:
        clusters: those of the settings and of the facts.
        git: reads repositories.
        facts: stand for what forges, decisions and plugins would say.
        report: hears of what does not fail, by code, message and hint.
        early_values: whether `values` of the second generator of a matrix are rendered with what the first one gives.
    """

    clusters: Sequence[Cluster]
    git: GitGenerator
    facts: Facts
    report: Report
    early_values: bool = True


class Generators:
    """Runs the generators of one ApplicationSet."""

    def __init__(self, sources: Sources, texts: Texts, place: Location) -> None:
        self._sources = sources
        self._texts = texts
        self._place = place

    def run(self, entry: Entry, depth: int = 0) -> list[tuple[Params, Mapping[str, Any]]]:
        """The parameter sets of an entry, each with the fields of the generator that gave it.

        Raises:
            InputError: a generator is wrong, or says nothing offline (CMD-ARGO-201 to 204, 211 to 213, 218, 220).
        """
        found = []
        for kind, fields in entry.several:
            several = self._one(kind, fields, f"{entry.path}.{kind}", depth)
            chosen = (one for one in several if selects(entry.selector, flatten(one), self._place))
            found += [(one, fields) for one in chosen]
        return found

    def _one(self, kind: str, fields: Mapping[str, Any], path: str, depth: int) -> list[Params]:
        if kind == "matrix":
            return self._matrix(fields, path, depth)
        if kind == "merge":
            return self._merge(fields, path, depth)
        if kind == "list":
            return list_params(fields, go=self._texts.go, path=path, place=self._place)
        if kind == "clusters":
            return cluster_params(fields, self._sources.clusters, self._texts, path, self._place)
        if kind == "git":
            several = self._sources.git.params(fields, path, self._place)
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
        asked = facts.Asked(
            fields, path, self._place, self._texts.go, tuple(self._sources.clusters), self._sources.report
        )
        return known[kind](self._sources.facts, asked)

    def _children(self, fields: Mapping[str, Any], path: str, depth: int) -> list[Any]:
        if depth >= _DEEPEST:
            raise self._shape(f"{path} is nested deeper than Argo CD allows", "matrix and merge nest two levels deep")
        return fields.get("generators") or []

    def _child(self, value: Any, path: str, depth: int) -> list[Params]:
        entry = read_entry(value, path, self._place)
        if len(entry.several) > 1:
            names = ", ".join(kind for kind, _ in entry.several)
            raise self._shape(f"{path} holds several generators: {names}", "write each as an entry of its own")
        return [params for params, _ in self.run(entry, depth + 1)]

    def _matrix(self, fields: Mapping[str, Any], path: str, depth: int) -> list[Params]:
        children = self._children(fields, path, depth)
        if len(children) != 2:
            raise self._shape(f"{path} has {len(children)} generators instead of two", "nest a matrix for a third one")
        found: list[Params] = []
        second_path = f"{path}.generators[1]"
        for first in self._child(children[0], f"{path}.generators[0]", depth):
            several = self._child(self._with(children[1], first, second_path), second_path, depth)
            found += [crossed(first, one, go=self._texts.go, path=path, place=self._place) for one in several]
        return found

    def _with(self, entry: Any, params: Params, path: str) -> Any:
        """An entry whose texts are rendered with what the first generator gives."""
        if not isinstance(entry, Mapping):
            return entry
        return {kind: self._rendered(fields, params, f"{path}.{kind}") for kind, fields in entry.items()}

    def _rendered(self, fields: Any, params: Params, path: str) -> Any:
        if not isinstance(fields, Mapping):
            return self._texts.walk(fields, params, path)
        found: dict[str, Any] = {}
        for key, value in fields.items():
            if key == "template":
                continue
            if key == "values" and isinstance(value, Mapping) and not self._sources.early_values:
                found[key] = value  # its own parameters alone are for it
            elif key == "values" and isinstance(value, Mapping):
                found[key] = {
                    name: self._texts.render_strictly(text, params) if isinstance(text, str) else text
                    for name, text in value.items()
                }
            elif key == "generators" and isinstance(value, list):
                found[key] = [self._with(one, params, f"{path}.generators[{at}]") for at, one in enumerate(value)]
            else:
                found[key] = self._texts.walk(value, params, f"{path}.{key}")
        return found

    def _merge(self, fields: Mapping[str, Any], path: str, depth: int) -> list[Params]:
        children = self._children(fields, path, depth)
        if len(children) < 2:
            raise self._shape(f"{path} has {len(children)} generators; it needs two or more", "add what is merged")
        several = [self._child(one, f"{path}.generators[{at}]", depth) for at, one in enumerate(children)]
        keys = fields.get("mergeKeys") or []
        return merged(several, keys, go=self._texts.go, path=path, place=self._place)

    def _shape(self, message: str, hint: str) -> InputError:
        return InputError("CMD-ARGO-211", message, hint=hint, locations=[self._place])


def crossed(first: Params, second: Params, *, go: bool, path: str, place: Location) -> Params:
    """Parameters of both; in Go templates those of the first win.

    Raises:
        InputError: CMD-ARGO-213, flat parameters differ.
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
    """Two maps in one: maps join, of other values the second one's count."""
    found = dict(under)
    for key, value in over.items():
        old = found.get(key)
        found[key] = overlaid(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return found


def merged(
    several: Sequence[Sequence[Params]], keys: Sequence[str], *, go: bool, path: str, place: Location
) -> list[Params]:
    """The sets of the first generator, with what the others say of the same keys laid over them in turn.

    Raises:
        InputError: CMD-ARGO-212, two sets of one generator have the same keys, or no keys are named.
    """
    if not keys:
        raise InputError(
            "CMD-ARGO-212", f"{path} names no mergeKeys", hint="name what the sets have in common", locations=[place]
        )
    base = _keyed(several[0], keys, path, place)
    for others in several[1:]:
        for key, params in _keyed(others, keys, path, place).items():
            if key in base:
                base[key] = overlaid(base[key], params) if go else {**base[key], **params}
    return list(base.values())


def _keyed(several: Sequence[Params], keys: Sequence[str], path: str, place: Location) -> dict[str, Params]:
    found: dict[str, Params] = {}
    for params in several:
        values = {key: params.get(key) for key in keys}
        text = json.dumps(values, sort_keys=True)
        if text in found:
            raise InputError(
                "CMD-ARGO-212",
                f"{path}: two sets of one generator have the same mergeKeys: {text}",
                hint="the values of the keys must differ within each generator; nested keys are not looked up",
                locations=[place],
            )
        found[text] = params
    return found
