"""A web server for tests that only ask when something is fetched, and how often."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Echo:
    """Answers with its paths as JSON, or with `content`, once it may. `asked` are the paths that were asked for,
    `answered` the codes of the answers. With `headers` of an ETag or a time it answers 304 to who has that already.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answered: list[int] = []
        self.content = b""
        self.headers: dict[str, str] = {}
        self.url = ""
        self.answer_from = 0
        self.may_answer = threading.Event()
        self.may_answer.set()


@contextmanager
def serve() -> Iterator[Echo]:
    """A server on loopback, for as long as this lasts."""
    echo = Echo()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            echo.asked.append(self.path)
            if len(echo.asked) == echo.answer_from:
                echo.may_answer.set()
            if "missing" in self.path or not echo.may_answer.wait(60):
                self.send_error(404)
                return
            known = (self.headers.get("If-None-Match"), self.headers.get("If-Modified-Since"))
            if any(one in echo.headers.values() for one in known):
                echo.answered.append(304)
                self.send_response(304)
                self.end_headers()
                return
            content = echo.content or f'"{self.path}"'.encode()
            echo.answered.append(200)
            self.send_response(200)
            for name, value in echo.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        echo.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield echo
        server.shutdown()
        thread.join()
