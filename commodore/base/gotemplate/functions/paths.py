"""Sprig's functions for paths and URLs."""

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
    """Return a path without empty parts, ``.`` and removable ``..`` (path.Clean)."""
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
    parts = dict.fromkeys(_PARTS, "")
    rest, _, fragment = text.partition("#")
    parts["fragment"] = unquote(fragment)
    if any(char < " " or char == "\x7f" for char in text):
        raise CallProblem(f"unable to parse url: parse {_shown(text)}: net/url: invalid control character in URL")
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.\-]*):", rest)
    if scheme is not None:
        parts["scheme"] = scheme[1].lower()
        rest = rest[scheme.end() :]
    elif rest.startswith(":") or (not rest.startswith("/") and ":" in re.split("[/?]", rest)[0]):
        raise CallProblem(f"unable to parse url: parse {_shown(text)}: {_first_segment(rest)}")
    rest, _, parts["query"] = rest.partition("?")
    escape = re.search(
        r"%(?![0-9A-Fa-f]{2}).{0,2}", rest if rest.startswith("/") or not parts["scheme"] else "", re.DOTALL
    )
    if escape is not None:
        raise CallProblem(f"unable to parse url: parse {_shown(text)}: invalid URL escape {_shown(escape[0])}")
    if not rest.startswith("/") and parts["scheme"]:
        parts["opaque"] = rest
        return dict(parts)
    if rest.startswith("//") and (parts["scheme"] or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        user, at, host = authority.rpartition("@")
        parts["userinfo"] = user if at else ""
        port = re.search(r":[^\]:]*\Z", host)
        if port is not None and not re.fullmatch(r":[0-9]*", port[0], re.ASCII):
            raise CallProblem(f"unable to parse url: parse {_shown(text)}: invalid port {_shown(port[0])} after host")
        parts["host"] = host
        parts["hostname"] = _hostname(host)
    parts["path"] = unquote(rest)
    return dict(parts)


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
    texts = {}
    for key in ("scheme", "host", "path", "query", "opaque", "fragment", "userinfo"):
        value = parts.get(key, "")
        if not isinstance(value, str):
            kind = kind_name(value)
            raise CallProblem(f"unable to parse {key} key, must be of type string, but {kind} found")
        texts[key] = value
    text = texts["scheme"] + ":" if texts["scheme"] else ""
    if texts["opaque"]:
        text += texts["opaque"]
    else:
        text += _hierarchy(texts)
    if texts["query"]:
        text += "?" + texts["query"]
    return text + ("#" + quote(texts["fragment"], safe="!$&'()*+,/:;=?@-._~") if texts["fragment"] else "")


def _hierarchy(texts: dict[str, str]) -> str:
    path = quote(texts["path"], safe="/$&+,:;=@-._~")
    host = texts["host"]
    text = ""
    if texts["scheme"] or host or texts["userinfo"]:
        if host or texts["path"].startswith("//") or texts["userinfo"]:
            text += "//"
        if texts["userinfo"]:
            text += texts["userinfo"] + "@"
        text += host
        if path and not path.startswith("/") and host:
            text += "/"
    elif ":" in path.partition("/")[0]:
        text = "./"
    return text + path
