"""The user name and password of a URL, as git gets them: by variables, and never on a command line.

Git starts programs of its own for a remote, with the URL that it has as an argument. So a setting makes it leave them
out, and it asks a credential helper of one line, which prints two variables, for this server alone.
"""

from __future__ import annotations

from urllib.parse import unquote

from commodore.base.context import GitRights
from commodore.core.sources.git.urls import bare_url

_USER, _PASSWORD = "COMMODORE_GIT_USERNAME", "COMMODORE_GIT_PASSWORD"
_HELPER = f'!f() {{ if test "$1" = get; then printf "username=%s\\npassword=%s\\n" "${_USER}" "${_PASSWORD}"; fi; }}; f'


def rights_of(url: str) -> GitRights | None:
    """The credentials in a URL; None if the URL has neither user nor password. Git gets the URL by a variable.

    With a password no helper of the user is asked, and none gets to know it. A user name alone is completed by them.
    What the user's settings replace (`insteadOf`) stays so: theirs come first.
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
    if scheme.lower() not in ("http", "https") or not (user + password).isprintable():  # the helper's answer has lines
        return GitRights(tuple(settings))
    if not colon:
        return GitRights((*settings, (f"credential.{site}.username", user)))
    settings += [(f"credential.{site}.helper", ""), (f"credential.{site}.helper", _HELPER)]  # the first removes others
    return GitRights(tuple(settings), {_USER: user, _PASSWORD: password})
