"""Client of the Lieutenant API."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, UsageError
from commodore.base.events import Warned
from commodore.base.printable import printable
from commodore.core.lieutenant.api_url import endpoint_url, normalise_api_url
from commodore.core.sources.http import is_loopback

if TYPE_CHECKING:
    from commodore.core.sources.http import Answer

LOGIN_HINT = "log in with `commodore login`, or give a token with --api-token (COMMODORE_API_TOKEN)"
_REASON_LENGTH = 300


class LieutenantClient:
    """A client that reads clusters and tenants from the API, and reports compilations to it.

    Every method raises:
        EnvironmentFault: the API cannot be reached or fails, or its response is invalid.
        PolicyError: it redirects to a server that must not receive the token.
        InputError: it does not accept the token, does not know the cluster or tenant, or an id is invalid.
        UsageError: no token.

    Args:
        api_url: the API's URL in any spelling.
        token_source: returns the bearer token, or None without one; called before each request, as tokens expire.
        timeout: seconds for connecting, and between two chunks of a response; by default limits.request_timeout.
        context: announces repeated requests, and a warning if a token is sent over an unencrypted connection.

    Raises:
        UsageError: no API URL, or the timeout is not positive.
        InputError: the API URL is not valid.
    """

    def __init__(
        self,
        api_url: str | None,
        token_source: Callable[[], str | None],
        context: Context,
        *,
        timeout: float | None = None,
    ) -> None:
        # Here, because the HTTP library takes a tenth of a second to import, which cluster files do not need.
        from commodore.core.lieutenant.api_http import api_client, api_policy

        self.api_url = normalise_api_url(api_url)
        self._token_source = token_source
        self._context = context
        self._warned = False
        seconds = context.limits.request_timeout if timeout is None else timeout
        if not seconds > 0:
            raise UsageError(
                "CMD-API-019",
                f"the request timeout must be positive, not {seconds:g} s",
                hint="check --request-timeout",
            )
        self._policy = api_policy(seconds, context.limits)
        self._http = api_client(Context(context.announce, context.limits))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the open connections."""
        self._http.close()

    def reach(self) -> None:
        """Request the first page without a token, to check that a server responds."""
        answer = self._http.get(self.api_url, self._policy)
        if answer.status >= 500:
            raise self._refusal(answer, "its first page", None, "")

    def clusters(self, tenant: str | None = None, sort_by: str | None = None) -> list[dict[str, Any]]:
        """Return all cluster objects, or those of one tenant, in the order of the API."""
        query = {"sort_by": sort_by, "tenant": tenant}
        value = self._get("the list of clusters", ("clusters", ""), {k: v for k, v in query.items() if v is not None})
        value = [] if value is None else value  # an API in Go writes an empty list as null
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self._unexpected("the list of clusters", "a list of objects")
        return value

    def cluster(self, cluster_id: str) -> dict[str, Any]:
        """Return the object of a cluster."""
        return self._get_object("cluster", "clusters", cluster_id)

    def tenant(self, tenant_id: str) -> dict[str, Any]:
        """Return the object of a tenant."""
        return self._get_object("tenant", "tenants", tenant_id)

    def report_compile(self, cluster_id: str, metadata: Mapping[str, Any]) -> None:
        """Report to the API the sources of a compiled catalog. `metadata` is JSON-ready."""
        url = endpoint_url(self.api_url, "clusters", cluster_id, "compileMeta")
        token = self._token()
        body = json.dumps(metadata, allow_nan=False).encode()
        answer = self._http.post(url, self._policy, body, {"Content-Type": "application/json"}, _bearer(token))
        if answer.status >= 400:
            raise self._refusal(answer, f"the report of cluster {cluster_id!r}", f"cluster {cluster_id!r}", token)

    def _get_object(self, kind: str, endpoint: str, identifier: str) -> dict[str, Any]:
        name = f"{kind} {identifier!r}"
        value = self._get(name, (endpoint, identifier), {}, thing=name)
        if not isinstance(value, dict):
            raise self._unexpected(name, "an object")
        return value

    def _get(self, what: str, segments: tuple[str, ...], query: Mapping[str, str], thing: str | None = None) -> Any:
        url = endpoint_url(self.api_url, *segments)
        token = self._token()
        url = f"{url}?{urlencode(query)}" if query else url
        answer = self._http.get(url, self._policy, credentials=_bearer(token))
        if answer.status >= 300:
            raise self._refusal(answer, what, thing, token)
        try:
            return _parse(answer.body)
        except (ValueError, RecursionError):
            kind = printable(answer.headers.get("Content-Type", "no content type"))[:100]
            raise EnvironmentFault(
                "CMD-API-015",
                f"the answer of {self.api_url} for {what} is not JSON ({kind})",
                hint="is this the URL of a Lieutenant API, and not of a login page or a proxy?",
            ) from None

    def _token(self) -> str:
        token = self._token_source()
        if not token:
            raise UsageError("CMD-API-003", f"there is no token for the Lieutenant API {self.api_url}", hint=LOGIN_HINT)
        check_token(token)
        if self.api_url.startswith("http:") and not self._warned and not is_loopback(self.api_url):
            self._warned = True
            self._context.announce(
                Warned(
                    "CMD-API-050",
                    f"the token is sent to {self.api_url} without encryption",
                    hint="use https:// in the API URL",
                )
            )
        return token

    def _refusal(self, answer: Answer, what: str, thing: str | None, token: str) -> CommodoreError:
        """Return the error for a failure status. `thing` is the name of the object that is missing in case of 404."""
        reason = _reason(answer)
        reason = reason.replace(token, "***") if token else reason
        said = f"{answer.status}: {reason}" if reason else str(answer.status)
        if answer.status == 401:
            return InputError(
                "CMD-API-010", f"{self.api_url} did not accept the token for {what} ({said})", hint=LOGIN_HINT
            )
        if answer.status == 403:
            return InputError(
                "CMD-API-011",
                f"{self.api_url} does not allow access to {what} ({said})",
                hint="ask the operators of the API for permission, or use another token",
            )
        if answer.status == 404 and thing:
            return InputError(
                "CMD-API-018",
                f"{self.api_url} has no {thing} ({said})",
                hint="`commodore catalog list` lists the clusters that you may see",
            )
        return EnvironmentFault(
            "CMD-API-009",
            f"{self.api_url} failed for {what} and returned {said}",
            hint="try again later" if answer.status >= 500 or answer.status == 429 else "check the API URL (--api-url)",
        )

    def _unexpected(self, what: str, expected: str) -> EnvironmentFault:
        return EnvironmentFault(
            "CMD-API-016",
            f"the answer of {self.api_url} for {what} is not {expected}",
            hint="is this the URL of a Lieutenant API?",
        )


def check_token(token: str) -> None:
    """Refuse a token that is not valid in a header, without repeating it.

    Raises:
        InputError: it has blanks, newlines or characters that are not ASCII.
    """
    if not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(
            "CMD-API-004",
            "the token for the Lieutenant API contains characters that are not allowed in a token",
            hint="check that the whole token, and only the token, was given",
        )


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _parse(body: bytes) -> Any:
    """Return the JSON value of a body; an empty object for an empty body."""
    if not body:
        return {}
    value = json.loads(body, parse_constant=_refuse_constant)
    if b"\\ud" in body.lower():  # an escaped lone surrogate would fail only when it is written
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _refuse_constant(name: str) -> Any:
    """Refuse NaN and Infinity, which Python would read although JSON does not have them."""
    raise ValueError(name)


def _reason(answer: Answer) -> str:
    """Return the API's own reason for a failure, else the HTTP reason; one short line."""
    reason: object = None
    try:
        value = _parse(answer.body)
        reason = value.get("reason") if isinstance(value, dict) else None
    except (ValueError, RecursionError):
        if "html" not in answer.headers.get("Content-Type", "").lower():
            reason = answer.body[: 4 * _REASON_LENGTH].decode(errors="replace")
    text = " ".join(printable(reason if isinstance(reason, str) and reason.strip() else answer.phrase).split())
    return text if len(text) <= _REASON_LENGTH else text[:_REASON_LENGTH] + "…"
