"""`.argocd-source.yaml` and `.argocd-source-<instance>.yaml` in the folder of a source."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commodore.argocd.model.fields import Fields
from commodore.argocd.model.sources import Source, read_source
from commodore.argocd.trees import check_inside
from commodore.base.errors import InputError, Location
from commodore.base.limits import Limits
from commodore.base.yaml.kube_yaml import read_documents

_NOT_OVERRIDABLE = ("repoURL", "path", "chart", "targetRevision")


def overridden(source: Source, folder: Path, root: Path, instance: str, limits: Limits) -> tuple[Source, list[str]]:
    """Return a source with the overrides of its folder applied, and the names of their files.

    Args:
        root: the repository's folder, which override files must not leave by links.

    Raises:
        InputError: CMD-ARGO-308, an override cannot be read; CMD-ARGO-103, it makes a field invalid.
    """
    files = []
    data: Any = source.data
    for name in (".argocd-source.yaml", f".argocd-source-{instance}.yaml"):
        file = folder / name
        if not file.is_file():
            continue
        check_inside(file, root, name)
        data = merge_patch(data, _read(file, os.path.relpath(file, root), limits))
        files.append(name)
    if not files:
        return source, []
    kept = {key: source.data[key] for key in _NOT_OVERRIDABLE if key in source.data}
    data = {**{key: value for key, value in data.items() if key not in _NOT_OVERRIDABLE}, **kept}
    return read_source(Fields(data, source.field, source.place)), files


def _read(file: Path, place: str, limits: Limits) -> Mapping[str, Any]:
    try:
        with file.open("rb") as stream:
            content = stream.read(limits.argocd_scanned_bytes + 1)
        if len(content) > limits.argocd_scanned_bytes:
            raise InputError("CMD-ARGO-308", f"{file.name} is larger than {limits.argocd_scanned_bytes} bytes")
        value: Any = next(read_documents(content, place=place), {})
    except OSError as error:
        raise InputError("CMD-ARGO-308", f"{file.name} cannot be read: {error.strerror}") from error
    except InputError as error:
        raise InputError("CMD-ARGO-308", error.message, hint="correct it", locations=error.locations) from error
    if not isinstance(value, Mapping):
        raise InputError(
            "CMD-ARGO-308",
            f"{file.name} must be a mapping",
            hint="it holds the fields of a source that it overrides",
            locations=[Location(place)],
        )
    return value


def merge_patch(target: Any, patch: Any) -> Any:
    """Apply a JSON merge patch (RFC 7396): mappings are merged, null deletes, everything else replaces."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result
