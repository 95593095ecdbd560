"""URL rules: normal form, push URL, repository key, and redaction.

URLs are untrusted input. A URL that git would run as a helper program, read as an option, or resolve relative to the
current directory is refused here for all callers.
"""

from __future__ import annotations

import functools
import posixpath
import re
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

from commodore.base.errors import InputError
from commodore.base.printable import only_printable

_SCHEMES = frozenset({"http", "https", "ssh", "git", "file", "git+ssh", "ssh+git"})
_DEFAULT_PORTS = {"http": 80, "https": 443, "ssh": 22, "git+ssh": 22, "ssh+git": 22, "git": 9418}
_HELPER = re.compile(r"^[A-Za-z0-9+.-]*::")
_SCP = re.compile(r"^(?:(?P<user>[^@/:]+)@)?(?P<host>\[[^\]/]+\]|[^/:@\[\]]+):(?P<path>.+)$")
_HOST = re.compile(r"^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_.])?$|^[0-9A-Fa-f:.]+$")
# In a malformed URL a password may hold blanks and quotes: it ends with the last `@` before a slash. A port followed by
# another text with `@` looks alike, except for the digits.
_UP_TO_HOST = r":(?!\d{1,5}[\s'\",;)])[^/\n]*@"
_HTTP_USER_INFO = re.compile(
    rf"(?P<scheme>\bhttps?:/{{2,3}})(['\"]?[^/\s'\"]*['\"]?@|[^/\s'\":@]*{_UP_TO_HOST})", re.IGNORECASE
)
_OTHER_PASSWORD = re.compile(
    rf"(?P<user>(?<![a-z0-9+.-])(?!https?:|file:///)[a-z][a-z0-9+.-]*:/{{2,3}}[^:/@\n]*){_UP_TO_HOST}", re.IGNORECASE
)
# In well-formed URLs of repositories: rendered objects have URLs of databases, and other uses of `@`, too.
_CREDENTIALS = re.compile(
    r"\bhttps?://[^/\s'\"]*@|\b(ssh|git|git\+ssh|ssh\+git|file|ftps?)://[^:/@\s]*:[^/\s'\"]*@", re.IGNORECASE
)
# `user:SECRET@host:path`, which ssh reads as a host `user`, and `user:SECRET@host (port 9418)`: git prints both
# unredacted. An image with its digest looks alike.
_BEFORE_HOST = re.compile(r"(?<![^\s/@'\"])[^\s/@'\"]+@(?!sha\d+:)(?=[\w.\[\]-]+([:/]| \(port\b))")
_BARE_USER = re.compile(r"(?<![\w.+/@:-])[\w.+-]+(?=:[^@])")
# A URL without a query matches, too, so that each letter of a text is scanned once.
_HTTP_QUERY = re.compile(r"(?P<url>\bhttps?://[^\s?#'\"]+)([?#][^\s'\"]*)?", re.IGNORECASE)
# As in HTTP logs, without the host.
_REQUESTED_QUERY = re.compile(r"(?P<path>\"[A-Z]+ /[^\s\"?]*)\?[^\s\"]*(?= HTTP/)")
# Characters of a path that stay as they are: reserved and unreserved ones, and existing escapes.
_PATH_SAFE = "/%:@!$&'()*+,;=~-._"


def normalize(url: str) -> str:
    """Return the normal form of a git URL.

    `user@host:path` becomes `ssh://user@host/path`; hosts of HTTP and SSH URLs are lower-cased and their paths
    cleaned; user info and a non-default port stay. Local paths, `file://`, `git://` and `host:path` stay as given.

    Raises:
        InputError: the URL is empty, relative, holds control characters, could be read as an option, or names a
            transport that runs programs.
    """
    _refuse_unsafe(url)
    if url.startswith("/"):
        return url
    if "://" not in url:
        match = _SCP.match(url)
        if match is None:
            raise _invalid(url, "it is neither an absolute path nor a URL with a host")
        _check_host(url, match["host"].strip("[]").lower(), match["user"])
        if match["user"] is None and "@" in match["path"].partition("/")[0]:
            raise _invalid(url, "it has a user with a password, which SSH does not accept")
        if match["user"] is None:
            return url
        return f"ssh://{match['user']}@{match['host'].lower()}{_clean_path('/' + match['path'])}"
    parts = _split(url)
    if parts.scheme in ("http", "https"):
        path = quote(_clean_path(parts.path), safe=_PATH_SAFE)
        return urlunsplit((parts.scheme, _authority(parts), path, parts.query, parts.fragment))
    if parts.scheme == "ssh" and "@" in parts.netloc:
        return f"ssh://{_authority(parts, keep_port=True)}{_clean_path(parts.path)}"
    return url


def push_url(url: str) -> str | None:
    """Return the SSH push URL of an HTTP(S) remote, without user info and port; None for other remotes.

    Raises:
        InputError: see `normalize`.
    """
    parts = urlsplit(normalize(url))
    if parts.scheme not in ("http", "https"):
        return None
    host = parts.hostname or ""
    return f"ssh://git@{f'[{host}]' if ':' in host else host}{parts.path}"


@functools.lru_cache(maxsize=1 << 16)  # thousands of Applications name a few repositories
def repository_key(url: str) -> str:
    """Return the path of a repository's bare clone below `dependencies/.repos`: `<host>[+<port>]/<path>.git`.

    Scheme, user info, query and fragment are ignored; a missing `.git` is added; the scheme's default port is left out.
    Local repositories have no host. See docs/adr/0002-repository-keys.md.

    Raises:
        InputError: the URL is not usable (see `normalize`), or its path is empty or leaves the folder.
    """
    host, path = _host_and_path(normalize(url))
    segments = [segment for segment in path.split("/") if segment]
    if not segments or any(segment in (".", "..") for segment in segments):
        raise InputError(
            "CMD-GIT-012",
            f"the path of the repository URL '{shown(url)}' must name a repository and must not climb with '..'",
            hint="write the URL as it is cloned, like https://git.example.com/group/name.git",
        )
    if not segments[-1].endswith(".git"):
        segments[-1] += ".git"
    return "/".join([host, *segments] if host else segments)


def is_local(url: str) -> bool:
    """Check if a normalised URL names a repository of this machine's file system."""
    return url.startswith(("/", "file://"))


def redact(url: str) -> str:
    """Return the URL for messages and records: no user info in HTTP(S) URLs, no password in others, no query."""
    return url if url.startswith("/") else redact_text(url)


def redact_text(text: str) -> str:
    """Remove the credentials of all URLs in a text, as `redact` does."""
    text = _REQUESTED_QUERY.sub(r"\g<path>", _HTTP_QUERY.sub(r"\g<url>", text))
    text = _HTTP_USER_INFO.sub(r"\g<scheme>", text)
    text = _OTHER_PASSWORD.sub(r"\g<user>@", text)
    return _BEFORE_HOST.sub(_without_password, text)


def _without_password(match: re.Match[str]) -> str:
    """Remove a password. Two patterns are used, as a single one would try each colon of a long text to its end."""
    user = _BARE_USER.search(match.string, match.start(), match.end())
    return match[0] if user is None else f"{match.string[match.start() : user.end()]}@"


def bare_url(url: str) -> str:
    """Return the URL for command lines, which other users of the machine can see: without user info for HTTP(S),
    without a password for others. It names the same repository.
    """
    scheme, separator, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    user_info, at, host = authority.rpartition("@")
    if not separator or not at:
        return url
    user = "" if scheme.lower() in ("http", "https") else f"{user_info.partition(':')[0]}@"
    return f"{scheme}://{user}{host}{slash}{path}"


def holds_credentials(text: str) -> bool:
    """Check if a text has a URL with credentials: user info of HTTP(S), or a password of another scheme."""
    return _CREDENTIALS.search(text) is not None


def shown(text: str) -> str:
    """Return external text that is safe for a message: redacted, without control characters, shortened."""
    clean = redact_text(only_printable(text))
    return clean if len(clean) <= 300 else clean[:300] + "…"


def _refuse_unsafe(url: str) -> None:
    if not url or url != url.strip():
        raise _invalid(url, "it is empty, or blanks surround it")
    if not url.isprintable() or "\\" in url:
        raise _invalid(url, "it holds control characters or backslashes")
    if url.startswith("-"):
        raise _invalid(url, "git would read it as an option")
    if ("?" in url or "#" in url) and not url.startswith(("/", "http://", "https://")):
        raise _invalid(url, "only HTTP URLs have a query or a fragment")
    if _HELPER.match(url):
        raise _forbidden_transport(url, url.partition("::")[0])


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise _invalid(url, str(error)) from None
    if parts.scheme not in _SCHEMES:
        raise _forbidden_transport(url, parts.scheme)
    if parts.scheme == "file":
        if not parts.path.startswith("/"):
            raise _invalid(url, "a file URL needs an absolute path")
        if parts.netloc not in ("", "localhost"):
            raise _invalid(url, "a file URL has no host: write file:///path")
    else:
        _check_host(url, parts.hostname or "", parts.username)
    return parts


def _check_host(url: str, host: str, user: str | None) -> None:
    if not _HOST.match(host) or ".." in host:
        raise _invalid(url, "its host is not a host name")
    if user is not None and user.startswith("-"):
        raise _invalid(url, "its user would be read as an option")


def _authority(parts: SplitResult, *, keep_port: bool = False) -> str:
    user_info, at, _ = parts.netloc.rpartition("@")
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    port = parts.port
    if port is not None and (keep_port or port != _DEFAULT_PORTS[parts.scheme]):
        host += f":{port}"
    return f"{user_info}{at}{host}"


def _clean_path(path: str) -> str:
    """Collapse repeated slashes and resolve dot segments (never above the root); a trailing slash stays."""
    clean = posixpath.normpath("/" + path.lstrip("/"))
    return clean + "/" if path.endswith("/") and clean != "/" else clean


def _host_and_path(url: str) -> tuple[str, str]:
    if url.startswith("/"):
        return "", url
    if "://" not in url:
        match = _SCP.match(url)
        assert match is not None, "normalize lets only such URLs through"
        return match["host"].strip("[]").lower(), match["path"]
    parts = urlsplit(url)
    if parts.scheme == "file":
        return "", parts.path
    host, port = parts.hostname or "", parts.port
    if port is not None and port != _DEFAULT_PORTS[parts.scheme]:
        host += f"+{port}"
    return host, parts.path


def _invalid(url: str, reason: str) -> InputError:
    return InputError(
        "CMD-GIT-010",
        f"'{shown(url)}' is not a usable repository URL: {reason}",
        hint="use an https://, ssh:// or file:// URL, git@host:path, or an absolute path",
    )


def _forbidden_transport(url: str, transport: str) -> InputError:
    return InputError(
        "CMD-GIT-011",
        f"the repository URL '{shown(url)}' uses the transport '{shown(transport)}', which is not allowed",
        hint="use an https://, ssh:// or file:// URL, git@host:path, or an absolute path",
    )
