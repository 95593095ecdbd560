"""Pass the user name and password of a URL to git by variables, never on a command line.

Git passes a remote's URL as an argument to the programs that it starts. So the URL is replaced by one without
credentials, and a one-line credential helper prints them from two variables, for this server alone.
"""

from __future__ import annotations

from urllib.parse import unquote

from commodore.base.context import GitRights
from commodore.core.sources.git.urls import bare_url

_USER, _PASSWORD = "COMMODORE_GIT_USERNAME", "COMMODORE_GIT_PASSWORD"
_HELPER = f'!f() {{ if test "$1" = get; then printf "username=%s\\npassword=%s\\n" "${_USER}" "${_PASSWORD}"; fi; }}; f'


def rights_of(url: str) -> GitRights | None:
    """Return git rights with the credentials of a URL; None without user and password. Git gets the URL by a variable.

    With a password, no credential helper of the user is called. With a user name alone, the helpers supply the rest.
    URL replacements of the user (`insteadOf`) stay in effect: theirs come first.
    """
    bare = bare_url(url)
    if bare == url:
        return None
    scheme, _, rest = url.partition("://")
    user_info, _, host = rest.partition("/")[0].rpartition("@")
    site = "/".join(bare.split("/")[:3])
    settings = [(f"url.{site}.insteadOf", f"{scheme}://{user_info}@{host}")]
    user, colon, password = user_info.partition(":")
    user, password = unquote(user), unquote(password)
    if (
        scheme.lower() not in ("http", "https") or not (user + password).isprintable()
    ):  # the helper's output is line-based
        return GitRights(tuple(settings))
    if not colon:
        return GitRights((*settings, (f"credential.{site}.username", user)))
    settings += [(f"credential.{site}.helper", ""), (f"credential.{site}.helper", _HELPER)]  # the first removes others
    return GitRights(tuple(settings), {_USER: user, _PASSWORD: password})
