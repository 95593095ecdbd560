"""Asking registries: tags, manifests, blobs."""

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
    """What a manifest says of one blob: its type, its digest, its size in bytes."""

    media_type: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """One version of a repository: its digest, and the blobs that it consists of."""

    digest: str
    config: Descriptor
    layers: tuple[Descriptor, ...]


class Registries:
    """Asks registries, with the credentials that `Context.access` has for them. One thread, to be closed.

    Plain HTTP is spoken with this machine alone. All methods raise PolicyError CMD-CONF-011 for an address of this
    machine's link.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._client = Client(context, _MEANINGS)
        self._tokens: dict[tuple[str, str], Mapping[str, str]] = {}

    def close(self) -> None:
        """End the connections."""
        self._client.close()

    def tags(self, reference: ImageReference) -> list[str]:
        """All tags of a repository.

        Raises:
            InputError: CMD-OCI-004, there is no such repository.
            EnvironmentFault: CMD-OCI-002, the registry cannot be asked; CMD-OCI-003, it wants credentials.
            PolicyError: CMD-OCI-005, its answer is none.
        """
        url = f"{_base(reference)}/tags/list?n=1000"
        found: list[str] = []
        for _ in range(_PAGES):
            answer = self._get(reference, url, {}, _SMALL)
            tags = _json(reference, answer).get("tags") or []
            if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
                raise _refused(f"{reference.registry} lists tags of {reference.repository} that are none")
            found += tags
            following = re.search(r"<([^>]*)>\s*;\s*rel=\"?next\"?", answer.headers.get("Link", ""))
            if following is None:
                break
            url = urljoin(url, following[1])
            if not same_server(url, _base(reference)):
                raise _refused(f"{reference.registry} sends to another server for further tags")
        return found

    def manifest(self, reference: ImageReference) -> Manifest:
        """The manifest of a version.

        Raises:
            InputError: CMD-OCI-004, there is no such version.
            EnvironmentFault: as `tags`.
            PolicyError: CMD-OCI-005, it is no manifest of one artefact, or not what its digest says.
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
                f"{reference} is no single artefact but {printable(str(data.get('mediaType', 'something else')))}"
            )
        return Manifest(digest, _descriptor(reference, config), tuple(_descriptor(reference, one) for one in layers))

    def blob(self, reference: ImageReference, descriptor: Descriptor, limit: int) -> bytes:
        """The content of a blob.

        Args:
            limit: the most bytes that are taken.

        Raises:
            InputError: CMD-OCI-004, it is not there.
            EnvironmentFault: as `tags`.
            PolicyError: CMD-OCI-005, it is larger, or not what its descriptor says.
        """
        if descriptor.size > limit:
            raise _refused(f"a layer of {reference} has {descriptor.size} bytes, more than {limit}")
        answer = self._get(reference, f"{_base(reference)}/blobs/{descriptor.digest}", {}, limit)
        found = f"sha256:{hashlib.sha256(answer.body).hexdigest()}"
        if found != descriptor.digest or len(answer.body) != descriptor.size:
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
            self._tokens[key] = self._let_in(reference, answer.headers.get("WWW-Authenticate", ""))
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

    def _let_in(self, reference: ImageReference, challenge: str) -> Mapping[str, str]:
        """The headers with which a registry lets in: the credentials, or a token for them."""
        access = self._context.access
        own = access.headers(f"oci://{reference.registry}/{reference.repository}") if access is not None else {}
        if own and not challenge.lower().startswith("bearer "):
            return own
        return {"Authorization": f"Bearer {self._token(reference, challenge, own)}"}

    def _token(self, reference: ImageReference, challenge: str, own: Mapping[str, str]) -> str:
        """A token for reading a repository, as the registry says where to get one.

        Args:
            own: the credentials for the registry, which go to its token service, too.
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
        raise _refused(f"{reference.registry} answers with something else than JSON for {reference}")
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
        f"{reference.registry} wants credentials for {reference.repository} (status {status})",
        hint="give credentials for it; or the repository does not exist, which registries report in the same way",
    )


def _refused(message: str) -> PolicyError:
    return PolicyError("CMD-OCI-005", message, hint="ask its publisher, or the operator of the registry")


CHART: Final = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
TAR: Final = "application/vnd.oci.image.layer.v1.tar"
CONTENT: Final = frozenset({CHART, TAR, f"{TAR}+gzip"})
_MOST: Final = 10


def content_layer(reference: ImageReference, manifest: Manifest, types: Collection[str] = CONTENT) -> Descriptor:
    """The one layer of an artefact that holds its content.

    Raises:
        PolicyError: CMD-OCI-006, there is none, or there are several, or too many layers in all.
    """
    found = [layer for layer in manifest.layers if layer.media_type in types]
    if len(found) != 1 or len(manifest.layers) > _MOST:
        raise PolicyError(
            "CMD-OCI-006",
            f"{reference} has {len(found)} layers with content among {len(manifest.layers)}; it must have one",
            hint=f"layers with content are {', '.join(sorted(types))}; at most {_MOST} layers are taken",
        )
    return found[0]
