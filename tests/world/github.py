"""A real GitHub on loopback: the few endpoints of its API that syncing needs, and its repositories over HTTP with git.

with GitHubServer(tmp_path / "github") as server:
    server.repository("acme/component-one", {"README.md": "one\n"})
    server.script(failing(502), path="/api/v3/repos/acme/component-one")     # fails once, then works
    ...                                                                       # use server.url and server.token
    assert server.pulls("acme/component-one")[0]["title"] == "..."

Both the API and git want the token.
"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.world.loopback import LoopbackHandler, LoopbackServer, Scripts
from tests.world.repos import Content, GitWorld, Remote, git

PREFIX = "/api/v3"
TOKEN = "ghp_VerySecretToken0123456789"


@dataclass(frozen=True, slots=True)
class Request:
    """One request to the API as it arrived. `body` is its JSON, or None."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    body: Any


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the API: `value` as JSON, or `text` as it is.

    `drop` closes the connection instead; with `after` what was asked for is done, whatever is answered.
    """

    status: int = 200
    value: Any = None
    text: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    drop: bool = False
    delay: float = 0.0
    after: bool = False


def failing(status: int, message: str = "it failed", **headers: str) -> Reply:
    """A refusal with GitHub's JSON body; `retry_after="1"` becomes the header `Retry-After`."""
    return Reply(
        status, {"message": message}, headers={name.replace("_", "-").title(): text for name, text in headers.items()}
    )


@dataclass(slots=True)
class Hosted:
    """A repository on the server. `pulls` are as the API gives them, `comments` belong to the pull of that number."""

    remote: Remote
    archived: bool = False
    default_branch: str | None = None
    clone_url: str | None = None
    pulls: list[dict[str, Any]] = field(default_factory=list)
    comments: dict[int, list[str]] = field(default_factory=dict)


class GitHubServer(LoopbackServer):
    """Serves from `with` to the end of the block, in threads of its own. `root` holds the bare repositories."""

    def __init__(self, root: Path) -> None:
        super().__init__(_Handler)
        self.remotes = GitWorld(root)
        self.token = TOKEN
        self.hosted: dict[str, Hosted] = {}
        self.moved: dict[str, str] = {}
        self.git_redirects: dict[str, tuple[int, str]] = {}
        self.requests: list[Request] = []
        self._scripts: Scripts[Reply] = Scripts()
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """The API's URL."""
        return self.site + PREFIX

    def repository(self, name: str, files: Mapping[str, Content] | None = None, *, branch: str = "master") -> Hosted:
        """A new repository `owner/name`; without files it is empty."""
        remote = self.remotes.remote(name, files, branch=branch)
        git(remote.path, "config", "http.receivepack", "true")
        hosted = self.hosted[name] = Hosted(remote)
        return hosted

    def script(self, *replies: Reply, times: float = 1, method: str | None = None, path: str | None = None) -> None:
        """Answer coming API requests (of this method, this path without the prefix) by these, each `times` times."""
        self._scripts.add(replies, times, method, None if path is None else PREFIX + path)

    def redirect_git(self, path: str, location: str, status: int) -> None:
        """Send git elsewhere with what it asks for below a path."""
        self.git_redirects[path] = status, location

    def open_pull(
        self, name: str, branch: str, *, head: str | None = None, body: str = "", **more: Any
    ) -> dict[str, Any]:
        """A pull request that somebody has opened; `head` is the repository that its branch is in."""
        hosted = self.hosted[name]
        number = len(hosted.pulls) + 1
        path = f"{self.url}/repos/{name}"
        pull = {
            "number": number,
            "state": "open",
            "title": "a title",
            "body": body,
            "url": f"{path}/pulls/{number}",
            "issue_url": f"{path}/issues/{number}",
            "html_url": f"{self.site}/{name}/pull/{number}",
            "labels": [],
            "head": {"ref": branch, "repo": {"full_name": head or name, "url": f"{self.url}/repos/{head or name}"}},
            **more,
        }
        hosted.pulls.append(pull)
        hosted.comments[number] = []
        return pull

    def pulls(self, name: str) -> list[dict[str, Any]]:
        return self.hosted[name].pulls

    def writes(self) -> list[str]:
        """Method and path (without the prefix) of the requests that change something."""
        asked = [(request.method, request.path.removeprefix(PREFIX)) for request in self.requests]
        return [f"{method} {path}" for method, path in asked if method != "GET"]

    def reply_to(self, request: Request, authorization: str) -> Reply:
        """The answer to a request, which is remembered."""
        with self._lock:
            self.requests.append(request)
            scripted = self._scripts.take(request.method, request.path)
            if scripted is not None:
                if scripted.after:
                    self._regular(request)
                return scripted
            if authorization not in (f"token {self.token}", f"Bearer {self.token}"):
                return failing(401, "Bad credentials")
            return self._regular(request)

    def _regular(self, request: Request) -> Reply:
        match = re.fullmatch(rf"{PREFIX}/repos/([^/]+/[^/]+)(/.*)?", request.path)
        if match is None:
            return failing(404, "Not Found")
        name, rest = unquote(match[1]), match[2] or ""
        if name in self.moved:
            return Reply(301, headers={"Location": f"{self.url}/repos/{self.moved[name]}{rest}"})
        hosted = self.hosted.get(name)
        if hosted is None:
            return failing(404, "Not Found")
        if request.method == "GET" and not rest:
            return Reply(200, self._describe(name, hosted))
        if rest == "/pulls":
            return self._pulls(name, hosted, request)
        match = re.fullmatch(r"/(?:pulls|issues)/(\d+)(/labels|/comments)?", rest)
        if match is None or int(match[1]) > len(hosted.pulls):
            return failing(404, "Not Found")
        return self._pull(hosted, int(match[1]), match[2], request)

    def _describe(self, name: str, hosted: Hosted) -> dict[str, Any]:
        return {
            "full_name": name,
            "url": f"{self.url}/repos/{name}",
            "clone_url": hosted.clone_url or f"{self.site}/{name}.git",
            "default_branch": hosted.default_branch or hosted.remote.branch,
            "archived": hosted.archived,
        }

    def _pulls(self, name: str, hosted: Hosted, request: Request) -> Reply:
        if request.method == "GET":
            owner, _, branch = request.query["head"][0].partition(":")
            return Reply(200, [each for each in hosted.pulls if _is_from(each, owner, branch)])
        expected = request.body
        if any(
            each["head"]["ref"] == expected["head"] and each["head"]["repo"]["full_name"] == name
            for each in hosted.pulls
        ):
            return Reply(
                422, {"message": "Validation Failed", "errors": [{"message": "A pull request already exists"}]}
            )
        if not hosted.remote.sha(expected["head"], missing=""):
            return Reply(422, {"message": "Validation Failed", "errors": [{"field": "head", "code": "invalid"}]})
        given = {"title": expected["title"], "base": {"ref": expected["base"]}}
        return Reply(201, self.open_pull(name, expected["head"], body=expected["body"], **given))

    def _pull(self, hosted: Hosted, number: int, part: str | None, request: Request) -> Reply:
        pull = hosted.pulls[number - 1]
        if part == "/labels":
            pull["labels"] += [{"name": label} for label in request.body]
            return Reply(200, pull["labels"])
        if part == "/comments":
            comments = hosted.comments[number]
            if request.method == "POST":
                comments.append(request.body["body"])
                return Reply(201, {"body": comments[-1]})
            return Reply(200, [{"body": comment} for comment in comments])
        if request.method == "PATCH":
            pull.update(request.body)
        return Reply(200, pull)


def _is_from(pull: Mapping[str, Any], owner: str, branch: str) -> bool:
    head = pull["head"]
    return bool(pull["state"] == "open" and head["ref"] == branch and head["repo"]["full_name"].startswith(f"{owner}/"))


class _Handler(LoopbackHandler):
    world: GitHubServer

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        if not parts.path.startswith(PREFIX):
            self._git(parts.path, parts.query, body)
            return
        request = Request(self.command, parts.path, parse_qs(parts.query), json.loads(body) if body else None)
        reply = self.world.reply_to(request, self.headers.get("Authorization", ""))
        self.world.stopping.wait(reply.delay)
        if reply.drop:
            self.close_connection = True
            return
        kind = "application/json" if reply.text is None else "text/html"
        text = json.dumps(reply.value) if reply.text is None else reply.text
        self.send(reply.status, {"Content-Type": kind, **reply.headers}, text.encode())

    def _git(self, path: str, query: str, body: bytes) -> None:
        """Let git's own server program answer."""
        for moved, (status, location) in self.world.git_redirects.items():
            if path.startswith(moved):
                self.send(status, {"Location": f"{location}{path.removeprefix(moved)}?{query}"}, b"")
                return
        credentials = base64.b64encode(f"x-access-token:{self.world.token}".encode()).decode()
        if self.headers.get("Authorization") != f"Basic {credentials}":
            self.send(401, {"WWW-Authenticate": 'Basic realm="git"'}, b"")
            return
        environment = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(self.world.remotes.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "PATH_INFO": unquote(path),
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "REMOTE_USER": "tess",
            "REMOTE_ADDR": "127.0.0.1",
        }
        answer = subprocess.run(
            ["git", "http-backend"], input=body, env=environment, capture_output=True, check=False
        ).stdout
        head, _, content = answer.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines() if ": " in line)
        status = int(headers.pop("Status", "200").split(" ")[0])
        self.send(status, headers, content)
