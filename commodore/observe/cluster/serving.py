"""A few pages over HTTP for probes and for Prometheus. Only GET; nothing of a request but its first line counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from commodore.base.errors import EnvironmentFault, UsageError

Page = Callable[[], tuple[int, str, bytes]]
"""A page's status, type and content."""

_PATIENCE = 5.0
_LINE = 8192
_PHRASES = {200: "OK", 404: "Not Found", 405: "Method Not Allowed", 503: "Service Unavailable"}


def read_address(text: str) -> tuple[str, int]:
    """The host and port of an address like `:8080` or `127.0.0.1:8080`.

    Raises:
        UsageError: CMD-OBS-030, it is none.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise UsageError(
            "CMD-OBS-030", f"'{text}' is no address", hint="give one like :8080, or an empty text for none"
        )
    return host.strip("[]"), int(port)


async def serve(address: str, pages: Mapping[str, Page]) -> asyncio.Server:
    """Serve pages by their path until the server is closed.

    Raises:
        EnvironmentFault: CMD-OBS-014, the address cannot be listened on.
    """

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                line = (await reader.readline()).split()
                writer.write(_answer(line, pages))
                await writer.drain()
        except (OSError, TimeoutError, ValueError):
            pass
        finally:
            writer.close()

    host, port = read_address(address)
    try:
        return await asyncio.start_server(answer, host or None, port, limit=_LINE)
    except OSError as error:
        raise EnvironmentFault(
            "CMD-OBS-014",
            f"{address} cannot be listened on: {error.strerror}",
            hint="choose another address with --metrics-addr and --health-addr, or none",
        ) from error


def _answer(line: list[bytes], pages: Mapping[str, Page]) -> bytes:
    path = line[1].decode("latin-1").partition("?")[0] if len(line) > 1 else ""
    if not line or line[0] != b"GET":
        status, kind, content = 405, "text/plain", b"only GET\n"
    elif path in pages:
        status, kind, content = pages[path]()
    else:
        status, kind, content = 404, "text/plain", b"no such page\n"
    head = f"HTTP/1.1 {status} {_PHRASES[status]}\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + content
