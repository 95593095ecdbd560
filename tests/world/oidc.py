"""A real OpenID Connect provider on loopback that can misbehave on purpose, and a browser for it.

with OidcProvider() as provider:
    provider.claims = {"nonce": "another"}            # what the ID tokens say differently
    provider.script(slow(9), path="/token")           # as for the Lieutenant API
    ...                                               # use provider.discovery_url, provider.client_id
    Browser().visit(page_to_visit)                    # logs in and comes back
"""

from __future__ import annotations

import functools
import json
import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import jwt
import requests
from authlib.oauth2 import OAuth2Error  # type: ignore[import-untyped]
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from commodore.base.events import Event, PageToVisit
from tests.world._authorization_server import DEVICE_GRANT, Call, Client, Memory, Server
from tests.world.lieutenant import LieutenantServer, Reply, Request, answering

CLIENT = "syn-commodore"


@functools.cache
def signing_key(name: str, algorithm: str = "RS256") -> Any:
    """A private key by name; made once, as that takes time."""
    if algorithm.startswith("ES"):
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class OidcProvider(LieutenantServer):
    """An identity provider in its own threads, from `with` to the end of the block.

    Attributes:
        claims: replace claims of the ID tokens; a value of `...` removes one.
        algorithm: what ID tokens are signed with.
        key: the name of the key that signs; `published` are the ones that the provider shows.
        tokens: replace keys of the token endpoint's answers; a value of `...` removes one.
        document: replace keys of the discovery document; a value of `...` removes one.
        denies: whether the user says no.
        callback: replace parameters of the way back; a value of `...` removes one.
        memory: what the provider remembers.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.client_id = CLIENT
        self.claims: dict[str, Any] = {}
        self.algorithm = "RS256"
        self.key = "first"
        self.published = [("first", "RS256"), ("first", "ES256")]
        self.tokens: dict[str, Any] = {}
        self.document: dict[str, Any] = {}
        self.denies = False
        self.callback: dict[str, Any] = {}
        grants = {"authorization_code", "refresh_token", DEVICE_GRANT}
        self.memory = Memory({CLIENT: Client(CLIENT, grants)}, self.id_token, self.url)
        self._server = Server(self.memory)

    @property
    def discovery_url(self) -> str:
        return f"{self.url}/.well-known/openid-configuration"

    def id_token(self, client: Client, nonce: str | None) -> str:
        """A signed ID token for a user called Tess."""
        now = int(time.time())
        claims: dict[str, Any] = {
            "iss": self.url,
            "sub": "user-1",
            "aud": client.client_id,
            "iat": now,
            "exp": now + 3600,
            "name": "Tess Ter",
            "email": "tess@example.com",
        }
        if nonce is not None:
            claims["nonce"] = nonce
        changed = _changed(claims, self.claims)
        if self.algorithm == "none":
            return jwt.encode(changed, "", "none")
        secret = b"a secret that everybody knows, as long as it must be" if self.algorithm.startswith("HS") else None
        key = secret or signing_key(self.key, self.algorithm)
        return jwt.encode(changed, key, self.algorithm, {"kid": f"{self.key}-{self.algorithm}"})

    def _regular(self, request: Request) -> Reply:
        call = Call(request.method, self.url + request.target, dict(parse_qsl(request.body.decode())))
        routes: dict[tuple[str, str], Callable[[Call], Reply]] = {
            ("GET", "/.well-known/openid-configuration"): lambda _: answering(
                _changed(self._discovery(), self.document)
            ),
            ("GET", "/keys"): lambda _: answering({"keys": self._keys()}),
            ("GET", "/authorize"): self._authorize,
            ("POST", "/token"): self._token,
            ("POST", "/device"): lambda call: _reply(
                self._server.create_endpoint_response("device_authorization", call)
            ),
            ("POST", "/revoke"): lambda call: _reply(self._server.create_endpoint_response("revocation", call)),
        }
        route = routes.get((request.method, request.path))
        return super()._regular(request) if route is None else route(call)

    def _discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "device_authorization_endpoint": f"{self.url}/device",
            "revocation_endpoint": f"{self.url}/revoke",
            "code_challenge_methods_supported": ["S256"],
        }

    def _keys(self) -> list[Mapping[str, Any]]:
        keys: list[Mapping[str, Any]] = [{"kty": "future", "kid": "x"}, {"kty": "oct", "k": "AAAA", "kid": "none"}]
        for name, algorithm in self.published:
            kind = jwt.algorithms.ECAlgorithm if algorithm == "ES256" else jwt.algorithms.RSAAlgorithm
            public = kind.to_jwk(signing_key(name, algorithm).public_key(), as_dict=True)
            keys.append({**public, "kid": f"{name}-{algorithm}", "use": "sig", "alg": algorithm})
        return keys

    def _authorize(self, call: Call) -> Reply:
        try:
            grant = self._server.get_consent_grant(call)
            user = None if self.denies else "somebody"
            status, _, headers = self._server.create_authorization_response(call, grant_user=user, grant=grant)
        except OAuth2Error as error:
            return _reply(self._server.handle_error_response(call, error))
        location = dict(headers)["Location"]
        base, _, query = location.partition("?")
        parameters = _changed(dict(parse_qsl(query)), self.callback)
        return Reply(status, b"", {"Location": requests.Request("GET", base, params=parameters).prepare().url or ""})

    def _token(self, call: Call) -> Reply:
        status, body, headers = self._server.create_token_response(call)
        return _reply((status, _changed(body, self.tokens) if status == 200 else body, headers))


class Browser:
    """Does what a browser does: follows the link, and what the provider answers back to the program.

    `pages` are what it was shown, as (status, text).
    """

    def __init__(self) -> None:
        self.pages: queue.Queue[tuple[int, str]] = queue.Queue()
        self.visited: list[str] = []
        self.collected: list[Event] = []

    def announce(self, event: Event) -> None:
        """A listener that visits the page that it is asked to."""
        self.collected.append(event)
        if isinstance(event, PageToVisit):
            self.visited.append(event.url)
            threading.Thread(target=self.visit, args=(event.url,), daemon=True).start()

    def visit(self, url: str) -> None:
        try:
            self.pages.put(self.get(self.way_back(url)))
        except requests.RequestException as error:  # seen by whoever waits for the page
            self.pages.put((0, str(error)))

    def way_back(self, url: str) -> str:
        """The address that the provider sends the browser to."""
        return requests.get(url, allow_redirects=False, timeout=10).headers["Location"]

    def get(self, url: str, **headers: str) -> tuple[int, str]:
        response = requests.get(url, headers=headers, timeout=10)
        return response.status_code, response.text


def _changed(value: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in {**value, **changes}.items() if each is not ...}


def _reply(answered: tuple[int, Any, list[tuple[str, str]]]) -> Reply:
    status, body, headers = answered
    return Reply(status, (json.dumps(body) if isinstance(body, dict) else body or "").encode(), dict(headers))
