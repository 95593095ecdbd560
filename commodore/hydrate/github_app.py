"""Tokens of a GitHub App: what it may do in the repositories where it is installed, for an hour."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError
from commodore.core.sources.http import UNTRUSTED_HINT, Client, Meaning, Policy, Problem

_MEANINGS = {
    **dict.fromkeys(
        Problem, Meaning(EnvironmentFault, "CMD-HYD-082", "check githubAppEnterpriseBaseUrl and the network")
    ),
    Problem.UNTRUSTED: Meaning(EnvironmentFault, "CMD-HYD-082", UNTRUSTED_HINT),
}
_GITHUB = "https://api.github.com"
_LIFE = 300  # seconds that the App's own signature is good for
_SKEW = 60  # seconds by which GitHub's clock may be behind
_POLICY = Policy(timeout=30.0, seconds=60.0, size=1 << 20, attempts=1)


def installation_token(name: str, values: Mapping[str, str], context: Context) -> str:
    """A token of an App's installation.

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
        raise _wrong(name, "githubAppInstallationID is missing, or no number")
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
        raise _wrong(name, "githubAppPrivateKey is no RSA key in PEM") from error


def _wrong(name: str, why: str) -> InputError:
    return InputError(
        "CMD-HYD-080",
        f"the Secret {name} cannot be used: {why}",
        hint="a GitHub App has githubAppID, githubAppInstallationID and githubAppPrivateKey",
    )
