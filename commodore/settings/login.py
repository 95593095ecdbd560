"""Options of logging in and out."""

from __future__ import annotations

from commodore.settings.common import API_URL, LOGIN_WAYS, OIDC_CLIENT, OIDC_DISCOVERY_URL
from commodore.settings.model import Setting

PROVIDER = (API_URL, OIDC_DISCOVERY_URL, OIDC_CLIENT)
LOGIN = (*PROVIDER, *LOGIN_WAYS)
FETCH_TOKEN = LOGIN
LOGOUT = (
    *PROVIDER,
    Setting("all", ("--all",), "End all logins, whatever API they are for.", kind="switch", default=False),
)
