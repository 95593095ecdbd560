"""Generators that need only the ApplicationSet and the settings: list and clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from commodore.argocd.appsets.fields import TextRenderer
from commodore.argocd.appsets.functions import normalized
from commodore.argocd.appsets.selectors import selects
from commodore.argocd.model import IN_CLUSTER, IN_CLUSTER_SERVER, Cluster
from commodore.base.errors import CommodoreError, InputError, Location
from commodore.base.gotemplate import StringMap, to_floats
from commodore.base.yaml.kube_yaml import read_documents

Params = dict[str, Any]


def list_params(fields: Mapping[str, Any], *, go: bool, path: str, place: Location) -> list[Params]:
    """Return the elements of a list generator.

    Raises:
        InputError: CMD-ARGO-103, an element is not a map, or has values of another type where texts are needed.
    """
    elements = [to_floats(element) for element in fields.get("elements") or []]
    result = [_element(element, go, f"{path}.elements[{at}]", place) for at, element in enumerate(elements)]
    if fields.get("elementsYaml"):
        result += _from_yaml(fields["elementsYaml"], path, place)
    return result


def _element(value: Any, go: bool, path: str, place: Location) -> Params:
    if not isinstance(value, dict):
        raise InputError("CMD-ARGO-103", f"{path} must be a map", hint="write key: value", locations=[place])
    if go:
        return value
    params: Params = {}
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
            params[name] = text
    return params


def _from_yaml(text: str, path: str, place: Location) -> list[Params]:
    try:
        value = to_floats(next(read_documents(text, place=f"{path}.elementsYaml"), []))
    except CommodoreError as error:
        raise error.about(f"{path}.elementsYaml", at=[place]) from None
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise InputError(
            "CMD-ARGO-103",
            f"{path}.elementsYaml must be a list of maps",
            hint="write a YAML list of maps",
            locations=[place],
        )
    return value


def cluster_params(
    fields: Mapping[str, Any], clusters: Sequence[Cluster], texts: TextRenderer, path: str, place: Location
) -> list[Params]:
    """Return the parameters of the selected clusters, in their order; without a selector also of the local one."""
    selector = fields.get("selector") or {}
    chosen = [cluster for cluster in clusters if selects(selector, cluster.labels, place)]
    result = [_cluster(cluster.name, cluster.server, cluster, go=texts.go) for cluster in chosen]
    if not any(selector.values()) and not any(cluster.server == IN_CLUSTER_SERVER for cluster in clusters):
        result.append(_cluster(IN_CLUSTER, IN_CLUSTER_SERVER, None, go=texts.go))
    result = [with_values(params, fields, texts, path) for params in result]
    return [{"clusters": result}] if fields.get("flatList") else result


def _cluster(name: str, server: str, cluster: Cluster | None, *, go: bool) -> Params:
    params: Params = {
        "name": name,
        "nameNormalized": normalized(name),
        "server": server,
        "project": cluster.project if cluster is not None else "",
    }
    labels = dict(cluster.labels) if cluster is not None else {}
    annotations = dict(cluster.annotations) if cluster is not None else {}
    if not go:
        params |= {f"metadata.labels.{key}": value for key, value in labels.items()}
        params |= {f"metadata.annotations.{key}": value for key, value in annotations.items()}
    elif cluster is not None:
        several = {"annotations": annotations, "labels": labels}
        params["metadata"] = {key: StringMap(value) for key, value in several.items() if value}
    return params


def with_values(params: Params, fields: Mapping[str, Any], texts: TextRenderer, path: str) -> Params:
    """Return parameters with the `values` of a generator, which may refer to the others."""
    values: Mapping[str, str] = fields.get("values") or {}
    rendered = {key: texts.render(value, params, f"{path}.values.{key}") for key, value in values.items()}
    if texts.go:
        return {**params, "values": rendered} if rendered else params
    return params | {f"values.{key}": value for key, value in rendered.items()}
