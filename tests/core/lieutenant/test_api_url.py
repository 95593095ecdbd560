"""URLs of the API."""

from __future__ import annotations

import pytest

from commodore.base.errors import InputError, UsageError
from commodore.core.lieutenant import normalise_api_url
from commodore.core.lieutenant.api_url import endpoint_url


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        ("https://example.com", "https://example.com/"),
        ("https://example.com//foo", "https://example.com/foo"),
        ("example.com", "https://example.com/"),
        ("//example.com/x", "https://example.com/x"),
        ("example.com:8443/x", "https://example.com:8443/x"),
        (" HTTPS://Example.COM:443/A/ \n", "https://example.com/A/"),
        ("http://localhost:80/", "http://localhost/"),
        ("http://localhost:8080", "http://localhost:8080/"),
        ("https://example.com:80", "https://example.com:80/"),
        ("https://example.com/a/./b/../c/", "https://example.com/a/c/"),
        ("https://example.com/../..", "https://example.com/"),
        ("https://example.com/ü b%20c", "https://example.com/%C3%BC%20b%20c"),
        ("https://[::1]:8443", "https://[::1]:8443/"),
    ],
)
def test_normalise(given: str, normal: str) -> None:
    assert normalise_api_url(given) == normal
    assert normalise_api_url(normal) == normal


@pytest.mark.parametrize("given", [None, "", "  "])
def test_a_missing_url_says_how_to_give_one(given: str | None) -> None:
    """It used to end in "cannot connect to None"."""
    with pytest.raises(UsageError) as caught:
        normalise_api_url(given)
    assert caught.value.code == "CMD-API-001"
    assert "--api-url" in caught.value.hint
    assert "COMMODORE_API_URL" in caught.value.hint


@pytest.mark.parametrize(
    "given",
    ["ftp://example.com", "file:///etc/passwd", "https://", "https:///x", "https://exa mple.com", "https://[::1",
     "https://example.com:port", "https://example.com:99999", "https://u:secret@example.com", "https://secret@h",
     "https://example.com/?secret=1", "https://example.com/#secret", "https://exam\x00ple.com", "https://a\\b"],
)  # fmt: skip
def test_what_is_no_api_url_is_refused_without_repeating_it(given: str) -> None:
    with pytest.raises(InputError) as caught:
        normalise_api_url(given)
    assert caught.value.code == "CMD-API-002"
    assert "secret" not in str(caught.value)


def test_ids_are_one_segment_of_the_path() -> None:
    """Ids used to be pasted into the URL."""
    base = normalise_api_url("https://example.com/api")
    assert endpoint_url(base, "clusters", "") == "https://example.com/api/clusters/"
    assert endpoint_url(base, "clusters", "a/../b?c#d%2e é") == (
        "https://example.com/api/clusters/a%2F..%2Fb%3Fc%23d%252e%20%C3%A9"
    )


@pytest.mark.parametrize("name", ["", ".", "..", "a\nb", "a\x00"])
def test_ids_that_lead_elsewhere(name: str) -> None:
    with pytest.raises(InputError) as caught:
        endpoint_url("https://example.com/", "clusters", name, "compileMeta")
    assert caught.value.code == "CMD-API-017"
