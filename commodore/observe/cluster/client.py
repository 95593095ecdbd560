"""Requests to a Kubernetes API server. Configuration, TLS and authentication are lightkube's."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2 as httpx
from lightkube.config.client_adapter import AsyncClient, ConnectionParams
from lightkube.config.kubeconfig import KubeConfig, SingleConfig
from lightkube.core.exceptions import ConfigError

from commodore.base.errors import EnvironmentFault
from commodore.observe.kargo import ARGOCD_GROUP, KARGO_GROUP

PAGE = 500
_METHODS = {"get": "GET", "list": "GET", "create": "POST", "update": "PUT", "patch": "PATCH"}
_SILENCE = 30.0  # seconds of silence after the end of a watch
_LONGEST_WATCH = 600.0  # seconds after which no request is pending any more

Object = dict[str, Any]
Counted = Callable[[str, str, str], None]
"""The type of request counters: verb, resource, code."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind of objects, and its path on an API server."""

    group: str
    version: str
    plural: str
    kind: str

    def path(self, namespace: str | None = None, name: str | None = None) -> str:
        """Return the path below the server's root; without a namespace for all namespaces."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        place = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{place}/{self.plural}" + (f"/{name}" if name else "")


APPLICATIONS = Resource(ARGOCD_GROUP, "v1alpha1", "applications", "Application")
STAGES = Resource(KARGO_GROUP, "v1alpha1", "stages", "Stage")
FREIGHTS = Resource(KARGO_GROUP, "v1alpha1", "freights", "Freight")
WAREHOUSES = Resource(KARGO_GROUP, "v1alpha1", "warehouses", "Warehouse")
PROMOTIONS = Resource(KARGO_GROUP, "v1alpha1", "promotions", "Promotion")
EVENTS = Resource("", "v1", "events", "Event")
LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease")
KARGO = (STAGES, FREIGHTS, WAREHOUSES, PROMOTIONS)


class ApiError(Exception):
    """The server refused, or its answer was unusable.

    `code` is the HTTP status; 0 means no answer, so that it is unknown if the request was carried out.
    """

    def __init__(self, code: int, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry_after = retry_after

    @property
    def is_unknown(self) -> bool:
        """True if a write may have been carried out nevertheless."""
        denied = "denied the request" in self.message or "failed calling webhook" in self.message
        return self.code in (0, 502, 503, 504) or (self.code == 500 and not denied)


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """The cluster and user: a kubeconfig and its context; by default in-cluster, else the default kubeconfig."""

    kubeconfig: Path | None = None
    context: str | None = None
    timeout: float = 30.0

    def load(self) -> SingleConfig:
        """Read the configuration.

        Raises:
            EnvironmentFault: CMD-OBS-010, it is missing or unreadable.
        """
        try:
            config = KubeConfig.from_file(self.kubeconfig) if self.kubeconfig else KubeConfig.from_env()
            config_of_context = config.get(self.context)
        except (ConfigError, OSError, KeyError, TypeError, ValueError) as error:
            raise self._fault(str(error)) from error
        except Exception as error:  # exceptions of YAML and msgspec, with their own classes
            raise self._fault(str(error)) from error
        if config_of_context is None or (config_of_context.user is None and not config_of_context.cluster.server):
            raise self._fault("it names no cluster")
        return config_of_context

    def _fault(self, why: str) -> EnvironmentFault:
        named = str(self.kubeconfig) if self.kubeconfig else "the default one"
        return EnvironmentFault(
            "CMD-OBS-010",
            f"the kubeconfig ({named}) cannot be used: {why}",
            hint="give --kubeconfig and --context, or run inside a cluster",
        )


class Client:
    """A client of an API server. Used by a single event loop; `aclose` closes its connections."""

    def __init__(self, access: ClusterAccess, count: Counted | None = None) -> None:
        self._access = access
        self._count = count or (lambda _verb, _resource, _code: None)
        config = access.load()
        self._state = (config, _files(config))
        self._retired: list[tuple[float, Any]] = []  # former connections, with the time of their replacement
        self.namespace = config.namespace
        self.server = config.cluster.server
        self._http = self._open(config)

    def _open(self, config: SingleConfig) -> Any:
        config = config if config.user is not None else config._replace(user=_anonymous())
        try:
            return AsyncClient(config, ConnectionParams(timeout=httpx.Timeout(self._access.timeout)))
        except (ConfigError, OSError, ValueError) as error:
            raise self._access._fault(str(error)) from error

    def reload(self) -> None:
        """Read the configuration again: tokens and certificates change. Pending requests continue unchanged.

        Raises:
            EnvironmentFault: CMD-OBS-010, it is unreadable, possibly because it is being written; the former one stays
                in use.
        """
        config = self._access.load()
        state = (config, _files(config))
        if state != self._state:
            opened = self._open(config)
            self._retired.append((asyncio.get_running_loop().time(), self._http))
            self._state, self._http = state, opened

    async def keep_fresh(self, period: float) -> None:
        """Read the configuration again every `period` seconds, until cancelled."""
        while True:
            await asyncio.sleep(period)
            with contextlib.suppress(EnvironmentFault):
                self.reload()
            old = [entry for entry in self._retired if entry[0] < asyncio.get_running_loop().time() - _LONGEST_WATCH]
            self._retired = [entry for entry in self._retired if entry not in old]
            for _, http in old:
                await http.aclose()

    async def aclose(self) -> None:
        for connection in (*(http for _, http in self._retired), self._http):
            await connection.aclose()

    async def list_all(
        self, resource: Resource, namespace: str | None = None, selector: str = ""
    ) -> tuple[list[Object], str]:
        """Return all objects, read in pages, and the version of the list.

        Raises:
            ApiError: the list cannot be read.
        """
        objects: list[Object] = []
        version = ""
        async for page, version in self.list_pages(resource, namespace, selector):  # noqa: B007 - the last one counts
            objects += page
        return objects, version

    async def list_pages(
        self, resource: Resource, namespace: str | None = None, selector: str = ""
    ) -> AsyncIterator[tuple[list[Object], str]]:
        """Yield all objects in pages, each with the version of the list, to keep only a page in memory."""
        parameters: dict[str, Any] = {"limit": PAGE, **({"labelSelector": selector} if selector else {})}
        kind = {"apiVersion": f"{resource.group}/{resource.version}", "kind": resource.kind}
        while True:
            page = await self._request("list", resource, resource.path(namespace), parameters=parameters)
            meta = page.get("metadata") or {}
            yield [{**kind, **item} for item in page.get("items") or ()], str(meta.get("resourceVersion", ""))
            if not meta.get("continue"):
                return
            parameters["continue"] = meta["continue"]

    async def get(self, resource: Resource, namespace: str, name: str) -> Object:
        return await self._request("get", resource, resource.path(namespace, name))

    async def create(
        self, resource: Resource, namespace: str, body: Object, *, dry_run: bool = False, timeout: float | None = None
    ) -> Object:
        return await self._request(
            "create",
            resource,
            resource.path(namespace),
            body=body,
            parameters={"dryRun": "All"} if dry_run else {},
            timeout=timeout,
        )

    async def replace(self, resource: Resource, namespace: str, name: str, body: Object) -> Object:
        return await self._request("update", resource, resource.path(namespace, name), body=body)

    async def merge(self, resource: Resource, namespace: str, name: str, body: Object) -> Object:
        """Change fields (a merge patch)."""
        return await self._request("patch", resource, resource.path(namespace, name), body=body)

    async def document(self, path: str) -> Object:
        """Return a document that is not an object, such as the served schemas."""
        return await self._request("get", None, path)

    async def watch(
        self, resource: Resource, namespace: str | None, version: str, seconds: int
    ) -> AsyncIterator[tuple[str, Object]]:
        """Yield the changes after a version: (`ADDED`, `MODIFIED`, `DELETED` or `BOOKMARK`, object). Ends after some
        time.

        Raises:
            ApiError: 410 if the version is too old; other errors that ended the watch.
        """
        parameters = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(seconds),
        }
        timeout = httpx.Timeout(self._access.timeout, read=seconds + _SILENCE)
        try:
            async with self._http.stream("GET", resource.path(namespace), params=parameters, timeout=timeout) as answer:
                self._count("watch", resource.plural, str(answer.status_code))
                if answer.status_code >= 400:
                    await answer.aread()
                    raise _refusal(answer)
                async for line in answer.aiter_lines():
                    yield _event(line, resource)
        except httpx.HTTPError as error:
            raise ApiError(0, f"the watch ended: {type(error).__name__}: {error}") from error

    async def _request(
        self,
        verb: str,
        resource: Resource | None,
        path: str,
        *,
        body: Object | None = None,
        parameters: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Object:
        kind = "application/merge-patch+json" if verb == "patch" else "application/json"
        content = None if body is None else json.dumps(body).encode()
        named = resource.plural if resource else "openapi"
        try:
            answer = await self._http.request(
                _METHODS[verb],
                path,
                params=dict(parameters or {}),
                content=content,
                headers={"Content-Type": kind} if content is not None else {},
                timeout=timeout if timeout is not None else self._access.timeout,
            )
        except httpx.HTTPError as error:
            self._count(verb, named, "0")
            raise ApiError(0, f"{type(error).__name__}: {error}") from error
        except ConfigError as error:
            raise ApiError(401, str(error)) from error
        self._count(verb, named, str(answer.status_code))
        if answer.status_code >= 400:
            raise _refusal(answer)
        try:
            result = answer.json()
        except ValueError as error:
            raise ApiError(0, "the answer is not valid JSON") from error
        if not isinstance(result, dict):
            raise ApiError(0, "the answer is not an object")
        return result


def _files(config: SingleConfig) -> tuple[bytes | None, ...]:
    """Return the contents of the files with credentials in the configuration; None for an unreadable file."""
    user, cluster = config.user or _anonymous(), config.cluster
    contents: list[bytes | None] = []
    for name in filter(None, (user.token_file, user.client_cert, user.client_key, cluster.certificate_auth)):
        try:
            contents.append(Path(config.abs_file(name)).read_bytes())
        except (ConfigError, OSError):
            contents.append(None)
    return tuple(contents)


def _anonymous() -> Any:
    from lightkube.config.models import User

    return User()


def _event(line: str, resource: Resource) -> tuple[str, Object]:
    try:
        event = json.loads(line)
        kind, body = event["type"], event["object"]
    except (ValueError, KeyError, TypeError) as error:
        raise ApiError(0, "the watch sent an invalid event") from error
    if kind == "ERROR":
        raise ApiError(int(body.get("code") or 0), str(body.get("message", "")))
    return kind, {"apiVersion": f"{resource.group}/{resource.version}", "kind": resource.kind, **body}


def _refusal(answer: Any) -> ApiError:
    try:
        message = str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        message = answer.text[:500] or answer.reason_phrase
    wait = answer.headers.get("Retry-After", "")
    return ApiError(answer.status_code, message, retry_after=float(wait) if wait.isdigit() else None)


def as_fault(error: ApiError, verb: str, resource: Resource, server: str) -> EnvironmentFault:
    """Convert an error of the server for the command line."""
    named = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    if error.code in (401, 403):
        return EnvironmentFault(
            "CMD-OBS-011",
            f"the server does not allow to {verb} {named}: {error.message[:500]}",
            hint="the table of rights in the how-to of observe lists what is needed",
        )
    if error.code == 404 and resource is not LEASES:
        return EnvironmentFault(
            "CMD-OBS-012",
            f"the server does not know {named}: is {'Argo CD' if resource is APPLICATIONS else 'Kargo'} installed?",
            hint="install it, or choose the right cluster with --context or --argocd-context",
        )
    return EnvironmentFault(
        "CMD-OBS-013",
        f"the server {server} cannot be used to {verb} {named}: {error.message[:500]}",
        hint="look at the network and at the server, then run again",
    )
