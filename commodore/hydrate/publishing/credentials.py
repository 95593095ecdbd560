"""Credentials for pushes: files with Secrets in the format of Argo CD's commit server."""

from __future__ import annotations

import base64
import binascii
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, Location
from commodore.base.files.workspace import guard_disk
from commodore.base.limits import Limits
from commodore.base.yaml.kube_yaml import read_placed_documents
from commodore.core.sources.git import GitRights, Login, normalize, redact, repository_key
from commodore.core.sources.http import UNTRUSTED_HINT, Client, Meaning, Policy, Problem

_LABEL = "argocd.argoproj.io/secret-type"
_EXACT, _PREFIX = "repository-write", "repo-write-creds"
_APP = "githubAppID"
_MEANINGS = {
    **dict.fromkeys(
        Problem, Meaning(EnvironmentFault, "CMD-HYD-082", "check githubAppEnterpriseBaseUrl and the network")
    ),
    Problem.UNTRUSTED: Meaning(EnvironmentFault, "CMD-HYD-082", UNTRUSTED_HINT),
}
_GITHUB = "https://api.github.com"
_LIFE = 300  # seconds that the App's own signature is valid
_SKEW = 60  # seconds that GitHub's clock may be behind
_POLICY = Policy(timeout=30.0, seconds=60.0, size=1 << 20, attempts=1)
_SETTINGS = {"tlsClientCertData": "sslCert", "tlsClientCertKey": "sslKey"}


@dataclass(frozen=True, slots=True)
class Credential:
    """The credentials of a Secret.

    Attributes:
        exact: True if its URL is a repository's, False if it is a prefix of several.
        values: its keys; never shown.
    """

    name: str
    exact: bool
    values: Mapping[str, str] = field(repr=False)

    @property
    def url(self) -> str:
        return self.values.get("url", "")

    def fits(self, url: str, projects: frozenset[str]) -> bool:
        """Return True if it is for a repository and Applications of these projects."""
        project = self.values.get("project", "")
        if project and projects != {project}:
            return False
        if self.exact:
            return _key(self.url) == repository_key(url)
        beginning, whole = redact(self.url), redact(normalize(url))
        return whole == beginning or whole.startswith(beginning if beginning.endswith("/") else f"{beginning}/")


@dataclass(frozen=True, slots=True)
class Credentials:
    """The Secrets with credentials for pushes.

    Args:
        folder: the folder for key files, removed after the run.
    """

    secrets: tuple[Credential, ...]
    folder: Path
    context: Context

    def rights(self, url: str, projects: frozenset[str]) -> GitRights | None:
        """Return the credentials for a push to a repository; None for git's own configuration.

        Raises:
            InputError: CMD-HYD-081, two Secrets are for it; CMD-HYD-080, the Secret cannot be used.
            EnvironmentFault: CMD-HYD-082, GitHub gives no token for an App.
        """
        fitting = [secret for secret in self.secrets if secret.fits(url, projects)]
        if not fitting or self.context.offline:
            return None
        best = max(fitting, key=_rank)
        same = sorted(item.name for item in fitting if _rank(item) == _rank(best))
        if len(same) > 1:
            raise InputError(
                "CMD-HYD-081",
                f"the Secrets {' and '.join(same)} are both for {redact(url)}",
                hint="remove one of them, or write the repository's full URL into one",
            )
        if _APP in best.values:
            token = installation_token(best.name, best.values, self.context)
            best = replace(best, values={**best.values, "username": "x-access-token", "password": token})
        return self._rights(url, best)

    def _rights(self, url: str, credential: Credential) -> GitRights:
        values = credential.values
        authorization = ""
        if token := values.get("bearerToken"):
            authorization = f"Authorization: Bearer {token}"
        elif password := values.get("password"):
            pair = base64.b64encode(f"{values.get('username') or 'git'}:{password}".encode()).decode()
            authorization = f"Authorization: Basic {pair}"
        of_tls = {key: values[key] for key in ("tlsClientCertData", "tlsClientCertKey") if values.get(key)}
        files = {_SETTINGS[key]: self._file(credential, key, content) for key, content in of_tls.items()}
        key_file = None
        if private := values.get("sshPrivateKey"):
            key_file = self._file(credential, "sshPrivateKey", private.rstrip("\n") + "\n")
        parts = urlsplit(redact(normalize(url)))
        login = Login(authorization, files, values.get("insecure") == "true", key_file)
        return login.rights(f"{parts.scheme}://{parts.netloc}/")

    def _file(self, credential: Credential, key: str, content: str) -> Path:
        path = self.folder / f"{[secret.name for secret in self.secrets].index(credential.name)}-{key}"
        with guard_disk(path):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content.encode())
        return path


def read_credentials(place: Path, folder: Path, context: Context) -> Credentials:
    """Read the Secrets of a file, or of all YAML files of a folder.

    Secrets without the label of write credentials are ignored, so that read credentials are never used for pushes.

    Args:
        folder: for key files; private to the run.

    Raises:
        InputError: CMD-HYD-080, a file cannot be read, or a Secret is invalid. The message contains no values.
    """
    files = sorted(place.glob("*.y*ml")) if place.is_dir() else [place]
    secrets = [secret for file in files for secret in _secrets(file, context.limits)]
    return Credentials(tuple(secrets), folder, context)


def _secrets(file: Path, limits: Limits) -> Iterable[Credential]:
    try:
        content = file.read_bytes()[: limits.hydrate_bundle_bytes]
        documents = list(read_placed_documents(content, place=str(file)))
    except (OSError, CommodoreError) as error:
        raise _wrong(f"the file {file} of push credentials cannot be read", Location(str(file))) from error
    for value, line in documents:
        place = Location(str(file), line)
        if not isinstance(value, Mapping) or value.get("kind") != "Secret":
            continue
        metadata = value.get("metadata")
        labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
        kind = labels.get(_LABEL) if isinstance(labels, Mapping) else None
        if isinstance(metadata, Mapping) and kind in (_EXACT, _PREFIX):
            name = str(metadata.get("name", ""))
            values = _values(value, name, place)
            if values.get("type", "git") == "git":
                if not values.get("url"):
                    raise _wrong(f"the Secret {name} has no url", place)
                yield Credential(name, kind == _EXACT, values)


def _values(secret: Mapping[str, Any], name: str, place: Location) -> dict[str, str]:
    plain, encoded = secret.get("stringData") or {}, secret.get("data") or {}
    try:
        decoded = {str(key): base64.b64decode(value, validate=True).decode() for key, value in encoded.items()}
        return decoded | {str(key): str(value) for key, value in plain.items()}
    except (binascii.Error, ValueError, TypeError, AttributeError) as error:
        raise _wrong(f"the Secret {name} has data that cannot be decoded", place) from error


def _wrong(message: str, place: Location) -> InputError:
    return InputError(
        "CMD-HYD-080",
        message,
        hint="push credentials are Secrets in YAML, with url and password, bearerToken or sshPrivateKey",
        locations=[place],
    )


def _rank(credential: Credential) -> tuple[bool, int]:
    return credential.exact, len(credential.url)


def _key(url: str) -> str:
    try:
        return repository_key(url)
    except CommodoreError:
        return ""


def installation_token(name: str, values: Mapping[str, str], context: Context) -> str:
    """Request a token of an App's installation.

    Args:
        name: of the Secret.
        values: its keys: `githubAppID`, `githubAppInstallationID`, `githubAppPrivateKey`, and perhaps
            `githubAppEnterpriseBaseUrl`.

    Raises:
        InputError: CMD-HYD-080, a key is missing or cannot be used.
        EnvironmentFault: CMD-HYD-082, GitHub does not answer, or refuses.
    """
    installation = values.get("githubAppInstallationID", "")
    if not installation.isdigit():
        raise _wrong_app(name, "githubAppInstallationID must be a number")
    base = values.get("githubAppEnterpriseBaseUrl") or _GITHUB
    url = f"{base.rstrip('/')}/app/installations/{installation}/access_tokens"
    signed = _signed(name, values)
    client = Client(context, _MEANINGS, "application/vnd.github+json")
    try:
        answer = client.post(url, _POLICY, b"", {}, {"Authorization": f"Bearer {signed}"})
    finally:
        client.close()
    try:
        token = json.loads(answer.body)["token"] if answer.status == 201 else None
    except (ValueError, LookupError, TypeError):
        token = None
    if not isinstance(token, str):
        raise EnvironmentFault(
            "CMD-HYD-082",
            f"{answer.url} gives no token for the Secret {name}: {answer.status} {answer.phrase}",
            hint="check the id of the App and of its installation, and its private key",
        )
    return token


def _signed(name: str, values: Mapping[str, str]) -> str:
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import RSAKey

    now = int(time.time())
    claims = {"iat": now - _SKEW, "exp": now + _LIFE, "iss": values.get("githubAppID", "")}
    try:
        return jwt.encode({"alg": "RS256"}, claims, RSAKey.import_key(values.get("githubAppPrivateKey", "")))
    except (JoseError, ValueError, TypeError) as error:
        raise _wrong_app(name, "githubAppPrivateKey must be an RSA key in PEM format") from error


def _wrong_app(name: str, why: str) -> InputError:
    return InputError(
        "CMD-HYD-080",
        f"the Secret {name} cannot be used: {why}",
        hint="a GitHub App has githubAppID, githubAppInstallationID and githubAppPrivateKey",
    )
