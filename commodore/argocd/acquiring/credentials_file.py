"""The file with credentials of servers. It is read only if it is named."""

from __future__ import annotations

import base64
import binascii
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from commodore.argocd.configuration.read import read_file
from commodore.argocd.model.fields import Fields
from commodore.base.errors import CommodoreError, InputError, Location, PolicyError
from commodore.base.limits import Limits
from commodore.base.yaml.kube_scalars import Problem
from commodore.base.yaml.kube_yaml import read_placed_documents
from commodore.core.sources.git import Login, holds_credentials, normalize, redact

_PORTS = {"http": ":80", "https": ":443", "ssh": ":22", "oci": ":443"}
_KNOWN = (
    *("url", "username", "password", "passwordEnv", "passwordFile", "tokenEnv", "tokenFile"),
    *("sshKeyFile", "sshKnownHostsFile", "caFile", "registryConfig", "passCredentials"),
)
_SECRETS = ("password", "passwordEnv", "passwordFile", "tokenEnv", "tokenFile", "registryConfig")


@dataclass(frozen=True, slots=True)
class Scope:
    """A server and a path on it, of credentials or of a request.

    Attributes:
        scheme: `oci` for registries.
        server: name and port; without the default port of the scheme.
        parts: the parts of the path.
    """

    scheme: str
    server: str
    parts: tuple[str, ...]

    def covers(self, other: Scope) -> bool:
        """Check if another scope is equal or below."""
        inside = other.parts[: len(self.parts)] == self.parts
        return inside and (self.scheme, self.server) == (other.scheme, other.server)


def scope_of(url: str) -> Scope | None:
    """Return the scope of a URL; None if it is invalid, or has an ambiguous path.

    Args:
        url: the URL of a file, a git repository or a registry, the latter with or without `oci://`.
    """
    try:
        if "://" not in url:
            url = normalize(url) if "@" in url.partition("/")[0] else f"oci://{url}"
        address = urlsplit(url)
        if address.scheme == "ssh":
            address = urlsplit(normalize(url))
        host, port = address.hostname or "", f":{address.port}" if address.port else ""
    except (ValueError, CommodoreError):
        return None
    parts = [unquote(part) for part in address.path.split("/") if part]
    if not host or any(part in (".", "..") or "/" in part or "\\" in part for part in parts):
        return None
    if parts:
        parts[-1] = parts[-1].removesuffix(".git")
    server = f"{host.lower()}{port if port != _PORTS.get(address.scheme) else ''}"
    return Scope(address.scheme.lower(), server, tuple(parts))


@dataclass(frozen=True, slots=True)
class Entry:
    """A login, and its scope.

    Attributes:
        url: the prefix of URLs, as written in the file.
        passed_on: True to send it also to other servers that a chart index below its URL names.
    """

    url: str
    scope: Scope
    login: Login = field(repr=False)
    passed_on: bool = False


def read_credentials(file: Path, limits: Limits) -> tuple[Entry, ...]:
    """Read a file of credentials; paths in it are relative to its folder.

    Raises:
        InputError: CMD-ARGO-101, it cannot be read; CMD-ARGO-323, it is invalid. Messages have no secrets.
        PolicyError: CMD-ARGO-324, others may read it.
    """
    content = read_file(file, limits)
    if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise PolicyError(
            "CMD-ARGO-324", f"other users may read the credentials in {file}", hint=f"run: chmod 600 {file}"
        )
    problems: list[Problem] = []
    try:
        documents = list(read_placed_documents(content, place=str(file), problems=problems))
        listed = documents[0][0] if len(documents) == 1 else None
        if problems or not isinstance(listed, list):
            line = problems[0][1] if problems else 1
            raise _invalid("it must be a list of credentials, with each key once", Location(str(file), line))
        place = Location(str(file))
        return tuple(
            _entry(Fields.of(value, f"[{number}]", place), file.absolute().parent)
            for number, value in enumerate(listed)
        )
    except InputError as error:
        if error.code == "CMD-ARGO-323":
            raise
        raise _invalid("it must be a list of maps with texts", *(error.locations or [Location(str(file))])) from error


def _entry(fields: Fields, folder: Path) -> Entry:
    for path, hint in fields.unknown(_KNOWN):
        raise _invalid(f"unknown field {path}", fields.place, hint=hint)
    url = fields.text("url")
    scope = scope_of(url)
    if scope is None or holds_credentials(url) or scope.scheme not in _PORTS:
        raise _invalid(f"{fields.at('url')} must be the URL of a server, without user name and password", fields.place)
    given = [name for name in _SECRETS if name in fields]
    if len(given) > 1:
        raise _invalid(f"{fields.path} has {' and '.join(given)}; only one is allowed", fields.place)
    login = (
        Login(f"Authorization: {authorization}")
        if (authorization := _authorization(fields, scope, folder))
        else Login()
    )
    if "caFile" in fields:
        login = replace(login, files={"sslCAInfo": _file(fields, "caFile", folder)})
    if "sshKeyFile" in fields or scope.scheme == "ssh":
        key, hosts = (_file(fields, name, folder) for name in ("sshKeyFile", "sshKnownHostsFile"))
        login = replace(login, ssh_key=key, known_hosts=hosts)
    return Entry(redact(url), scope, login, fields.flag("passCredentials"))


def _authorization(fields: Fields, scope: Scope, folder: Path) -> str:
    """Return the value of the header `Authorization`; empty for no login."""
    for name in ("tokenEnv", "tokenFile"):
        if name in fields:
            return f"Bearer {_secret(fields, name, folder)}"
    for name in ("password", "passwordEnv", "passwordFile"):
        if name in fields:
            password = fields.text(name) if name == "password" else _secret(fields, name, folder)
            return _basic(fields.text("username") or "git", password)
    if "registryConfig" in fields:
        login = registry_login(_file(fields, "registryConfig", folder), scope.server)
        if not login:
            raise _invalid(f"{fields.at('registryConfig')} has no login for {scope.server}", fields.place)
        return login
    return ""


def _secret(fields: Fields, name: str, folder: Path) -> str:
    """Return the content of the variable or file that a field names."""
    if name.endswith("Env"):
        secret = os.environ.get(fields.text(name), "")
        if not secret:
            raise _invalid(f"the variable that {fields.at(name)} names is not set", fields.place)
    else:
        secret = _file(fields, name, folder).read_text(encoding="utf-8", errors="replace").strip()
    if not secret.isprintable():
        raise _invalid(f"the value that {fields.at(name)} names must be one line of text", fields.place)
    return secret


def _file(fields: Fields, name: str, folder: Path) -> Path:
    path = folder / Path(fields.text(name)).expanduser()
    if not fields.text(name) or not path.is_file() or not os.access(path, os.R_OK):
        raise _invalid(f"{fields.at(name)} must be a readable file", fields.place)
    return path


def registry_login(config: Path, server: str) -> str:
    """Return the header for a registry from a configuration file of container tools; empty if it has no login.

    Credential helpers are not run.
    """
    try:
        data: Any = json.loads(config.read_bytes())
        logins = data.get("auths") or {}
        for name in (server, f"https://{server}", f"https://{server}/v1/", f"https://{server}/v2/"):
            login = logins.get(name)
            if isinstance(login, Mapping) and login.get("auth"):
                user, _, password = base64.b64decode(login["auth"], validate=True).decode().partition(":")
                return _basic(user, password)
            if isinstance(login, Mapping) and login.get("username"):
                return _basic(str(login["username"]), str(login.get("password", "")))
    except (OSError, ValueError, AttributeError, TypeError, binascii.Error):
        return ""
    return ""


def _basic(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def _invalid(message: str, *places: Location, hint: str = "") -> InputError:
    return InputError(
        "CMD-ARGO-323",
        f"the file of credentials cannot be used: {message}",
        hint=hint or "write a list such as - {url: https://git.example.com/team, username: bot, passwordEnv: TOKEN}",
        locations=list(places),
    )
