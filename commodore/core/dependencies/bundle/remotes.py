"""Remotes of git dependencies in the forms of jsonnet-bundler, and the package names derived from them.

Forms of jsonnet-bundler mean the same here. Supported in addition: ports, hosts without a dot, other ssh
users, sub-groups without `.git`, `file://` URLs and absolute paths.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from commodore.base.errors import InputError, Location, PolicyError
from commodore.base.limits import Limits
from commodore.base.names import NAME_LENGTH, PATH_SEGMENT_BYTES

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)")
_SCP = re.compile(r"([A-Za-z0-9._~-]+)@(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._:-]+):([^:]+)")
_AUTHORITY = re.compile(r"(?:(?P<user>[^@/]*)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
_DOMAIN = re.compile(r"(?:[A-Za-z0-9_-]+\.)+[A-Za-z]{2,}")
_USER = re.compile(r"[A-Za-z0-9._~-]+")
_ELEMENT = re.compile(r"[\w.~+%@=,-]+")


@dataclass(frozen=True, slots=True)
class Remote:
    """The remote of a git dependency.

    `url` is for fetching and lock files, without credentials. `identity` (host, path without `.git`; for repositories
    on this machine the path alone) is the prefix of the package's name. `on_this_machine`: a path or `file://` URL.
    """

    url: str
    identity: str
    on_this_machine: bool = False


def parse_remote(text: str, place: Location, limits: Limits) -> Remote:
    """Parse the `source.git.remote` of a jsonnetfile.

    Raises:
        InputError: `text` has an unknown form; the message does not repeat credentials.
        PolicyError: its path has segments such as `..`.
    """
    if not text or text.startswith("-") or not text.isprintable() or len(text) > limits.url_length:
        raise _unparsable(text, place)
    remote = None
    if matched := _SCHEME.fullmatch(text):
        remote = _parse_url(matched[1].lower(), matched[2])
    elif text.startswith("/"):
        remote = Remote(text.rstrip("/"), _identity(text.strip("/")), on_this_machine=True)
    elif matched := _SCP.fullmatch(text):
        user, host, path = matched[1], matched[2], matched[3].strip("/")
        if user == "git" and _DOMAIN.fullmatch(host):
            # Without the suffix, the URL would be read as a web address.
            path = f"{_identity(path)}.git"
        remote = Remote(f"ssh://{user}@{host}/{path}", _identity(f"{host}/{path}"))
    elif "::" not in text:
        remote = _parse_web("https", text, default_only=True)
    if remote is None:
        raise _unparsable(text, place)
    check_name(remote.identity, f"remote {without_credentials(text)!r}", place, limits)
    return remote


def without_credentials(url: str) -> str:
    """Return `url` for messages: without the text before an `@` in its authority."""
    return re.sub(r"^([A-Za-z][A-Za-z0-9+.-]*://)?[^/]*@", lambda match: match[1] or "", url)


def clean_subdir(text: str, place: Location, limits: Limits) -> str:
    """The sub-folder of a git source without outer slashes and `.` elements; empty for the whole repository.

    Raises:
        PolicyError: it leaves the repository or holds control characters.
    """
    subdir = "/".join(element for element in text.split("/") if element not in ("", "."))
    if subdir:
        check_name(subdir, f"sub-folder {text!r}", place, limits)
    return subdir


def check_name(name: str, what: str, place: Location, limits: Limits) -> None:
    """Check that `name` can be a path below `vendor`.

    Raises:
        PolicyError: it would leave that folder, collide with its `.cache`, or is too long.
    """
    elements = name.split("/")
    if (
        not name.isprintable()
        or len(name) > limits.url_length
        or elements[0] in (".cache", ".git")
        or any(element in ("", ".", "..") or len(element.encode()) > PATH_SEGMENT_BYTES for element in elements)
    ):
        raise PolicyError(
            "CMD-JB-005",
            f"the {what} cannot become a path below vendor",
            hint="every part must be a plain name: not empty, not '.' or '..', and not '.cache' at the start",
            locations=[place],
        )


def check_version(version: str, what: str, place: Location) -> None:
    """Check that a git dependency has a version that cannot be read as an option.

    Raises:
        InputError: it is empty or not a valid branch, tag or commit.
    """
    printable = version.isprintable() and " " not in version and len(version) <= NAME_LENGTH
    if not version or version.startswith("-") or not printable:
        problem = f"the version {version!r} of {what} cannot be used" if version else f"{what} has no version"
        raise InputError(
            "CMD-JB-006", problem, hint="set `version` to a branch, a tag or a full commit id", locations=[place]
        )


def _parse_url(scheme: str, rest: str) -> Remote | None:
    if scheme == "file":
        path = rest.removeprefix("localhost") if rest.startswith("localhost/") else rest
        if not path.startswith("/") or not path.strip("/"):
            return None
        return Remote(f"file://{path.rstrip('/')}", _identity(path.strip("/")), on_this_machine=True)
    if scheme == "ssh":
        return _parse_ssh(rest)
    if scheme in ("http", "https"):
        return _parse_web(scheme, rest)
    return None


def _parse_ssh(rest: str) -> Remote | None:
    authority, _, path = rest.partition("/")
    matched = _AUTHORITY.fullmatch(authority)
    path = path.strip("/")
    if not matched or not _plain(path):
        return None
    # An ssh URL may have a user name, but not a password.
    user = (matched["user"] or "").partition(":")[0]
    if user and not _USER.fullmatch(user):
        return None
    if user == "git" and not path.endswith(".git") and not matched["port"] and _DOMAIN.fullmatch(matched["host"]):
        # jsonnet-bundler reads this form as a web address; existing set-ups have the credentials for it.
        return _parse_web("https", f"{matched['host']}/{path}", default_only=True)
    host = matched["host"] + (f":{matched['port']}" if matched["port"] else "")
    return Remote(f"ssh://{user}@{host}/{path}" if user else f"ssh://{host}/{path}", _identity(f"{host}/{path}"))


def _parse_web(scheme: str, rest: str, *, default_only: bool = False) -> Remote | None:
    """Parse a web address. With `default_only`, the text has no scheme and must be a domain and a path."""
    authority, _, path = rest.partition("/")
    matched = _AUTHORITY.fullmatch(authority)
    path = path.strip("/")
    if not matched or not _plain(path):
        return None
    host, port = matched["host"], matched["port"]
    elements = _cut(host, path.split("/"))
    if port is None and _DOMAIN.fullmatch(host) and len(elements) >= 2:
        # jsonnet-bundler always uses https and the suffix for these hosts.
        identity = _identity(f"{host}/{'/'.join(elements)}")
        return Remote(f"https://{identity}.git", identity)
    if default_only:
        return None
    where = host + (f":{port}" if port else "")
    return Remote(f"{scheme}://{where}/{path}", _identity(f"{where}/{path}"))


def _cut(host: str, elements: list[str]) -> list[str]:
    """Cut a path after the repository: after `.git`, and on GitHub, which has no sub-groups, after two segments."""
    for index in range(len(elements) - 1, 0, -1):
        if elements[index].endswith(".git"):
            return elements[: index + 1]
    return elements[:2] if host.lower() == "github.com" else elements


def _plain(path: str) -> bool:
    return bool(path) and all(_ELEMENT.fullmatch(element) for element in path.split("/"))


def _identity(path: str) -> str:
    return path.removesuffix(".git")


def _unparsable(text: str, place: Location) -> InputError:
    return InputError(
        "CMD-JB-004",
        f"{without_credentials(text)!r} is not the address of a git repository",
        hint="write https://HOST/OWNER/NAME.git, ssh://git@HOST/OWNER/NAME.git, git@HOST:OWNER/NAME.git or file:///PATH",
        locations=[place],
    )
