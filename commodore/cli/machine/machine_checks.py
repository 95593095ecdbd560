"""Checks of a machine's requirements for compiles, with fixes.

Nothing is changed: no login is renewed, nothing is fetched, and caches stay as they are.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import Literal

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault
from commodore.base.files.workspace import guard_disk
from commodore.base.names import DISTRIBUTION
from commodore.base.printable import counted
from commodore.base.values.units import size_text
from commodore.base.values.versions import Version
from commodore.core.lieutenant import (
    LOGIN_HINT,
    AvailableToken,
    LieutenantClient,
    TokenStore,
    available_token,
    given_token,
)
from commodore.core.results.caches import (
    cache_folder,
    dependency_cache,
    library_cache,
    repository_cache,
    result_cache,
    usable,
)
from commodore.core.tools import MINIMUM_VERSIONS, find_tools, tool_version

State = Literal["ok", "warning", "failed", "skipped"]

_GIT = Version(2, 31, 0)


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check.

    Attributes:
        name: the thing: `git`, `helm`, `kustomize`, `name`, `API`, `token` or `cache`.
        message: the result in a few words.
        cure: the fix; empty if the check is good.
        code: of the error that a compile would end with, if it has one.
        exit_code: of this check; 0 unless it has failed.
    """

    name: str
    state: State
    message: str
    cure: str = ""
    code: str = ""
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class Installation:
    """The options of the checks.

    Attributes:
        program: the executable that was started.
        api_url: URL of the Lieutenant API; None if none is set.
        api_token: the token given, or the path of a file that holds it.
        tokens: where logins are kept.
        timeout: seconds for one request to the API.
    """

    program: Path
    api_url: str | None
    api_token: str | None
    tokens: Path
    timeout: float


def examine(installation: Installation, context: Context) -> Iterator[Check]:
    """Check one thing after another. What is wrong is in the checks; nothing is raised for it."""
    yield from _tools(context)
    yield _name(installation.program)
    yield from _api(installation, context)
    yield _judged("cache", lambda: _cache(context))


def _failed(name: str, error: CommodoreError) -> Check:
    return Check(name, "failed", error.message, error.hint, error.code, error.exit_code)


def _judged(name: str, look: Callable[[], Check]) -> Check:
    try:
        return look()
    except CommodoreError as error:
        return _failed(name, error)


def _tools(context: Context) -> Iterator[Check]:
    for name, least in {"git": _GIT, **MINIMUM_VERSIONS}.items():
        yield _judged(name, partial(_tool, name, least, context))


def _tool(name: str, least: Version, context: Context) -> Check:
    cure = f"install git {least} or newer and put it on PATH" if name == "git" else f"commodore tool install {name}"
    tool = find_tools(context, [name])[name]
    if tool is None:
        return Check(name, "failed", "not found", cure, exit_code=EnvironmentFault.exit_code)
    where = f"{tool.version or 'unknown version'} ({tool.path})"
    has = tool_version(tool.version)
    if has is None:
        return Check(name, "warning", f"{where}: it does not report its version", f"run '{tool.path}' to see why")
    if has < least:
        message = f"{where} is too old: at least {least} is needed"
        cure += "" if name == "git" else ", and remove the old one or put it behind in PATH"
        return Check(name, "failed", message, cure, exit_code=EnvironmentFault.exit_code)
    return Check(name, "ok", where)


def _name(program: Path) -> Check:
    """Check if `commodore` is this program, as others have a command with this name, too."""
    others = sorted(
        {
            point.dist.name
            for point in entry_points(group="console_scripts", name="commodore")
            if point.dist is not None and point.dist.name != DISTRIBUTION
        }
    )
    if others:
        return Check(
            "name",
            "failed",
            f"{' and '.join(others)} in the same Python environment has the command `commodore`, too",
            f"install {DISTRIBUTION} into an environment of its own: pipx install {DISTRIBUTION}",
            exit_code=EnvironmentFault.exit_code,
        )
    first = shutil.which("commodore")
    if first is not None and os.path.realpath(first) != os.path.realpath(program):
        return Check(
            "name",
            "warning",
            f"`commodore` in PATH is {first}, not {program}",
            "remove the other one, put its folder behind in PATH, or call this one by its path",
        )
    return Check("name", "ok", f"`commodore` is {DISTRIBUTION} ({program})")


def _api(installation: Installation, context: Context) -> Iterator[Check]:
    """The API and the token, which need each other to be tried."""
    if not installation.api_url:
        cure = "give --api-url (COMMODORE_API_URL); a compile with --cluster-file needs none"
        yield Check("API", "skipped", "no URL is set", cure)
        yield Check("token", "skipped", "not checked without an API")
        return
    try:
        token = available_token(
            given_token(installation.api_token, context),
            TokenStore(installation.tokens, context).read(installation.api_url),
            time.time(),
        )
    except CommodoreError as error:
        yield _judged("API", lambda: _reach(installation, context))
        yield _failed("token", error)
        return
    if token.usable is not None:
        yield from _try(installation, token, context)
        return
    yield _judged("API", lambda: _reach(installation, context))
    if token.renewable:
        yield Check("token", "ok", f"{token.what}; the next command renews it")
    else:
        yield Check("token", "failed", token.what, LOGIN_HINT, exit_code=EnvironmentFault.exit_code)


def _reach(installation: Installation, context: Context) -> Check:
    with LieutenantClient(installation.api_url, lambda: None, context, timeout=installation.timeout) as client:
        client.reach()
    return Check("API", "ok", f"{client.api_url} answers")


def _try(installation: Installation, token: AvailableToken, context: Context) -> Iterator[Check]:
    url, refused = installation.api_url, ("CMD-API-010", "CMD-API-011")
    try:
        with LieutenantClient(url, lambda: token.usable, context, timeout=installation.timeout) as client:
            count = len(client.clusters())
    except CommodoreError as error:
        if error.code in refused:
            yield Check("API", "ok", f"{url} answers")
            yield _failed("token", error)
        else:
            yield _failed("API", error)
            yield Check("token", "skipped", f"{token.what}; not tried, as the API cannot be used")
        return
    yield Check("API", "ok", f"{url} answers and lists {counted(count, 'cluster')}")
    yield Check("token", "ok", f"{token.what}, and the API accepts it")


def _cache(context: Context) -> Check:
    """Check if the cache belongs to the user, is writable, and has enough free space."""
    folder = cache_folder()
    for section in (result_cache(), dependency_cache(), repository_cache(), library_cache()):
        usable(section)
    there = next(parent for parent in (folder, *folder.parents) if parent.is_dir())
    move = "let XDG_CACHE_HOME name a folder that you may write to"
    if not os.access(there, os.W_OK | os.X_OK):
        return Check("cache", "failed", f"{folder} cannot be written to", move, exit_code=EnvironmentFault.exit_code)
    with guard_disk(there):
        free = shutil.disk_usage(there).free
    if free < context.limits.little_space_bytes:
        cure = "run `commodore cache prune`, or let XDG_CACHE_HOME name a folder with more room"
        return Check("cache", "warning", f"{folder} has only {size_text(free)} of free space", cure)
    return Check("cache", "ok", f"{folder}, {size_text(free)} free")
