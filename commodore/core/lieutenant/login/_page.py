"""What a browser shows when it comes back from the identity provider. Nothing is loaded from anywhere."""

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
    """A page with this title and text, which may come from anywhere."""
    return _PAGE.format(title=escape(title), text=escape(text)).encode(errors="replace")


SUCCESS = page("You are logged in", "commodore has got its token. This page can be closed.")
STRANGER = page(
    "Not the login that is waited for",
    "This page belongs to another login, perhaps an older one. Use the link that commodore shows now.",
)
ANSWERED = page("Already answered", "This login has been answered before. See the terminal for how it went.")


def failure(reason: str) -> bytes:
    """The page for a login that has failed."""
    return page("The login has failed", f"{reason}. See the terminal for what to do, and close this page.")
