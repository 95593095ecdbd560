"""A Lieutenant API on loopback that knows some clusters and tenants and takes every report."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from _loopback import Handler, serve

Objects = Sequence[Mapping[str, Any]]


@contextlib.contextmanager
def serve_api(clusters: Objects, tenants: Objects) -> Iterator[str]:
    """Serve these objects until the end of the block; gives the API's URL. No token is asked for."""
    answers: dict[str, Any] = {"": {}, "/clusters": list(clusters)}
    answers |= {f"/clusters/{each['id']}": each for each in clusters}
    answers |= {f"/tenants/{each['id']}": each for each in tenants}
    with serve(_handler(answers)) as url:
        yield url


def _handler(answers: Mapping[str, Any]) -> type[Handler]:
    class ApiHandler(Handler):
        def do_GET(self) -> None:  # noqa: N802 - the name that http.server asks for
            answer = answers.get(self.path.partition("?")[0].rstrip("/"))
            status, content = (404, {"reason": "not found"}) if answer is None else (200, answer)
            self.send(status, json.dumps(content).encode(), "application/json")

        def do_POST(self) -> None:  # noqa: N802
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(204)
            self.end_headers()

    return ApiHandler
