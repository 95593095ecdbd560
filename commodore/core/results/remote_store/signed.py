"""Signed objects: content with the digest and the signature of a writer, bound to the name of the object.

An object begins with a line `commodore-result-2 <sha256> <key id> <signature>`. The signature covers the first word,
the object's name and the digest, so that it is not valid under another name.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from commodore.base.errors import UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_MAGIC = "commodore-result-2"
_UNSIGNED = "-"
_HEAD_BYTES = 512
_MOST = 1 << 20  # bytes of a trust file or a key
_KEY_ID = re.compile(r"[0-9a-f]{16}")


class NotAcceptedError(Exception):
    """An object is damaged or not trusted, and therefore not used.

    Attributes:
        reason: `damaged`, or `not trusted`.
    """

    def __init__(self, reason: Literal["damaged", "not trusted"]) -> None:
        super().__init__(reason)
        self.reason = reason


def key_id(public: bytes) -> str:
    """Return the id of a public key: the first 16 digits of its SHA-256."""
    return hashlib.sha256(public).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Trust:
    """The trusted writers of objects.

    Args:
        keys: public keys by their ids, each with the last day on which it is valid.
        anyone: trust all writers, and unsigned objects.
    """

    keys: Mapping[str, tuple[bytes, date | None]]
    anyone: bool = False

    def open(self, name: str, whole: bytes) -> bytes:
        """Verify an object and return its content.

        Raises:
            NotAcceptedError: it is damaged, was signed under another name, or not by a trusted key.
        """
        head, newline, content = whole.partition(b"\n")
        words = head[:_HEAD_BYTES].split(b" ")
        digest = hashlib.sha256(content).hexdigest()
        if not newline or len(words) != 4 or words[0] != _MAGIC.encode() or words[1] != digest.encode():
            raise NotAcceptedError("damaged")
        if not self.anyone and not self._is_signed(name, digest, words[2], words[3]):
            raise NotAcceptedError("not trusted")
        return content

    def _is_signed(self, name: str, digest: str, key: bytes, signature: bytes) -> bool:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        public, until = self.keys.get(key.decode("ascii", "replace"), (b"", None))
        if not public or (until is not None and datetime.now(UTC).date() > until):
            return False
        try:
            decoded = base64.b64decode(signature, validate=True)
            Ed25519PublicKey.from_public_bytes(public).verify(decoded, _statement(name, digest))
        except (InvalidSignature, ValueError):  # binascii.Error is one
            return False
        return True


class Signer:
    """Creates signed objects.

    Args:
        key: the key to sign with; None creates unsigned objects.
    """

    def __init__(self, key: Ed25519PrivateKey | None) -> None:
        self._key = key

    @property
    def trust_line(self) -> str:
        """Return the line of a trust file for this key."""
        public = self._public
        return f"{key_id(public)} {base64.b64encode(public).decode()}"

    @property
    def _public(self) -> bytes:
        return self._key.public_key().public_bytes_raw() if self._key is not None else b""

    def seal(self, name: str, content: bytes) -> bytes:
        """Return the object with this name and content."""
        digest = hashlib.sha256(content).hexdigest()
        key, signature = _UNSIGNED, _UNSIGNED
        if self._key is not None:
            key = key_id(self._public)
            signature = base64.b64encode(self._key.sign(_statement(name, digest))).decode()
        return f"{_MAGIC} {digest} {key} {signature}\n".encode() + content


def _statement(name: str, digest: str) -> bytes:
    return "\n".join((_MAGIC, name, digest)).encode()


def read_trust(path: Path) -> Trust:
    """Read the keys of a trust file. A line has a key id, the public key in base64, optionally `not-after=DATE`, and
    optionally a `#` comment.

    Raises:
        UsageError: CMD-CACHE-025, it cannot be read, or a line is invalid.
    """
    keys: dict[str, tuple[bytes, date | None]] = {}
    for number, line in enumerate(_text_of(path, "trust file").splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            keys[words[0]] = _trusted(words)
        except (ValueError, IndexError, binascii.Error) as error:
            raise UsageError(
                "CMD-CACHE-025",
                f"line {number} of the trust file {path} is not a trusted key: {error}",
                hint="write the line that `commodore cache key FILE` prints",
                locations=[f"{path}:{number}"],
            ) from error
    return Trust(keys)


def _trusted(words: list[str]) -> tuple[bytes, date | None]:
    if len(words) not in (2, 3) or not _KEY_ID.fullmatch(words[0]):
        raise ValueError("a key id of 16 hex digits and a public key in base64 are expected")
    public = base64.b64decode(words[1], validate=True)
    if len(public) != 32 or key_id(public) != words[0]:
        raise ValueError("the key id is not the public key's")
    if len(words) == 2:
        return public, None
    option, equals, day = words[2].partition("=")
    if option != "not-after" or not equals:
        raise ValueError("only not-after=YYYY-MM-DD may follow the key")
    return public, date.fromisoformat(day)


def read_signer(path: Path) -> Signer:
    """Read the private key of a PEM file, which must be an Ed25519 key without a password.

    Raises:
        UsageError: CMD-CACHE-025, it cannot be read, or is not such a key.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    text = _text_of(path, "key").encode()
    try:
        key = load_pem_private_key(text, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(
            "CMD-CACHE-025",
            f"{path} is not a private Ed25519 key without a password",
            hint="create one with `commodore cache key --new FILE`",
            locations=[str(path)],
        )
    return Signer(key)


def new_key() -> bytes:
    """Generate a private key, as PEM text."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _text_of(path: Path, what: str) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST).decode("utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(
            "CMD-CACHE-025", f"the {what} {path} cannot be read: {reason}", hint="name a readable file"
        ) from error
