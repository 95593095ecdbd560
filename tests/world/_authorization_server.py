"""The protocol side of the identity provider on loopback: authlib's authorization server with everything in memory.

That library checks what our client sends: PKCE, redirect URI, codes that are used once, rotated refresh tokens.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from authlib.oauth2.rfc6749 import AuthorizationServer, OAuth2Request  # type: ignore[import-untyped]
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant  # type: ignore[import-untyped]
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload  # type: ignore[import-untyped]
from authlib.oauth2.rfc6750 import BearerTokenGenerator  # type: ignore[import-untyped]
from authlib.oauth2.rfc7009 import RevocationEndpoint  # type: ignore[import-untyped]
from authlib.oauth2.rfc7636 import CodeChallenge  # type: ignore[import-untyped]
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict  # type: ignore[import-untyped]

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
Answered = tuple[int, Any, list[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class Call:
    """One request, as the library's adaptors take it."""

    method: str
    uri: str
    form: Mapping[str, str]


@dataclass(slots=True)
class Code:
    client_id: str
    redirect_uri: str
    scope: str
    nonce: str | None
    challenge: str | None
    method: str | None

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope


@dataclass(slots=True)
class Issued:
    """Tokens that were issued, for the one who holds the refresh token."""

    client_id: str
    scope: str
    refresh_token: str
    access_token: str

    def check_client(self, client: Any) -> bool:
        return bool(client.get_client_id() == self.client_id)

    def get_scope(self) -> str:
        return self.scope


@dataclass(slots=True)
class Client:
    """A public client. Any port of localhost may be where it listens."""

    client_id: str
    grants: set[str]

    def get_client_id(self) -> str:
        return self.client_id

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        parts = urlsplit(redirect_uri)
        return parts.scheme == "http" and parts.hostname == "localhost" and parts.path == "" and parts.query == ""

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "none"

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in self.grants


@dataclass(slots=True)
class Memory:
    """Everything that the server remembers. `decisions` are those of users at the device page, by the code they
    entered.
    """

    clients: dict[str, Client]
    id_token: Callable[[Client, str | None], str]
    base: str = ""
    interval: int = 1
    device_seconds: int = 600
    codes: dict[str, Code] = field(default_factory=dict)
    issued: dict[str, Issued] = field(default_factory=dict)
    revoked: list[str] = field(default_factory=list)
    devices: dict[str, DeviceCredentialDict] = field(default_factory=dict)
    decisions: dict[str, bool] = field(default_factory=dict)


class Server(AuthorizationServer):  # type: ignore[misc]
    """The library's server over a `Memory`."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(["openid", "email", "profile"])
        self.memory = memory
        self.register_token_generator(
            "default", BearerTokenGenerator(lambda *_, **__: secrets.token_urlsafe(24), lambda *_, **__: _opaque())
        )
        self.register_grant(_CodeGrant, [CodeChallenge(required=True)])
        self.register_grant(_RefreshGrant)
        self.register_grant(_DeviceGrant)
        self.register_endpoint(_DeviceEndpoint(self))
        self.register_endpoint(_Revocation(self))

    def query_client(self, client_id: str) -> Client | None:
        return self.memory.clients.get(client_id)

    def save_token(self, token: dict[str, Any], request: Any) -> None:
        code = request.authorization_code
        token["id_token"] = self.memory.id_token(request.client, code.nonce if code else None)
        if "refresh_token" in token:
            self.memory.issued[token["refresh_token"]] = Issued(
                request.client.client_id, str(token.get("scope", "")), token["refresh_token"], token["access_token"]
            )

    def create_oauth2_request(self, request: Any) -> Any:
        return _Request(request) if isinstance(request, Call) else request

    def handle_response(self, status: int, body: Any, headers: list[tuple[str, str]]) -> Answered:
        return status, body, headers

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Nobody listens."""


def _opaque() -> str:
    """A refresh token that is not a JWT."""
    return f"rt-{secrets.token_urlsafe(24)}"


class _Request(OAuth2Request):  # type: ignore[misc] # the library ships no types
    def __init__(self, call: Call) -> None:
        super().__init__(call.method, call.uri)
        self._call = call
        self.payload = BasicOAuth2Payload({**self.args, **call.form})

    @property
    def args(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.uri).query))

    @property
    def form(self) -> Mapping[str, str]:
        return self._call.form


class _CodeGrant(AuthorizationCodeGrant):  # type: ignore[misc]
    TOKEN_ENDPOINT_AUTH_METHODS = ("none",)
    server: Server

    def save_authorization_code(self, code: str, request: Any) -> None:
        data = request.payload.data
        self.server.memory.codes[code] = Code(
            request.client.client_id,
            data["redirect_uri"],
            data["scope"],
            data.get("nonce"),
            data.get("code_challenge"),
            data.get("code_challenge_method"),
        )

    def query_authorization_code(self, code: str, client: Client) -> Any:
        result = self.server.memory.codes.pop(code, None)  # used up, whatever comes of it
        if result is None or result.client_id != client.client_id:
            return None
        return _Challenged(result)

    def delete_authorization_code(self, authorization_code: Any) -> None:
        """It has gone already."""

    def authenticate_user(self, authorization_code: Any) -> str:
        return "somebody"


class _Challenged:
    """A code with the attributes that the extension for PKCE asks for."""

    def __init__(self, code: Code) -> None:
        self.code_challenge, self.code_challenge_method = code.challenge, code.method
        self.nonce = code.nonce
        self.get_redirect_uri, self.get_scope = code.get_redirect_uri, code.get_scope


class _RefreshGrant(RefreshTokenGrant):  # type: ignore[misc]
    TOKEN_ENDPOINT_AUTH_METHODS = ("none",)
    INCLUDE_NEW_REFRESH_TOKEN = True
    server: Server

    def authenticate_refresh_token(self, refresh_token: str) -> Issued | None:
        return self.server.memory.issued.get(refresh_token)

    def authenticate_user(self, refresh_token: Issued) -> str:
        return "somebody"

    def revoke_old_credential(self, refresh_token: Issued) -> None:
        self.server.memory.issued.pop(refresh_token.refresh_token, None)


class _DeviceGrant(DeviceCodeGrant):  # type: ignore[misc]
    server: Server

    def query_device_credential(self, device_code: str) -> DeviceCredentialDict | None:
        return self.server.memory.devices.get(device_code)

    def query_user_grant(self, user_code: str) -> tuple[str, bool] | None:
        decision = self.server.memory.decisions.get(user_code)
        return None if decision is None else ("somebody", decision)

    def should_slow_down(self, credential: Any) -> bool:
        return False


class _DeviceEndpoint(DeviceAuthorizationEndpoint):  # type: ignore[misc]
    server: Server

    @property
    def INTERVAL(self) -> int:  # noqa: N802 - the library's name
        return self.server.memory.interval

    @property
    def EXPIRES_IN(self) -> int:  # noqa: N802
        return self.server.memory.device_seconds

    def get_verification_uri(self) -> str:
        return f"{self.server.memory.base}/activate"

    def save_device_credential(self, client_id: str, scope: str, data: dict[str, Any]) -> None:
        expires_at = time.time() + data["expires_in"]
        self.server.memory.devices[data["device_code"]] = DeviceCredentialDict(
            client_id=client_id, scope=scope, expires_at=expires_at, **data
        )


class _Revocation(RevocationEndpoint):  # type: ignore[misc]
    CLIENT_AUTH_METHODS = ("none",)
    server: Server

    def query_token(self, token_string: str, token_type_hint: str | None) -> Issued | None:
        known = self.server.memory.issued.values()
        return next((item for item in known if token_string in (item.refresh_token, item.access_token)), None)

    def revoke_token(self, token: Issued, request: Any) -> None:
        self.server.memory.revoked.append(token.refresh_token)
        self.server.memory.issued.pop(token.refresh_token, None)
