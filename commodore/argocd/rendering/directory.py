"""Directory sources: plain manifests, and Jsonnet."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from commodore.argocd.model.sources import DirectoryOptions
from commodore.argocd.rendering.ignored import report_left_out
from commodore.argocd.rendering.jsonnet import evaluate_files
from commodore.argocd.rendering.model import Rendered, Unit
from commodore.argocd.rendering.streams import checked_object, decoded, objects_of_stream
from commodore.argocd.trees import covers
from commodore.argocd.trees.paths import is_within
from commodore.base.errors import InputError, Location, PolicyError
from commodore.base.values.globs import gobwas, matches
from commodore.base.yaml.kube_yaml import read_json

_SKIPPED = b"+argocd:skip-file-rendering"
_SIZES = {"": 1, "k": 1000, "M": 1000**2, "G": 1000**3, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


def render_directory(unit: Unit) -> Iterator[Rendered]:
    """Yield the objects of the files of a folder, in the order of their paths.

    Raises:
        InputError: CMD-ARGO-401, a file is invalid; CMD-ARGO-404, Jsonnet fails; CMD-ARGO-417, a
            document is not an object.
        PolicyError: CMD-ARGO-318, a link leads out of the repository; CMD-ARGO-403, the files are too large;
            CMD-ARGO-408, Jsonnet imports a file outside of the repository.
    """
    options = unit.source.directory or DirectoryOptions()
    for pattern in (options.include, options.exclude):
        if gobwas(pattern) is None:
            hint = "a bracket or brace is open; escape it with '\\'"
            unit.note("CMD-ARGO-803", f"invalid pattern {pattern!r}: it matches no file", "warning", hint)
    files = list(_files(unit, options))
    left_out = {path for path in files if covers(unit.ignored, str(path))}
    report_left_out(unit, map(str, left_out))
    files = [path for path in files if path not in left_out]
    plain = [path for path in files if path.suffix != ".jsonnet"]
    _check_size(unit, plain)
    programs = [path for path in files if path.suffix == ".jsonnet"] if unit.settings.enabled("jsonnet") else []
    evaluated = evaluate_files(unit, options, programs)
    for path in files:
        name = str(path.relative_to(unit.folder))
        if path in evaluated:
            for value in evaluated[path]:
                yield Rendered(checked_object(value, name), name)
        elif path.suffix != ".jsonnet":
            yield from _objects(unit, path, name)


def _files(unit: Unit, options: DirectoryOptions) -> Iterator[Path]:
    every_name = options.every_name and unit.settings.profile.has_unfiltered_directories
    for path in _walk(str(unit.folder), recurse=options.recurse):
        name = os.path.relpath(path, unit.folder)
        if not every_name and not path.endswith((".yaml", ".yml", ".json", ".jsonnet")):
            continue
        if os.path.islink(path):
            if not os.path.exists(path):
                unit.note("CMD-ARGO-402", f"{name} is a broken link, and is skipped", "warning")
                continue
            if not is_within(Path(path), unit.root):
                raise PolicyError(
                    "CMD-ARGO-318", f"{name} is a link that leads out of the repository", hint="remove the link"
                )
        if not os.path.isfile(path):
            continue
        if options.exclude and matches(options.exclude, name):
            continue
        if not options.include or matches(options.include, name):
            yield Path(path)


def _walk(folder: str, *, recurse: bool) -> Iterator[str]:
    """Yield the files of a folder in lexical order, with those of its subfolders at their position."""
    for name in sorted(os.listdir(folder)):
        path = f"{folder}/{name}"
        if os.path.isdir(path) and not os.path.islink(path):
            if recurse and name != ".git":
                yield from _walk(path, recurse=True)
        else:
            yield path


def _check_size(unit: Unit, files: list[Path]) -> None:
    written = unit.settings.parameter("reposerver.max.combined.directory.manifests.size")
    digits = written.rstrip("kMGi")
    limit = int(digits) * _SIZES.get(written[len(digits) :], 1) if digits.isdigit() else 0
    total = sum(path.stat().st_size for path in files)
    if limit and total > limit:
        raise PolicyError(
            "CMD-ARGO-403",
            f"the manifests of {unit.source.path} have {total} bytes, more than {written}",
            hint="reposerver.max.combined.directory.manifests.size is the limit",
        )


def _objects(unit: Unit, path: Path, name: str) -> Iterator[Rendered]:
    content = path.read_bytes()
    if unit.settings.profile.skips_marked_files and _SKIPPED in content:
        return
    text = decoded(content, name)
    if path.suffix == ".json":
        try:
            yield Rendered(checked_object(read_json(text, place=name), name), name)
        except InputError as error:
            raise _bad_file(error, name) from error
        return
    parsed = False
    try:
        for rendered in objects_of_stream(text, name):
            parsed = True
            yield Rendered(rendered.data, name)
    except InputError as error:
        if parsed or all(word in text for word in ("apiVersion:", "kind:", "metadata:")):
            raise _bad_file(error, name) from error
        unit.note("CMD-ARGO-402", f"{name} is not a manifest, and is skipped: {error.message}", "info")


def _bad_file(error: InputError, name: str) -> InputError:
    return InputError(
        "CMD-ARGO-401",
        f"the file {name} cannot be used: {error.message}",
        hint=error.hint or "correct it, or exclude it",
        locations=error.locations or [Location(name)],
    )
