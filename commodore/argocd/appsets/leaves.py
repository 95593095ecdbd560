"""Generators that need nothing but the ApplicationSet and the settings: lists and clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from commodore.argocd.appsets.fields import Texts
from commodore.argocd.appsets.functions import normalized
from commodore.argocd.appsets.selectors import selects
from commodore.argocd.model import IN_CLUSTER, IN_CLUSTER_SERVER, Cluster
from commodore.base.errors import CommodoreError, InputError, Location
from commodore.base.gotemplate import StringMap, to_floats
from commodore.base.yaml.kube_yaml import read_documents

Params = dict[str, Any]


def list_params(fields: Mapping[str, Any], *, go: bool, path: str, place: Location) -> list[Params]:
    """The elements of a list generator.

    Raises:
        InputError: CMD-ARGO-103, an element is no map, or has values that are no texts where texts are needed.
    """
    elements = [to_floats(one) for one in fields.get("elements") or []]
    found = [_element(one, go, f"{path}.elements[{at}]", place) for at, one in enumerate(elements)]
    if fields.get("elementsYaml"):
        found += _from_yaml(fields["elementsYaml"], path, place)
    return found


def _element(value: Any, go: bool, path: str, place: Location) -> Params:
    if not isinstance(value, dict):
        raise InputError("CMD-ARGO-103", f"{path} is no map", hint="write key: value", locations=[place])
    if go:
        return value
    found: Params = {}
    for key, item in value.items():
        if key == "values" and isinstance(item, dict):
            inner = {f"values.{name}": text for name, text in item.items()}
        else:
            inner = {key: item}
        for name, text in inner.items():
            if not isinstance(text, str):
                raise InputError(
                    "CMD-ARGO-103",
                    f"{path}.{name} must be text",
                    hint="quote it, or set goTemplate: true",
                    locations=[place],
                )
            found[name] = text
    return found


def _from_yaml(text: str, path: str, place: Location) -> list[Params]:
    try:
        value = to_floats(next(read_documents(text, place=f"{path}.elementsYaml"), []))
    except CommodoreError as error:
        raise error.about(f"{path}.elementsYaml", at=[place]) from None
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise InputError(
            "CMD-ARGO-103",
            f"{path}.elementsYaml is no list of maps",
            hint="write a YAML list of maps",
            locations=[place],
        )
    return value


def cluster_params(
    fields: Mapping[str, Any], clusters: Sequence[Cluster], texts: Texts, path: str, place: Location
) -> list[Params]:
    """The clusters that a generator selects, those with Secrets by name; without a selector the local one, too."""
    selector = fields.get("selector") or {}
    chosen = [one for one in clusters if selects(selector, one.labels, place)]
    found = [_cluster(one.name, one.server, one, go=texts.go) for one in chosen]
    if not any(selector.values()) and not any(one.server == IN_CLUSTER_SERVER for one in clusters):
        found.append(_cluster(IN_CLUSTER, IN_CLUSTER_SERVER, None, go=texts.go))
    found = [with_values(one, fields, texts, path) for one in found]
    return [{"clusters": found}] if fields.get("flatList") else found


def _cluster(name: str, server: str, cluster: Cluster | None, *, go: bool) -> Params:
    found: Params = {
        "name": name,
        "nameNormalized": normalized(name),
        "server": server,
        "project": cluster.project if cluster is not None else "",
    }
    labels = dict(cluster.labels) if cluster is not None else {}
    annotations = dict(cluster.annotations) if cluster is not None else {}
    if not go:
        found |= {f"metadata.labels.{key}": value for key, value in labels.items()}
        found |= {f"metadata.annotations.{key}": value for key, value in annotations.items()}
    elif cluster is not None:
        several = {"annotations": annotations, "labels": labels}
        found["metadata"] = {key: StringMap(value) for key, value in several.items() if value}
    return found


def with_values(params: Params, fields: Mapping[str, Any], texts: Texts, path: str) -> Params:
    """Parameters with a generator's `values`, which may use the others."""
    values: Mapping[str, str] = fields.get("values") or {}
    rendered = {key: texts.render(value, params, f"{path}.values.{key}") for key, value in values.items()}
    if texts.go:
        return {**params, "values": rendered} if rendered else params
    return params | {f"values.{key}": value for key, value in rendered.items()}
