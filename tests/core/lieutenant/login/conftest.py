"""A provider, a store and options that fit."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.lieutenant import TokenStore
from commodore.core.lieutenant.login import CallbackSettings, LoginOptions
from tests.world.context import make_context
from tests.world.oidc import OidcProvider

API = "https://api.example.com"


@pytest.fixture
def provider() -> Iterator[OidcProvider]:
    with OidcProvider() as server:
        yield server


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    return TokenStore(tmp_path / "cache" / "token", make_context())


def login_options(provider: OidcProvider, **changes: Any) -> LoginOptions:
    given: dict[str, Any] = {
        "api_url": API,
        "timeout": DEFAULT_LIMITS.request_timeout,
        "client_id": provider.client_id,
        "discovery_url": provider.discovery_url,
        "callback": CallbackSettings(port=0),
        "device": False,
    }
    return LoginOptions(**{**given, **changes})


@pytest.fixture
def options(provider: OidcProvider) -> Callable[..., LoginOptions]:
    return functools.partial(login_options, provider)
