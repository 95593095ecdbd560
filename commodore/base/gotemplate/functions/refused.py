"""Functions of Sprig with random or time-dependent results, or without an implementation here."""

from __future__ import annotations

from typing import Final

from commodore.base.gotemplate.signatures import Function, Table
from commodore.base.gotemplate.values import Value

_NAMES: Final = [
    "now",
    "ago",
    "randAlphaNum",
    "randAlpha",
    "randAscii",
    "randNumeric",
    "randBytes",
    "randInt",
    "shuffle",
    "uuidv4",
    "genPrivateKey",
    "genCA",
    "genCAWithKey",
    "genSelfSignedCert",
    "genSelfSignedCertWithKey",
    "genSignedCert",
    "genSignedCertWithKey",
    "buildCustomCert",
    "bcrypt",
    "htpasswd",
    "encryptAES",
    "decryptAES",
    "derivePassword",
]


def _never(*_values: Value) -> Value:
    raise AssertionError("refused before it is called")


TABLE: Final[Table] = {name: Function(name, ("any",), _never, variadic=True, refused=True) for name in _NAMES}
