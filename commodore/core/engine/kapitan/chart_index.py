"""Where the index of a chart repository leads, judged before helm follows it. Runs in workers only."""

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

# What lets YAML spell a URL otherwise than by its letters: escapes, tags, other encodings.
_DISGUISES = re.compile(rb"\\[xuU/0-9abefvNLP_\r\n]|(^|[\s\[{,:-])![\S]|^%", re.MULTILINE)
_ENCODINGS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_HOSTS = re.compile(rb"//([^\s/?#\"'<>]+)")


def check_chart(repository: str, chart: str, version: str | None, policy: TrustPolicy, context: Context) -> None:
    """Refuse a chart whose archives, as the index of its repository says, come from where the policy does not allow;
    if it names no hosts, from this machine or its link.

    All versions are judged, unless one is wanted exactly: which one helm chooses of a range is up to it.

    Raises:
        PolicyError: the archive, or what the index redirects to, is on a host that the policy does not allow.
        EnvironmentFault: the policy names hosts, and the index cannot be fetched, or is none; nothing is fetched then.
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
    """The index of a repository; if it is not needed and cannot be fetched, nothing: helm says why."""
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
    """Whether an index could name a URL of this machine or its link; large ones take seconds to read."""
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
    charts = [found for entries in _named(index, "entries") for found in _items(entries, chart)]
    exact = [one for one in charts if version in [str(said) for said in _named(one, "version")]]
    for one in exact or charts:
        for urls in _named(one, "urls"):
            for url in urls if isinstance(urls, list) else ():
                yield url.decode("utf-8", "replace") if isinstance(url, bytes) else str(url)


def _items(entries: Any, chart: str) -> list[Any]:
    found = entries.get(chart) if isinstance(entries, Mapping) else None
    return found if isinstance(found, list) else []


def _named(value: Any, name: str) -> list[Any]:
    """The values of all keys that helm takes for this one: it does not look at case."""
    pairs = value.items() if isinstance(value, Mapping) else ()
    return [inner for key, inner in pairs if isinstance(key, str) and key.casefold() == name]
