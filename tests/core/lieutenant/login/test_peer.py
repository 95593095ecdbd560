"""The published tool and this one share their logins."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.core.lieutenant import TokenStore
from commodore.core.lieutenant.login import LoginOptions, log_in
from commodore.core.results.caches import token_cache
from tests.world.context import make_context
from tests.world.oidc import Browser, OidcProvider


@pytest.mark.peer
def test_the_published_tool_reads_our_file(
    peer: Path, provider: OidcProvider, options: Callable[..., LoginOptions]
) -> None:
    provider.oidc = {"clientId": provider.client_id, "discoveryUrl": provider.discovery_url}
    login = log_in(
        options(api_url=provider.url),
        TokenStore(token_cache(), make_context()),
        make_context(announce=Browser().announce),
    )
    done = subprocess.run(
        [peer, "fetch-token", "--api-url", provider.url], capture_output=True, text=True, env=os.environ, check=False
    )
    assert done.stdout.strip() == login.id_token
