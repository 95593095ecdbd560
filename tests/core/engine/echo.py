"""A web server for tests that only ask when something is fetched, and how often."""

from __future__ import annotations

import threading

from tests.world.loopback import LoopbackHandler, LoopbackServer


class Echo(LoopbackServer):
    """Answers with its paths as JSON, or with `content`, once it may. `asked` are the paths that were asked for,
    `answered` the codes of the answers. With `headers` of an ETag or a time it answers 304 to who has that already.
    """

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.asked: list[str] = []
        self.answered: list[int] = []
        self.content = b""
        self.headers: dict[str, str] = {}
        self.answer_from = 0
        self.may_answer = threading.Event()
        self.may_answer.set()


class _Handler(LoopbackHandler):
    world: Echo

    def answer(self) -> None:
        echo = self.world
        echo.asked.append(self.path)
        if len(echo.asked) == echo.answer_from:
            echo.may_answer.set()
        if "missing" in self.path or not echo.may_answer.wait(60):
            self.send_error(404)
            return
        known = (self.headers.get("If-None-Match"), self.headers.get("If-Modified-Since"))
        if any(value in echo.headers.values() for value in known):
            echo.answered.append(304)
            self.send_response(304)
            self.end_headers()
            return
        echo.answered.append(200)
        self.send(200, echo.headers, echo.content or f'"{self.path}"'.encode())
