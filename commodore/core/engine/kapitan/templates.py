"""Render Jinja2 templates of components in jinja's sandbox, with the confinement's files. Runs in workers only."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jinja2
from jinja2.exceptions import SecurityError
from jinja2.loaders import split_template_path
from jinja2.sandbox import SandboxedEnvironment
from kapitan.jinja2_filters import load_jinja2_filters, load_module_from_path

from commodore.base.errors import PolicyError
from commodore.core.confinement import Confinement, is_absent
from commodore.core.engine.kapitan.context import current

_FILTERS = os.path.join("lib", "jinja2_filters.py")


class _Loader(jinja2.BaseLoader):
    """Loads templates from folders, in order."""

    def __init__(self, folders: Sequence[str], confinement: Confinement) -> None:
        self._folders = folders
        self._confinement = confinement

    def get_source(
        self, environment: jinja2.Environment, template: str
    ) -> tuple[str, str | None, Callable[[], bool] | None]:
        pieces = split_template_path(template)  # which refuses `..`
        for folder in self._folders:
            path = os.path.abspath(os.path.join(folder, *pieces))
            if self._confinement.is_open(path):
                try:
                    return self._confinement.read(path, "template").decode(), path, None
                except OSError as error:
                    if not is_absent(error):
                        raise
        raise jinja2.TemplateNotFound(template)


def render_file(
    name: str, context: Mapping[str, Any], jinja2_filters: str = _FILTERS, search_paths: Sequence[str] | None = None
) -> str:
    """Replace Kapitan's `render_jinja2_file`: render in the sandbox.

    Raises:
        jinja2.TemplateError: the template is invalid.
        PolicyError: it leaves the sandbox, or uses a file that may not be read.
    """
    confinement = current().confinement
    folder, template = os.path.split(name)
    environment = SandboxedEnvironment(
        undefined=jinja2.StrictUndefined,
        loader=_Loader([folder or ".", *(search_paths or ())], confinement),
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.do"],
    )
    load_jinja2_filters(environment)
    environment.filters["fileglob"] = _files_in(confinement)
    if os.path.isfile(jinja2_filters):
        confinement.policy.require("jinja2_filters", confinement.component, f"the file {jinja2_filters} with filters")
        load_module_from_path(environment, jinja2_filters)
    try:
        return environment.get_template(template).render(context)
    except SecurityError as error:
        raise PolicyError(
            "CMD-CONF-006",
            f"the template {name} leaves the sandbox of templates: {error}",
            hint="templates may not use attributes whose names begin with an underscore, nor Python's internals",
            locations=[name],
        ) from error


def _files_in(confinement: Confinement) -> Callable[[str], list[str]]:
    """Replace Kapitan's filter `fileglob`: return readable files only."""

    def fileglob(pattern: str) -> list[str]:
        place = os.path.abspath(pattern)
        while glob.has_magic(place):
            place = os.path.dirname(place)
        confinement.check_open(place, "pattern")
        return [hit for hit in glob.glob(pattern) if os.path.isfile(hit) and confinement.exists(os.path.abspath(hit))]

    return fileglob
