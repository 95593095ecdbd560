"""Logging in to the Lieutenant API by OpenID Connect: authorization code with PKCE, or the device flow."""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.core.lieutenant.login.browser import has_browser as has_browser
    from commodore.core.lieutenant.login.flow import Login as Login
    from commodore.core.lieutenant.login.flow import log_in as log_in
    from commodore.core.lieutenant.login.logout import log_out as log_out
    from commodore.core.lieutenant.login.logout import log_out_of_all as log_out_of_all
    from commodore.core.lieutenant.login.options import CallbackSettings as CallbackSettings
    from commodore.core.lieutenant.login.options import LoginOptions as LoginOptions
    from commodore.core.lieutenant.login.renewal import current_login as current_login
    from commodore.core.lieutenant.login.token_source import TokenSource as TokenSource
    from commodore.core.lieutenant.login.verification import Identity as Identity
else:
    __getattr__ = lazy_exports(__name__)
