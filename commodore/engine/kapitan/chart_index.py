"""Where the index of a chart repository leads, judged before helm follows it. Runs in workers only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

from commodore.confinement import TrustPolicy
from commodore.context import Context
from commodore.errors import EnvironmentFault, InputError
from commodore.fetching.web import FETCH_HINT, get_download
from commodore.manifests import load


def check_chart(repository: str, chart: str, version: str | None, policy: TrustPolicy, context: Context) -> None:
    """Refuse a chart whose archives, as the index of its repository says, come from where the policy does not allow.

    All versions are judged, unless one is wanted exactly: which one helm chooses of a range is up to it.

    Raises:
        PolicyError: the archive, or what the index redirects to, is on a host that the policy does not allow.
        EnvironmentFault: the index cannot be fetched, or is none; nothing is fetched then.
    """
    parts = urlsplit(repository)
    base = parts._replace(path=parts.path.rstrip("/") + "/").geturl()
    index = parts._replace(path=parts.path.rstrip("/") + "/index.yaml").geturl()
    answer = get_download(index, context, check=lambda url: policy.require_host(url, "what its index redirects to"))
    if answer.status >= 400:
        raise EnvironmentFault(
            "CMD-ENG-028",
            f"the server answered {answer.status} {answer.phrase} for the repository's index",
            hint=FETCH_HINT,
        )
    for url in _archives(answer.body, chart, version):
        policy.require_host(urljoin(base, url), "its archive, as the repository's index says,")


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
            yield from (str(url) for url in (urls if isinstance(urls, list) else ()))


def _items(entries: Any, chart: str) -> list[Any]:
    found = entries.get(chart) if isinstance(entries, Mapping) else None
    return found if isinstance(found, list) else []


def _named(value: Any, name: str) -> list[Any]:
    """The values of all keys that helm takes for this one: it does not look at case."""
    pairs = value.items() if isinstance(value, Mapping) else ()
    return [inner for key, inner in pairs if isinstance(key, str) and key.casefold() == name]
