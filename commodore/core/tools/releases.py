"""Releases of the tools: their assets' URLs and checksums, mirrors, the latest version.

Layouts of the release servers (public documentation of the projects):

* helm: `https://get.helm.sh/helm-v<version>-<platform>.tar.gz`, with `<file>.sha256sum` in the same folder;
* kustomize: `https://github.com/kubernetes-sigs/kustomize/releases/download/kustomize%2Fv<version>/
  kustomize_v<version>_<os>_<arch>.tar.gz`, with `checksums.txt` in the same folder.
"""

from __future__ import annotations

import json
import platform
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError, PolicyError
from commodore.base.events import Noted
from commodore.base.values.versions import Version
from commodore.core.sources.http import without_credentials
from commodore.core.tools._web import StatusError, Web
from commodore.core.tools.pins import Pins, known_pins
from commodore.core.tools.version_numbers import tool_version

GITHUB_API = "https://api.github.com"

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_PLACEHOLDERS = ("tool", "version", "os", "arch", "file")


@dataclass(frozen=True, slots=True)
class Project:
    """The layout of a tool's releases.

    `base`, `file`, `checksums` and `member` (the executable in the archive) take `{version}`, `{os}` and `{arch}`;
    `repository` and `tag` (the prefix of the version number) are those on GitHub.
    """

    base: str
    file: str
    checksums: str
    member: str
    repository: str
    tag: str


PROJECTS = {
    "helm": Project(
        base="https://get.helm.sh/",
        file="helm-v{version}-{os}-{arch}.tar.gz",
        checksums="helm-v{version}-{os}-{arch}.tar.gz.sha256sum",
        member="{os}-{arch}/helm",
        repository="helm/helm",
        tag="v",
    ),
    "kustomize": Project(
        base="https://github.com/kubernetes-sigs/kustomize/releases/download/kustomize%2Fv{version}/",
        file="kustomize_v{version}_{os}_{arch}.tar.gz",
        checksums="checksums.txt",
        member="kustomize",
        repository="kubernetes-sigs/kustomize",
        tag="kustomize/v",
    ),
}


@dataclass(frozen=True, slots=True)
class Platform:
    """Operating system and architecture, as named in release assets."""

    os: str
    arch: str

    @classmethod
    def current(cls) -> Platform:
        machine = platform.machine().lower()
        return cls(platform.system().lower(), _ARCHITECTURES.get(machine, machine))

    def __str__(self) -> str:
        return f"{self.os}-{self.arch}"


@dataclass(frozen=True, slots=True)
class Asset:
    """An archive with a tool. `digest` is its SHA-256 if it is pinned, else None."""

    tool: str
    version: Version
    platform: Platform
    url: str
    checksums: str
    file: str
    member: str
    digest: str | None


@dataclass(frozen=True, slots=True)
class Releases:
    """Access to the releases of tools.

    Attributes:
        mirror: a URL to use instead of the projects' servers, see `check_mirror`; empty for none.
        token: a token for GitHub's API, sent nowhere else and over https only; empty for none.
        api: the URL of GitHub's API.
        timeout: seconds for connecting, and between two chunks of a response.
        pins: the digests shipped with the program.
        platform: the platform that the tools run on.
    """

    context: Context

    mirror: str = ""
    token: str = field(default="", repr=False)
    api: str = GITHUB_API
    timeout: float = 5.0
    pins: Pins = field(default_factory=known_pins, repr=False)
    platform: Platform = field(default_factory=Platform.current)

    def __post_init__(self) -> None:
        check_mirror(self.mirror)

    def web(self) -> Web:
        """Open a session with the servers. The caller closes it."""
        return Web(self.timeout, Context(self.context.announce, self.context.limits))

    def asset(self, tool: str, version: Version) -> Asset:
        """Return the asset of a version: its URLs, computed without network access."""
        project = PROJECTS[tool]
        words = {"version": str(version), "os": self.platform.os, "arch": self.platform.arch, "tool": tool}

        def place(name: str) -> str:
            filled = name.format(**words)
            if not self.mirror:
                return project.base.format(**words) + filled
            template = self.mirror if "{" in self.mirror else self.mirror.rstrip("/") + "/{tool}/v{version}/{file}"
            return _PLACEHOLDER.sub(lambda match: {**words, "file": filled}[match[1]], template)

        return Asset(
            tool,
            version,
            self.platform,
            url=place(project.file),
            checksums=place(project.checksums),
            file=project.file.format(**words),
            member=project.member.format(**words),
            digest=self.pins.get(tool, {}).get(str(version), {}).get(str(self.platform)),
        )

    def expected_digest(self, asset: Asset, web: Web) -> str:
        """Return the expected SHA-256 of the archive: the pinned one, else that of the project's checksum file.

        Raises:
            PolicyError: CMD-TOOL-017, no checksum; 028, it would be downloaded without https.
            CommodoreError: the server cannot be reached.
        """
        if asset.digest is not None:
            return asset.digest
        if urlsplit(asset.checksums).scheme != "https":
            known = ", ".join(self.pins.get(asset.tool, {})) or "none"
            raise PolicyError(
                "CMD-TOOL-028",
                f"the mirror is not https, and commodore does not know the SHA-256 of {asset.tool} {asset.version}",
                hint=f"use an https mirror, or a version that commodore knows ({known})",
            )
        shown = without_credentials(asset.checksums)
        self.context.announce(Noted(f"The SHA-256 of {asset.file} is taken from {shown}"))
        try:
            content = web.read(asset.checksums, self.context.limits.tool_checksum_bytes)
        except StatusError as error:
            if error.status in (403, 404, 410):
                raise PolicyError(
                    "CMD-TOOL-017",
                    f"there is no checksum for {asset.tool} {asset.version} ({asset.platform}): "
                    f"{shown} returned {error.status}",
                    hint="does this version exist for this platform? Nothing is installed without a checksum",
                ) from None
            raise error.as_fault() from None
        digest = _find_digest(content.decode("utf-8", "replace"), asset.file)
        if digest is None:
            raise PolicyError(
                "CMD-TOOL-017",
                f"{shown} has no SHA-256 for {asset.file}",
                hint="nothing is installed without a checksum; is this tool published for this platform?",
            )
        return digest

    def latest(self, tool: str, web: Web) -> Version:
        """Return the highest version number that the tool's project has released; pre-releases do not count.

        Raises:
            EnvironmentFault: CMD-TOOL-012, GitHub limits the rate; 013, it rejects the token; 026, its response is
                invalid; or it cannot be reached.
        """
        project = PROJECTS[tool]
        url = f"{self.api.rstrip('/')}/repos/{project.repository}/releases?per_page=50"
        with_token = bool(self.token) and urlsplit(url).scheme == "https"  # others could read it on the way
        token = {"Authorization": f"Bearer {self.token}"} if with_token else {}
        accept = {"Accept": "application/vnd.github+json"}
        try:
            listed = json.loads(web.read(url, self.context.limits.tool_releases_bytes, accept, token))
        except StatusError as error:
            raise _github_fault(error, with_token) from None
        except (ValueError, RecursionError):
            listed = None
        versions = [_released(release, project.tag) for release in listed] if isinstance(listed, list) else []
        known = [version for version in versions if version is not None and not version.prerelease]
        if not known:
            raise EnvironmentFault(
                "CMD-TOOL-026",
                f"the list of releases of {tool} at {without_credentials(url)} names no version",
                hint="name one with --version; is the URL of GitHub's API right (--github-url)?",
            )
        return max(known)


def check_mirror(mirror: str) -> None:
    """Check the URL of a mirror: http(s), plain or with the placeholders {tool}, {version}, {os}, {arch} and {file},
    of which {file} is required.

    Raises:
        InputError: CMD-TOOL-027.
    """
    if not mirror:
        return
    names = _PLACEHOLDER.findall(mirror)
    rest = _PLACEHOLDER.sub("", mirror)
    try:
        parts = urlsplit(rest)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if (
        not sound
        or not rest.isprintable()
        or any(mark in rest for mark in "{} ")
        or any(name not in _PLACEHOLDERS for name in names)
        or (names and "file" not in names)
    ):
        shown = without_credentials(mirror) if sound else "what is given"
        raise InputError(
            "CMD-TOOL-027",
            f"{shown} cannot be a mirror (--mirror, COMMODORE_TOOL_MIRROR)",
            hint="give a URL like https://mirror.example.com/tools, or with {tool}, {version}, {os}, {arch} and {file}",
        )


def _find_digest(text: str, file: str) -> str | None:
    """Find a file's SHA-256 in the lines of a checksum file, `<sha256>  <file>` (`*<file>` in binary mode)."""
    for line in text.splitlines():
        words = line.split()
        if len(words) == 2 and words[1].removeprefix("*") == file and _SHA256.fullmatch(words[0].lower()):
            return words[0].lower()
    return None


def _released(release: Any, tag: str) -> Version | None:
    if not isinstance(release, dict) or release.get("draft") or release.get("prerelease"):
        return None
    name = release.get("tag_name")
    return tool_version(name.removeprefix(tag)) if isinstance(name, str) and name.startswith(tag) else None


def _github_fault(error: StatusError, with_token: bool) -> EnvironmentFault:
    limited = error.headers.get("X-RateLimit-Remaining") == "0" or "Retry-After" in error.headers
    if error.status == 429 or (error.status == 403 and limited):
        reset = error.headers.get("X-RateLimit-Reset", "")
        until = (
            f" until {datetime.fromtimestamp(int(reset), UTC):%H:%M} UTC" if re.fullmatch(r"\d{1,11}", reset) else ""
        )
        more = "wait" if with_token else "set COMMODORE_GITHUB_TOKEN, which allows more requests, wait"
        return EnvironmentFault(
            "CMD-TOOL-012", f"GitHub answers no more requests{until}", hint=f"{more}, or name a version with --version"
        )
    if error.status in (401, 403):
        return EnvironmentFault(
            "CMD-TOOL-013",
            f"GitHub does not accept {'the token' if with_token else 'requests without a token'} ({error.status})",
            hint="check COMMODORE_GITHUB_TOKEN (--github-token); none is needed for public releases",
        )
    return error.as_fault()
