"""Logging in to the Lieutenant API by OpenID Connect: authorization code with PKCE, or the device flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.base.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.core.lieutenant.login.browser import has_browser
    from commodore.core.lieutenant.login.flow import Login, log_in
    from commodore.core.lieutenant.login.logout import log_out, log_out_of_all
    from commodore.core.lieutenant.login.options import CallbackSettings, LoginOptions
    from commodore.core.lieutenant.login.renewal import current_login
    from commodore.core.lieutenant.login.token_source import TokenSource
    from commodore.core.lieutenant.login.verification import Identity

__getattr__ = lazy_exports(
    __name__,
    {
        "browser": ("has_browser",),
        "flow": ("Login", "log_in"),
        "logout": ("log_out", "log_out_of_all"),
        "options": ("CallbackSettings", "LoginOptions"),
        "renewal": ("current_login",),
        "token_source": ("TokenSource",),
        "verification": ("Identity",),
    },
)
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
