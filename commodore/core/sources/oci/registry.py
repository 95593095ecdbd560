"""Client of OCI registries: tags, manifests, blobs."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode, urljoin, urlsplit

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError, PolicyError
from commodore.base.kubernetes.images import ImageReference
from commodore.base.printable import printable
from commodore.core.confinement.policy import check_source
from commodore.core.sources.http import (
    PROXY_HINT,
    UNTRUSTED_HINT,
    Answer,
    Client,
    Meaning,
    Policy,
    Problem,
    is_loopback,
    same_server,
)

MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
_ACCEPTED: Final = f"{MANIFEST}, application/vnd.docker.distribution.manifest.v2+json"
_HINT: Final = "check the reference and the network"
_MEANINGS: Final = {
    **dict.fromkeys(Problem, Meaning(EnvironmentFault, "CMD-OCI-002", _HINT)),
    Problem.UNTRUSTED: Meaning(EnvironmentFault, "CMD-OCI-002", UNTRUSTED_HINT),
    Problem.PROXY: Meaning(EnvironmentFault, "CMD-OCI-002", PROXY_HINT),
    Problem.TOO_LARGE: Meaning(PolicyError, "CMD-OCI-005", "is it the right repository?"),
    Problem.REDIRECT_REFUSED: Meaning(PolicyError, "CMD-OCI-005", "ask the operator of the registry"),
}
_CHALLENGE: Final = re.compile(r'([a-zA-Z]+)="([^"]*)"')
_SMALL: Final = 4 << 20  # bytes of a manifest, a page of tags, a token
_PAGES: Final = 100
_UNWANTED: Final = frozenset({401, 403})


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A blob in a manifest: its media type, its digest, its size in bytes."""

    media_type: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """One version of a repository: its digest and its blobs."""

    digest: str
    config: Descriptor
    layers: tuple[Descriptor, ...]


class Registries:
    """A client of registries, with the credentials of `Context.access`. For one thread; the caller closes it.

    Plain HTTP is used with this machine only. All methods raise PolicyError CMD-CONF-011 for an address of this
    machine's link.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._client = Client(context, _MEANINGS)
        self._tokens: dict[tuple[str, str], Mapping[str, str]] = {}

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def tags(self, reference: ImageReference) -> list[str]:
        """Return all tags of a repository.

        Raises:
            InputError: CMD-OCI-004, the repository does not exist.
            EnvironmentFault: CMD-OCI-002, the registry cannot be reached; CMD-OCI-003, it requires credentials.
            PolicyError: CMD-OCI-005, the response is invalid.
        """
        url = f"{_base(reference)}/tags/list?n=1000"
        names: list[str] = []
        for _ in range(_PAGES):
            answer = self._get(reference, url, {}, _SMALL)
            tags = _json(reference, answer).get("tags") or []
            if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
                raise _refused(f"{reference.registry} returned invalid tags of {reference.repository}")
            names += tags
            following = re.search(r"<([^>]*)>\s*;\s*rel=\"?next\"?", answer.headers.get("Link", ""))
            if following is None:
                break
            url = urljoin(url, following[1])
            if not same_server(url, _base(reference)):
                raise _refused(f"{reference.registry} refers to another server for further tags")
        return names

    def manifest(self, reference: ImageReference) -> Manifest:
        """Return the manifest of a version.

        Raises:
            InputError: CMD-OCI-004, the version does not exist.
            EnvironmentFault: as `tags`.
            PolicyError: CMD-OCI-005, it is not the manifest of one artefact, or does not match its digest.
        """
        url = f"{_base(reference)}/manifests/{quote(reference.digest or reference.tag or 'latest', safe=':')}"
        answer = self._get(reference, url, {"Accept": _ACCEPTED}, _SMALL)
        digest = f"sha256:{hashlib.sha256(answer.body).hexdigest()}"
        if reference.digest and digest != reference.digest:
            raise _refused(f"the manifest of {reference} does not match its digest")
        data = _json(reference, answer)
        config, layers = data.get("config"), data.get("layers")
        if not isinstance(config, dict) or not isinstance(layers, list):
            raise _refused(
                f"{reference} is not a single artefact: {printable(str(data.get('mediaType', 'no media type')))}"
            )
        return Manifest(
            digest, _descriptor(reference, config), tuple(_descriptor(reference, layer) for layer in layers)
        )

    def blob(self, reference: ImageReference, descriptor: Descriptor, limit: int) -> bytes:
        """Return the content of a blob.

        Args:
            limit: the maximum number of bytes.

        Raises:
            InputError: CMD-OCI-004, it does not exist.
            EnvironmentFault: as `tags`.
            PolicyError: CMD-OCI-005, it is too large, or does not match its descriptor.
        """
        if descriptor.size > limit:
            raise _refused(f"a layer of {reference} has {descriptor.size} bytes, more than {limit}")
        answer = self._get(reference, f"{_base(reference)}/blobs/{descriptor.digest}", {}, limit)
        digest = f"sha256:{hashlib.sha256(answer.body).hexdigest()}"
        if digest != descriptor.digest or len(answer.body) != descriptor.size:
            raise _refused(f"a layer of {reference} does not match its manifest")
        return answer.body

    def _get(self, reference: ImageReference, url: str, headers: Mapping[str, str], size: int) -> Answer:
        if self._context.offline:
            raise EnvironmentFault(
                "CMD-OCI-002",
                f"{reference} is not in the cache, and offline no registry is contacted",
                hint="run without --offline",
            )
        check_source(url, str(reference))
        key = reference.registry, reference.repository
        answer = self._ask(url, headers, self._tokens.get(key, {}), size)
        if answer.status == 401:
            self._tokens[key] = self._authenticate(reference, answer.headers.get("WWW-Authenticate", ""))
            answer = self._ask(url, headers, self._tokens[key], size)
        if answer.status == 200:
            return answer
        if answer.status in _UNWANTED:
            raise _private(reference, answer.status)
        if answer.status == 404:
            raise InputError(
                "CMD-OCI-004", f"the registry has no {reference}", hint="check the name, and the tag or digest"
            )
        raise EnvironmentFault(
            "CMD-OCI-002", f"{reference.registry} answers with status {answer.status} for {reference}", hint=_HINT
        )

    def _ask(self, url: str, headers: Mapping[str, str], credentials: Mapping[str, str], size: int) -> Answer:
        limits = self._context.limits
        policy = Policy(
            limits.download_timeout, limits.download_seconds, size, 2, rate=limits.download_rate, other_servers=True
        )
        return self._client.get(url, policy, headers=headers, credentials=credentials)

    def _authenticate(self, reference: ImageReference, challenge: str) -> Mapping[str, str]:
        """Return the headers of authentication: the credentials, or a token for them."""
        access = self._context.access
        own = access.headers(f"oci://{reference.registry}/{reference.repository}") if access is not None else {}
        if own and not challenge.lower().startswith("bearer "):
            return own
        return {"Authorization": f"Bearer {self._token(reference, challenge, own)}"}

    def _token(self, reference: ImageReference, challenge: str, own: Mapping[str, str]) -> str:
        """Get a token for reading a repository from the token service that the registry names.

        Args:
            own: the credentials for the registry, which its token service receives, too.
        """
        said = dict(_CHALLENGE.findall(challenge))
        realm = said.get("realm", "")
        address = urlsplit(realm)
        plain = address.scheme == "http" and is_loopback(realm) and is_loopback(_base(reference))
        if not challenge.lower().startswith("bearer ") or not (address.scheme == "https" or plain):
            raise _private(reference, 401)
        check_source(realm, f"the token for {reference}", named_by=_base(reference))
        asked = {"scope": f"repository:{reference.repository}:pull"}
        if said.get("service"):
            asked["service"] = said["service"]
        answer = self._ask(f"{realm}{'&' if address.query else '?'}{urlencode(asked)}", {}, own, _SMALL)
        data = _json(reference, answer) if answer.status == 200 else {}
        token = data.get("token") or data.get("access_token")
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise _private(reference, answer.status)
        return token


def _base(reference: ImageReference) -> str:
    address = f"http://{reference.registry}/"
    scheme = "http" if is_loopback(address) else "https"
    return f"{scheme}://{reference.registry}/v2/{reference.repository}"


def _json(reference: ImageReference, answer: Answer) -> dict[str, Any]:
    try:
        data = json.loads(answer.body)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise _refused(f"{reference.registry} did not return JSON for {reference}")
    return data


def _descriptor(reference: ImageReference, data: Any) -> Descriptor:
    fields = data if isinstance(data, dict) else {}
    digest, size = fields.get("digest"), fields.get("size")
    if (
        not isinstance(digest, str)
        or not re.fullmatch(r"sha256:[0-9a-f]{64}", digest)
        or type(size) is not int
        or size < 0
    ):
        raise _refused(f"the manifest of {reference} names a blob without digest and size")
    return Descriptor(str(fields.get("mediaType", "")), digest, size)


def _private(reference: ImageReference, status: int) -> EnvironmentFault:
    return EnvironmentFault(
        "CMD-OCI-003",
        f"{reference.registry} requires credentials for {reference.repository} (status {status})",
        hint="configure credentials for it; or the repository does not exist, which registries report in the same way",
    )


def _refused(message: str) -> PolicyError:
    return PolicyError("CMD-OCI-005", message, hint="ask its publisher, or the operator of the registry")


CHART: Final = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
TAR: Final = "application/vnd.oci.image.layer.v1.tar"
CONTENT: Final = frozenset({CHART, TAR, f"{TAR}+gzip"})
_MOST: Final = 10


def content_layer(reference: ImageReference, manifest: Manifest, types: Collection[str] = CONTENT) -> Descriptor:
    """Return the layer of an artefact that holds its content.

    Raises:
        PolicyError: CMD-OCI-006, no such layer, or several, or too many layers in all.
    """
    layers = [layer for layer in manifest.layers if layer.media_type in types]
    if len(layers) != 1 or len(manifest.layers) > _MOST:
        raise PolicyError(
            "CMD-OCI-006",
            f"{reference} has {len(layers)} layers with content among {len(manifest.layers)}; it must have one",
            hint=f"layers with content are {', '.join(sorted(types))}; at most {_MOST} layers are accepted",
        )
    return layers[0]
