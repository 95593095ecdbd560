"""Latest releases of tools, cached so that GitHub is rarely asked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from commodore.base.errors import EnvironmentFault
from commodore.base.events import Warned
from commodore.base.files.sealed import read_note, write_note
from commodore.base.values.versions import Version
from commodore.core.results.caches import cache_folder
from commodore.core.tools.releases import Releases
from commodore.core.tools.version_numbers import tool_version


def release_cache() -> Path:
    """Return the path of the file with the last responses about releases."""
    return cache_folder() / "releases.json"


def latest_versions(tools: Sequence[str], releases: Releases) -> dict[str, Version | EnvironmentFault]:
    """Return the latest version of each tool, or the error that prevented it; all are requested at the same time.

    A response is valid for `limits.tool_releases_age` seconds. If GitHub does not respond, the last response is used
    at any age, with a warning (CMD-TOOL-030).
    """
    file, limits = release_cache(), releases.context.limits
    record = read_note(file, "tools", most=limits.tool_state_bytes)
    answers: dict[str, Version | EnvironmentFault] = {}
    now = time.time()
    for tool in tools:
        version, when = _remembered(record, releases, tool)
        if version is not None and 0 <= now - when <= limits.tool_releases_age:
            answers[tool] = version
    asked = [tool for tool in tools if tool not in answers]
    if not asked:
        return answers
    with ThreadPoolExecutor(max_workers=len(asked)) as pool:
        answers |= zip(asked, pool.map(lambda tool: _ask(tool, releases), asked), strict=True)
    for tool in asked:
        answer = answers[tool]
        if isinstance(answer, Version):
            record[_key(releases, tool)] = [str(answer), now]
            continue
        old, _ = _remembered(record, releases, tool)
        if old is not None:
            message = f"{answer.message}; the last answer about {tool} is used, which may be old"
            releases.context.announce(Warned("CMD-TOOL-030", message, hint=answer.hint))
            answers[tool] = old
    write_note(file, record, "tools")
    return {tool: answers[tool] for tool in tools}


def _ask(tool: str, releases: Releases) -> Version | EnvironmentFault:
    web = releases.web()
    try:
        return releases.latest(tool, web)
    except EnvironmentFault as fault:
        return fault
    finally:
        web.close()


def _key(releases: Releases, tool: str) -> str:
    return f"{releases.api} {tool}"


def _remembered(record: dict[str, object], releases: Releases, tool: str) -> tuple[Version | None, float]:
    """Return the last version and its time in seconds since 1970; None and minus infinity without one."""
    match record.get(_key(releases, tool)):
        case [str(text), int() | float() as when] if (version := tool_version(text)) is not None:
            return version, float(when)
    return None, float("-inf")
