"""The settings in values of the chart `argo-cd`, as the objects that the chart renders from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from commodore.argocd.configuration.keys import CONFIG, PARAMETERS, is_used
from commodore.argocd.model.cluster import SECRET_TYPE
from commodore.base.yaml import dump


def objects_of_values(values: Any) -> Iterator[dict[str, Any]]:
    """Yield the ConfigMaps and the Secrets of clusters and repositories; none if the values are of another chart.

    Args:
        values: a document; the values are at its top level, or below `argo-cd` if that chart is a dependency.
    """
    if not isinstance(values, Mapping) or "kind" in values:
        return
    for whole in (values, values.get("argo-cd")):
        if not isinstance(whole, Mapping):
            continue
        configs, server = _map(whole, "configs"), _map(whole, "server")
        config = {**_map(server, "config"), **_map(configs, "cm")}  # `server.config` in old versions of the chart
        yield from _config_map(CONFIG, config)
        yield from _config_map(PARAMETERS, _map(configs, "params"))
        yield from _clusters(configs.get("clusterCredentials"))
        yield from _repositories(configs.get("repositories"), "repository")
        yield from _repositories(configs.get("credentialTemplates"), "repo-creds")


def _map(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    item = value.get(key)
    return item if isinstance(item, Mapping) else {}


def _config_map(name: str, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    data = {key: _text(value) for key, value in given.items() if is_used(name, key)}
    if data:
        yield {"kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def _text(value: Any) -> str:
    """Return a value as the chart writes it: texts unchanged, others as YAML."""
    if isinstance(value, str):
        return value
    return "" if value is None else dump(value).rstrip("\n")


def _repositories(given: Any, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the Secrets of repositories, without credentials, from a map."""
    for repository in given.values() if isinstance(given, Mapping) else ():
        if isinstance(repository, Mapping) and isinstance(repository.get("url"), str):
            known = ("url", "name", "type", "project", "enableOCI")
            fields = {key: _text(repository[key]) for key in known if isinstance(repository.get(key), str | bool)}
            yield {"kind": "Secret", "metadata": {"labels": {SECRET_TYPE: kind}}, "stringData": fields}


def _clusters(given: Any) -> Iterator[dict[str, Any]]:
    """Yield the Secrets of clusters, from a map by name, or from a list in old versions of the chart."""
    named = given.items() if isinstance(given, Mapping) else ()
    listed = given if isinstance(given, list) else ()
    entries = [{"name": key, **value} for key, value in named if isinstance(value, Mapping)]
    entries += ({**entry} for entry in listed if isinstance(entry, Mapping))
    for entry in entries:
        fields = {
            key: entry[key] for key in ("name", "server", "project", "namespaces") if isinstance(entry.get(key), str)
        }
        metadata = {
            "labels": {**_map(entry, "labels"), SECRET_TYPE: "cluster"},
            "annotations": _map(entry, "annotations"),
        }
        yield {"kind": "Secret", "metadata": metadata, "stringData": fields}
