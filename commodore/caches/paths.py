"""Where files that all working directories share are kept: `$XDG_CACHE_HOME/commodore`, by default
`~/.cache/commodore`.
"""

from __future__ import annotations

from pathlib import Path


def cache_folder() -> Path:
    """The user's cache folder of commodore; it need not exist. Asked for each time, as the environment may change."""
    from platformdirs import user_cache_path

    return user_cache_path("commodore")


def library_cache() -> Path:
    """Exports of Jsonnet libraries by commit."""
    return cache_folder() / "libraries"


def repository_cache() -> Path:
    """Objects of git repositories that working directories have fetched, by URL."""
    return cache_folder() / "repositories"


def template_cache() -> Path:
    """Bare clones of the templates that components and packages are made from."""
    return cache_folder() / "templates"


def template_lock() -> Path:
    """Held while clones of templates change, which they do in place. It is in the folder of the clones."""
    return template_cache() / ".lock"


def dependency_cache() -> Path:
    """Kapitan dependencies by source and version."""
    return cache_folder() / "dependencies"


def result_cache() -> Path:
    """What instances were rendered to, by what they had read."""
    return cache_folder() / "results"


def token_cache() -> Path:
    """The file with the tokens of the Lieutenant API."""
    return cache_folder() / "token"
