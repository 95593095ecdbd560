"""Token of each request to the API: given, stored, or of a new login. The modules for renewals and logins are imported
only when needed: most commands have a valid token.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from commodore.base.context import Context
from commodore.base.events import Noted
from commodore.core.lieutenant.jwt import is_expired
from commodore.core.lieutenant.login.options import LoginOptions
from commodore.core.lieutenant.token_store import TokenStore
from commodore.core.lieutenant.tokens import can_renew, expired_token, id_token_of


class TokenSource:
    """Returns the token for each request to the API when it is called, or None without one.

    Args:
        given: returns the token that the user gave, if any.
        may_log_in: an interactive login is possible.
    """

    def __init__(
        self,
        given: Callable[[], str | None],
        options: LoginOptions,
        store: TokenStore,
        context: Context,
        *,
        may_log_in: bool,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._given = given
        self._options = options
        self._store = store
        self._context = context
        self._may_log_in = may_log_in
        self._now = now
        self._token: str | None = None
        self._noted = self._gave_up = False

    def __call__(self) -> str | None:
        """Return a token that has not expired.

        Raises:
            CommodoreError: the given token cannot be read, the login has failed, or the only token has expired.
        """
        given = self._given()
        if given is not None and not is_expired(given, self._now()):
            return given
        if self._token is None or is_expired(self._token, self._now()):
            self._token = self._new_token()
        if self._token is None:
            self._give_up(given=given is not None)
            return None
        if given is not None and not self._noted:
            self._noted = True
            self._context.announce(Noted("the given API token has expired; that of the login is used", level=1))
        return self._token

    def _new_token(self) -> str | None:
        if self._gave_up:
            return None
        url = self._options.api_url
        kept = id_token_of(self._store.read(url)) if url else None
        if kept is not None and not is_expired(kept, self._now()):
            return kept
        from commodore.core.lieutenant.login.flow import log_in
        from commodore.core.lieutenant.login.renewal import current_login

        login = current_login(self._options, self._store, self._context, now=self._now)
        if login is None and self._may_log_in:
            login = log_in(self._options, self._store, self._context)
        return login.id_token if login is not None else None

    def _give_up(self, *, given: bool) -> None:
        """Stop trying. A failed renewal has already been announced.

        Raises:
            UsageError: CMD-API-003, there was a token, which has expired.
        """
        self._gave_up = True
        url = self._options.api_url
        entry = self._store.read(url) if url else None
        if not can_renew(entry) and (given or id_token_of(entry)):
            raise expired_token(given=given)
