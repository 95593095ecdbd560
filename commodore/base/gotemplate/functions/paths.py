"""Sprig's functions of paths and URLs."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

from commodore.base.gotemplate.problems import CallProblem
from commodore.base.gotemplate.quoting import quoted
from commodore.base.gotemplate.signatures import Table, function
from commodore.base.gotemplate.values import Value, kind_name

TABLE: Final[Table] = {}


def clean(path: str) -> str:
    """A path without empty parts, ``.`` and ``..`` that can go (path.Clean)."""
    if not path:
        return "."
    rooted = path.startswith("/")
    parts: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".." or not rooted:
            parts.append(part)
    return ("/" if rooted else "") + "/".join(parts) or "."


function(TABLE, "clean osClean", "string")(clean)


@function(TABLE, "base osBase", "string")
def _base(path: str) -> str:
    if not path:
        return "."
    return path.rstrip("/").rpartition("/")[2] or "/"


@function(TABLE, "dir osDir", "string")
def _dir(path: str) -> str:
    return clean(path[: path.rfind("/") + 1])


@function(TABLE, "ext osExt", "string")
def _ext(path: str) -> str:
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :] if "." in name else ""


@function(TABLE, "isAbs osIsAbs", "string")
def _is_abs(path: str) -> bool:
    return path.startswith("/")


_PARTS: Final = ("scheme", "host", "hostname", "path", "query", "opaque", "fragment", "userinfo")


@function(TABLE, "urlParse", "string")
def _url_parse(text: str) -> dict[str, Value]:
    found = dict.fromkeys(_PARTS, "")
    rest, _, fragment = text.partition("#")
    found["fragment"] = unquote(fragment)
    if any(char < " " or char == "\x7f" for char in text):
        raise CallProblem(f"unable to parse url: parse {_shown(text)}: net/url: invalid control character in URL")
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.\-]*):", rest)
    if scheme is not None:
        found["scheme"] = scheme[1].lower()
        rest = rest[scheme.end() :]
    elif rest.startswith(":") or (not rest.startswith("/") and ":" in re.split("[/?]", rest)[0]):
        raise CallProblem(f"unable to parse url: parse {_shown(text)}: {_first_segment(rest)}")
    rest, _, found["query"] = rest.partition("?")
    escape = re.search(
        r"%(?![0-9A-Fa-f]{2}).{0,2}", rest if rest.startswith("/") or not found["scheme"] else "", re.DOTALL
    )
    if escape is not None:
        raise CallProblem(f"unable to parse url: parse {_shown(text)}: invalid URL escape {_shown(escape[0])}")
    if not rest.startswith("/") and found["scheme"]:
        found["opaque"] = rest
        return dict(found)
    if rest.startswith("//") and (found["scheme"] or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        user, at, host = authority.rpartition("@")
        found["userinfo"] = user if at else ""
        port = re.search(r":[^\]:]*\Z", host)
        if port is not None and not re.fullmatch(r":[0-9]*", port[0], re.ASCII):
            raise CallProblem(f"unable to parse url: parse {_shown(text)}: invalid port {_shown(port[0])} after host")
        found["host"] = host
        found["hostname"] = _hostname(host)
    found["path"] = unquote(rest)
    return dict(found)


def _first_segment(text: str) -> str:
    return "missing protocol scheme" if text.startswith(":") else "first path segment in URL cannot contain colon"


def _shown(text: str) -> str:
    return quoted(text)


def _hostname(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return re.sub(r":[0-9]*\Z", "", host)


@function(TABLE, "urlJoin", "map")
def _url_join(parts: dict[str, Value]) -> str:
    found = {}
    for key in ("scheme", "host", "path", "query", "opaque", "fragment", "userinfo"):
        value = parts.get(key, "")
        if not isinstance(value, str):
            kind = kind_name(value)
            raise CallProblem(f"unable to parse {key} key, must be of type string, but {kind} found")
        found[key] = value
    text = found["scheme"] + ":" if found["scheme"] else ""
    if found["opaque"]:
        text += found["opaque"]
    else:
        text += _hierarchy(found)
    if found["query"]:
        text += "?" + found["query"]
    return text + ("#" + quote(found["fragment"], safe="!$&'()*+,/:;=?@-._~") if found["fragment"] else "")


def _hierarchy(found: dict[str, str]) -> str:
    path = quote(found["path"], safe="/$&+,:;=@-._~")
    host = found["host"]
    text = ""
    if found["scheme"] or host or found["userinfo"]:
        if host or found["path"].startswith("//") or found["userinfo"]:
            text += "//"
        if found["userinfo"]:
            text += found["userinfo"] + "@"
        text += host
        if path and not path.startswith("/") and host:
            text += "/"
    elif ":" in path.partition("/")[0]:
        text = "./"
    return text + path
