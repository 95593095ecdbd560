"""Normalisation of the API's URL."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import quote, urlsplit, urlunsplit

from commodore.base.errors import InputError, UsageError

_PORTS = {"http": 80, "https": 443}
_HINT = "give the URL of the Lieutenant API, like https://api.syn.example.com, with --api-url (COMMODORE_API_URL)"


def normalise_api_url(url: str | None) -> str:
    """Return the URL with a scheme (https by default), lower-case host, no default port, no empty or dot segments.

    Raises:
        UsageError: no URL.
        InputError: it is not an http(s) URL, or it has a user name, a password, a query or a fragment.
    """
    text = (url or "").strip()
    if not text:
        raise UsageError("CMD-API-001", "the URL of the Lieutenant API is not known", hint=_HINT)
    if "://" not in text:
        text = "https://" + text.lstrip("/")
    try:
        parts = urlsplit(text)
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
    except ValueError:
        raise _invalid("it cannot be read as a URL") from None
    if scheme not in _PORTS:
        raise _invalid(f"its scheme is {scheme!r} instead of https")
    if parts.username is not None or parts.password is not None:
        raise _invalid("it has a user name or a password; the API requires a token")
    if parts.query or parts.fragment:
        raise _invalid("it has a query or a fragment")
    if not host or not re.fullmatch(r"[^\s\x00-\x20/\\%?#@<>\"{}|^`]+", host):
        raise _invalid("it has no host")
    netloc = f"[{host}]" if ":" in host else host
    if port is not None and port != _PORTS[scheme]:
        netloc += f":{port}"
    return urlunsplit((scheme, netloc, _normalise_path(parts.path), "", ""))


def endpoint_url(api_url: str, *segments: str) -> str:
    """Return the URL of an endpoint below a normalised API URL. Each segment is percent-encoded.

    Raises:
        InputError: a segment is empty, or would name another endpoint (`..`).
    """
    for segment in segments[:-1] if segments[-1] == "" else segments:
        if segment in ("", ".", "..") or not segment.isprintable():
            raise InputError(
                "CMD-API-017", f"{segment!r} is not a valid id in Lieutenant", hint="check the cluster's id"
            )
    return api_url.rstrip("/") + "/" + "/".join(quote(segment, safe="") for segment in segments)


def _normalise_path(path: str) -> str:
    collapsed = re.sub(r"/{2,}", "/", path) or "/"
    normal = posixpath.normpath(collapsed)
    if collapsed.endswith(("/", "/.", "/..")) and normal != "/":
        normal += "/"
    # All characters that are allowed in a path stay, including percent signs of an encoded URL.
    return quote(normal, safe="/%:@!$&'()*+,;=~-._")


def _invalid(why: str) -> InputError:
    # The URL itself is not repeated, because it may hold a password.
    return InputError("CMD-API-002", f"the URL of the Lieutenant API is not valid: {why}", hint=_HINT)
