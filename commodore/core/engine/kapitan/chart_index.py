"""Check the URLs in the index of a chart repository before helm uses them. Runs in workers only."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urljoin, urlsplit

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError
from commodore.base.yaml import load
from commodore.core.confinement import TrustPolicy
from commodore.core.confinement.hosts import host_of, is_near
from commodore.core.confinement.policy import check_source
from commodore.core.sources.fetching.web import FETCH_HINT, get_download

# Syntax by which YAML can write a URL without its plain letters: escapes, tags, other encodings.
_DISGUISES = re.compile(rb"\\[xuU/0-9abefvNLP_\r\n]|(^|[\s\[{,:-])![\S]|^%", re.MULTILINE)
_ENCODINGS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_HOSTS = re.compile(rb"//([^\s/?#\"'<>]+)")


def check_chart(repository: str, chart: str, version: str | None, policy: TrustPolicy, context: Context) -> None:
    """Refuse a chart whose archives, according to the index of its repository, are on a host that the policy does not
    allow; if it names no hosts, on a loopback or link-local address.

    All versions are checked unless the requested one is exact, as helm chooses the version of a range.

    Raises:
        PolicyError: the archive, or a redirect of the index, is on a host that the policy does not allow.
        EnvironmentFault: the policy names hosts, and the index cannot be fetched or is invalid.
    """

    def judge(url: str, what: str) -> None:
        if policy.names_hosts:
            policy.require_host(url, what)
        else:
            check_source(url, what, named_by=repository)

    parts = urlsplit(repository)
    base = parts._replace(path=parts.path.rstrip("/") + "/").geturl()
    text = _index(base, lambda url: judge(url, "what its index redirects to"), context, is_needed=policy.names_hosts)
    if policy.names_hosts or _may_lead_near(text):
        for url in _archives(text, chart, version):
            judge(urljoin(base, url), "its archive, according to the repository's index,")


def _index(base: str, check: Callable[[str], None], context: Context, *, is_needed: bool) -> bytes:
    """Return the index of a repository; empty if it is not needed and cannot be fetched, as helm reports the reason."""
    attempts = context.limits.request_attempts if is_needed else 1
    limits = replace(context.limits, request_attempts=attempts)
    parts = urlsplit(base)
    try:
        answer = get_download(
            parts._replace(path=f"{parts.path}index.yaml").geturl(), replace(context, limits=limits), check=check
        )
    except EnvironmentFault:
        if is_needed:
            raise
        return b""
    if answer.status < 400:
        return answer.body
    if not is_needed:
        return b""
    raise EnvironmentFault(
        "CMD-ENG-028",
        f"the server answered {answer.status} {answer.phrase} for the repository's index",
        hint=FETCH_HINT,
    )


def _may_lead_near(text: bytes) -> bool:
    """Check if an index may contain a loopback or link-local URL, without parsing it, which can take seconds."""
    if text.startswith(_ENCODINGS) or _DISGUISES.search(text):
        return True
    return any(is_near(host_of(f"x://{host.decode('utf-8', 'replace')}")) for host in set(_HOSTS.findall(text)))


def _archives(text: bytes, chart: str, version: str | None) -> Iterator[str]:
    try:
        index = load(text, place="index.yaml")
    except InputError as error:
        raise EnvironmentFault(
            "CMD-ENG-028", f"the repository's index cannot be read: {error.message}", hint=FETCH_HINT
        ) from error
    charts = [version_entry for entries in _named(index, "entries") for version_entry in _items(entries, chart)]
    exact = [
        version_entry
        for version_entry in charts
        if version in [str(value) for value in _named(version_entry, "version")]
    ]
    for version_entry in exact or charts:
        for urls in _named(version_entry, "urls"):
            for url in urls if isinstance(urls, list) else ():
                yield url.decode("utf-8", "replace") if isinstance(url, bytes) else str(url)


def _items(entries: Any, chart: str) -> list[Any]:
    items = entries.get(chart) if isinstance(entries, Mapping) else None
    return items if isinstance(items, list) else []


def _named(value: Any, name: str) -> list[Any]:
    """Return the values of all keys with this name in any case, as helm ignores it."""
    pairs = value.items() if isinstance(value, Mapping) else ()
    return [inner for key, inner in pairs if isinstance(key, str) and key.casefold() == name]
