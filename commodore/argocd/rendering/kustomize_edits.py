"""The edits of `kustomize edit` that Argo CD uses, applied to a parsed kustomization."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from commodore.argocd.model.sources import KustomizeOptions
from commodore.base.errors import InputError
from commodore.base.kubernetes.images import split_image

Substitute = Callable[[str], str]

_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?")
_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]")
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_PRESERVED = "*"


def edit(
    kustomization: Mapping[str, Any], options: KustomizeOptions, substitute: Substitute, folder: Path
) -> dict[str, Any]:
    """Apply the options of a source to a kustomization, in the order of Argo CD.

    Args:
        substitute: resolves variables of the build environment.
        folder: the folder of the kustomization, for patterns of components.

    Raises:
        InputError: CMD-ARGO-412, a label or annotation exists already, or a value is invalid;
            CMD-ARGO-410, the kustomization has a field of a wrong type.
    """
    result = dict(kustomization)
    if options.name_prefix:
        result["namePrefix"] = options.name_prefix
    if options.name_suffix:
        result["nameSuffix"] = options.name_suffix
    if options.images:
        result["images"] = _images(_entries(result, "images"), [substitute(image) for image in options.images])
    if options.replicas:
        result["replicas"] = _replicas(_entries(result, "replicas"), options)
    if options.common_labels:
        _add_labels(result, options, {key: substitute(value) for key, value in options.common_labels})
    if options.common_annotations:
        value_of = substitute if options.substitute_annotations else str
        _check_keys((key for key, _ in options.common_annotations), "annotation")
        pairs = {key: value_of(value) for key, value in options.common_annotations}
        _join(result, "commonAnnotations", pairs, "annotation", force=options.force_annotations)
    if options.namespace:
        if not _NAMESPACE.fullmatch(options.namespace):
            raise _conflict(f"invalid namespace {options.namespace!r}")
        result["namespace"] = options.namespace
    if options.patches:
        result["patches"] = [*_list(result, "patches"), *(dict(patch.data) for patch in options.patches)]
    if options.components:
        _add_components(result, options, folder)
    return result


def _conflict(message: str) -> InputError:
    return InputError("CMD-ARGO-412", message, hint="change the field kustomize of the source, or the kustomization")


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    value = data.get(key)
    if value is not None and not isinstance(value, list):
        raise InputError("CMD-ARGO-410", f"{key} of the kustomization must be a list", hint="correct the kustomization")
    return value or []


def _entries(data: Mapping[str, Any], key: str) -> dict[str, dict[str, Any]]:
    """Return the mappings of a list by their names."""
    result: dict[str, dict[str, Any]] = {}
    for entry in _list(data, key):
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            raise InputError(
                "CMD-ARGO-410", f"an entry of {key} of the kustomization has no name", hint="correct the kustomization"
            )
        result[entry["name"]] = dict(entry)
    return result


def _images(present: dict[str, dict[str, Any]], images: list[str]) -> list[dict[str, Any]]:
    """Merge images by name: new ones replace present ones, except for parts that are `*`."""
    new = {image["name"]: image for image in map(_parsed_image, images)}
    for name, image in new.items():
        old = present.get(name, {})
        for part in ("newName", "newTag", "digest"):
            if image.get(part) == _PRESERVED:
                image[part] = old.get(part, "")
    merged = {**present, **new}
    return [{key: value for key, value in merged[name].items() if value} for name in sorted(merged)]


def _parsed_image(text: str) -> dict[str, Any]:
    """Parse `name=new:tag@digest`, or a part of it."""
    key, separator, value = text.partition("=")
    value = value if separator else key
    name, tag, digest = split_image(value)
    if not separator and name == text:
        raise _conflict(f"the image {text!r} names neither a new image nor a tag nor a digest")
    image: dict[str, Any] = {"name": key if separator else name, "newTag": tag, "digest": digest}
    if separator:
        image["newName"] = name
    return image


def _replicas(present: dict[str, dict[str, Any]], options: KustomizeOptions) -> list[dict[str, Any]]:
    merged = {**present, **{name: {"name": name, "count": count} for name, count in options.replicas}}
    return [merged[name] for name in sorted(merged)]


def _add_labels(result: dict[str, Any], options: KustomizeOptions, pairs: dict[str, str]) -> None:
    if options.label_include_templates and not options.label_without_selector:
        raise _conflict("labelIncludeTemplates needs labelWithoutSelector")
    _check_keys(pairs, "label")
    for key, value in pairs.items():
        if not _LABEL_VALUE.fullmatch(value):
            raise _conflict(f"invalid value {value!r} of the label {key}")
    force = options.force_labels
    if not options.label_without_selector:
        _join(result, "commonLabels", pairs, "label", force=force)
        return
    entries = [dict(entry) if isinstance(entry, Mapping) else {} for entry in _list(result, "labels")]
    entry = next((candidate for candidate in entries if _same_settings(candidate, options)), None)
    if entry is None:
        entry = {"includeTemplates": True} if options.label_include_templates else {}
        entries.append(entry)
    _join(entry, "pairs", pairs, "label", force=force)
    result["labels"] = entries


def _same_settings(entry: Mapping[str, Any], options: KustomizeOptions) -> bool:
    return not entry.get("includeSelectors") and bool(entry.get("includeTemplates")) == options.label_include_templates


def _check_keys(keys: Any, what: str) -> None:
    for key in keys:
        if not _KEY.fullmatch(key):
            raise _conflict(f"invalid {what} name {key!r}")


def _join(data: dict[str, Any], field: str, pairs: Mapping[str, str], what: str, *, force: bool) -> None:
    present = data.get(field)
    merged = dict(present) if isinstance(present, Mapping) else {}
    for key, value in pairs.items():
        if key in merged and not force:
            raise _conflict(f"the kustomization already has the {what} {key}")
        merged[key] = value
    data[field] = merged


def _add_components(result: dict[str, Any], options: KustomizeOptions, folder: Path) -> None:
    """Append missing components, with patterns expanded."""
    components = list(_list(result, "components"))
    for text in options.components:
        paths = sorted(glob.glob(glob.escape(f"{folder}/") + text))
        for component in [os.path.relpath(path, folder) for path in paths] or [text]:
            if component not in components:
                components.append(component)
    result["components"] = components
