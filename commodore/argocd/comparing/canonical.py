"""Canonical form of objects that are equal for the API server: absent and null, both fields of a Secret's data, empty
rules, amounts such as `1000m` and `1`, the order of Endpoints.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from commodore.argocd.normalising.known_types import AMOUNTS, rewrite

_RBAC = "rbac.authorization.k8s.io/"


def canonical(data: dict[str, Any]) -> dict[str, Any]:
    """Return an object in canonical form. The object itself is not changed."""
    result: dict[str, Any] = _without_nulls(data)
    metadata = result.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("creationTimestamp", None)
    version, kind = str(result.get("apiVersion", "")), result.get("kind")
    group = version.rpartition("/")[0]
    for path, type_ in AMOUNTS.get(f"{group}/{kind}" if group else str(kind), ()):
        rewrite(result, path, type_)
    if version == "v1" and kind == "Secret":
        _join_secret(result)
    elif version.startswith(_RBAC) and kind in ("Role", "ClusterRole") and result.get("rules") == []:
        del result["rules"]
    elif version == "v1" and kind == "Endpoints":
        result["subsets"] = _ordered(result.get("subsets"))
    elif kind == "CustomResourceDefinition":
        spec = result.get("spec")
        if isinstance(spec, dict) and spec.get("preserveUnknownFields") is False:
            del spec["preserveUnknownFields"]
    return result


def _without_nulls(value: Any) -> Any:
    """Return a copy without null values of mappings. Those of lists stay, as their positions matter."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_nulls(inner) for inner in value]
    return value


def _ordered(value: Any) -> Any:
    """Return the subsets of Endpoints with sorted lists and the default protocol of ports."""
    if isinstance(value, dict):
        result = {key: _ordered(inner) for key, inner in value.items()}
        return {"protocol": "TCP", **result} if "port" in result else result
    if isinstance(value, list):
        return sorted(map(_ordered, value), key=lambda item: json.dumps(item, sort_keys=True))
    return value


def _join_secret(secret: dict[str, Any]) -> None:
    plain = secret.get("stringData")
    data = secret.get("data", {})
    if not isinstance(plain, dict) or not isinstance(data, dict):
        return
    encoded = {
        key: base64.b64encode(value.encode("utf-8", "surrogatepass")).decode() if isinstance(value, str) else value
        for key, value in plain.items()
    }
    del secret["stringData"]
    secret["data"] = {**data, **encoded}
