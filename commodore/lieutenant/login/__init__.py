"""Logging in to the Lieutenant API by OpenID Connect: authorization code with PKCE, or the device flow (spec a 11)."""

from __future__ import annotations

from commodore.lieutenant.login.browser import has_browser
from commodore.lieutenant.login.callback import CallbackSettings
from commodore.lieutenant.login.flow import Login, LoginOptions, log_in
from commodore.lieutenant.login.logout import log_out, log_out_of_all
from commodore.lieutenant.login.renewal import TokenSource, current_login
from commodore.lieutenant.login.verification import Identity

__all__ = [
    "CallbackSettings",
    "Identity",
    "Login",
    "LoginOptions",
    "TokenSource",
    "current_login",
    "has_browser",
    "log_in",
    "log_out",
    "log_out_of_all",
]
