"""Pages for the browser that returns from the identity provider. They load no other resources."""

from __future__ import annotations

from html import escape

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title} - commodore</title></head>
<body>
<h1>{title}</h1>
<p>{text}</p>
</body>
</html>
"""

HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def page(title: str, text: str) -> bytes:
    """Return a page with this title and text, which are escaped."""
    return _PAGE.format(title=escape(title), text=escape(text)).encode(errors="replace")


SUCCESS = page("You are logged in", "commodore has received its token. This page can be closed.")
OTHER_LOGIN = page(
    "Another login",
    "This page belongs to another login, perhaps an older one. Use the link that commodore shows now.",
)
ANSWERED = page("Already answered", "This login has been answered before. See the terminal for the result.")


def failure(reason: str) -> bytes:
    """Return the page for a failed login."""
    return page("The login has failed", f"{reason}. See the terminal for what to do, and close this page.")
