"""The files that a Helm source names: values and file parameters."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from commodore.argocd.model.sources import HelmOptions
from commodore.argocd.rendering.model import Unit
from commodore.argocd.trees import check_inside
from commodore.base.errors import InputError, PolicyError, did_you_mean
from commodore.base.values.globs import matching_paths
from commodore.core.confinement import DEFAULT_POLICY
from commodore.core.render.programs import write_file
from commodore.core.sources.git import redact

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_MAGIC = re.compile(r"[*?\[]")


def value_files(unit: Unit) -> list[Path]:
    """Return the value files of a Helm source, in the order in which they are merged.

    Raises:
        InputError: CMD-ARGO-407, a file does not exist; CMD-ARGO-304, its source does not exist.
        PolicyError: CMD-ARGO-408, a file is outside of its repository; CMD-ARGO-320, its URL is refused.
    """
    helm = unit.source.helm
    assert helm is not None
    written = [_Entry.of(unit, text) for text in helm.value_files]
    plain = {os.path.realpath(entry.path) for entry in written if entry.path is not None and not entry.is_pattern}
    files: dict[str, Path] = {}
    for entry in written:
        for path in _hits(unit, entry, plain, missing=not helm.ignore_missing_value_files):
            files.setdefault(os.path.realpath(path), path)
    return list(files.values())


def named_file(unit: Unit, text: str) -> Path:
    """Return the file of a file parameter, which need not exist.

    Raises: as `value_files`.
    """
    named = _Entry.of(unit, text)
    if named.path is None:
        return _fetched(unit, named.text)
    check_inside(named.path, named.root, text)
    return named.path


def ref_folders(unit: Unit) -> dict[str, str]:
    """Return the folders of the repositories from which a Helm source reads files, with its names for them."""
    helm = unit.source.helm or HelmOptions()
    texts = [*helm.value_files, *(path for _, path in helm.file_parameters)]
    used = {text.partition("/")[0][1:] for text in texts if text.startswith("$")} & unit.refs.keys()
    return {f"{unit.refs[name]()}/": f"${name}/" for name in sorted(used)}


class _Entry:
    """An entry: its text, its path (None for a URL), and the folder that it must not leave.

    Args:
        ref: its prefix if it is in the repository of another source, such as `$values`.
    """

    def __init__(self, text: str, path: Path | None, root: Path, *, patterns: bool, ref: str = "") -> None:
        self.text = text
        self.ref = ref
        self.path = path
        self.root = root
        self.is_pattern = patterns and _MAGIC.search(text) is not None

    @classmethod
    def of(cls, unit: Unit, text: str) -> _Entry:
        globs = unit.settings.profile.globs_value_files
        name, separator, rest = text.partition("/")
        if name.startswith("$") and name[1:] in unit.refs:
            root = unit.refs[name[1:]]()
            rest = unit.environment.substitute(rest)
            named = f"{name}/{rest}" if separator else text
            return cls(named, root / rest.lstrip("/"), root, patterns=globs, ref=name)
        if name.startswith("$") and unit.application.several and not name[1:].startswith(("ARGOCD_", "{", "$")):
            raise InputError(
                "CMD-ARGO-304",
                f"{text!r} refers to a source {name!r}, and no source has this ref",
                hint=did_you_mean(name[1:], unit.refs) or f"there are {', '.join(sorted(unit.refs)) or 'none'}",
                locations=[unit.source.place],
            )
        text = unit.environment.substitute(text)
        url = _URL.match(text)
        if url is not None:
            _check_scheme(unit, text, url[1])
            return cls(text, None, unit.root, patterns=False)
        base = unit.root if text.startswith("/") else unit.folder
        return cls(text, base / text.lstrip("/"), unit.root, patterns=globs)


def _check_scheme(unit: Unit, url: str, scheme: str) -> None:
    allowed = unit.settings.value_file_schemes
    if scheme not in allowed or scheme not in ("http", "https"):
        raise PolicyError(
            "CMD-ARGO-320",
            f"the value file {redact(url)} has a scheme that is not allowed",
            hint=f"helm.valuesFileSchemes allows {', '.join(sorted(allowed)) or 'none'}",
        )
    DEFAULT_POLICY.require_host(url, f"the value file {redact(url)}")


def _hits(unit: Unit, named: _Entry, plain: set[str], *, missing: bool) -> Iterator[Path]:
    """Yield the files of an entry. Files of a pattern that are also listed by name keep that position."""
    if named.path is None:
        yield _fetched(unit, named.text)
        return
    lexical = Path(os.path.normpath(named.path))
    if named.is_pattern:
        _check_lexically(lexical, named)
        hits = [path for path in matching_paths(lexical, named.root) if os.path.isfile(path)]
        for path in hits:
            check_inside(path, named.root, named.text)
            if os.path.realpath(path) not in plain:
                yield path
        if hits or not missing:
            return
    else:
        _check_lexically(lexical, named)
        check_inside(lexical, named.root, named.text)
        if os.path.isfile(lexical):  # also False for a path that is too long
            yield lexical
            return
        if not missing:
            return
    if named.ref:
        begins = f"the path after {named.ref} begins at the root of the repository of the source with this ref"
    else:
        begins = "it begins at the folder of the source, or with '/' at the root of the repository"
    raise InputError(
        "CMD-ARGO-407",
        f"the value file {named.text!r} does not exist",
        hint=f"check its path; {begins}",
        locations=[unit.source.place],
    )


def _check_lexically(path: Path, named: _Entry) -> None:
    if not path.is_relative_to(named.root):
        raise PolicyError(
            "CMD-ARGO-408",
            f"{named.text!r} leads out of its repository",
            hint="name files within the repository; those of another one need a source with a ref",
        )


def _fetched(unit: Unit, url: str) -> Path:
    shown, content = urlsplit(url), unit.files.content(url)
    file = unit.scratch / f"values-{len(list(unit.scratch.iterdir()))}-{os.path.basename(shown.path) or 'file'}"
    write_file(file, content)
    return file
