"""Texts of a hydrated branch: the README of an output path, and the message of a commit. Both are Go templates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.errors import InputError
from commodore.base.files.workspace import is_inside
from commodore.base.gotemplate import Template, TemplateProblem
from commodore.base.printable import printable
from commodore.hydrate.model import DryCommit, PathOutput

README = """\
# {{ (index .applications 0).metadata.name }}

`manifest.yaml` is generated. Do not edit it: change its sources, and it is rendered again.

- Dry commit: {{ .DrySHA }}
{{- if .Author }}
- Author: {{ .Author }}
{{- end }}
{{- if .Date }}
- Date: {{ .Date }}
{{- end }}
{{- if .Subject }}
- Subject: {{ .Subject }}
{{- end }}

To render it by hand:

```shell
git clone {{ .RepoURL }} {{ .repoName }}
cd {{ .repoName }}
git checkout {{ .DrySHA }}
{{- range .Commands }}
{{ . }}
{{- end }}
```
{{- range .References }}

It is about {{ .Commit.SHA }}{{ if .Commit.RepoURL }} of {{ .Commit.RepoURL }}{{ end }}
{{- if .Commit.Subject }}: {{ .Commit.Subject }}{{ end }}.
{{- end }}
"""

MESSAGE = """\
{{ .metadata.drySha | trunc 7 }}: {{ .metadata.subject }}
{{- if .metadata.body }}

{{ .metadata.body | trim }}
{{- end }}
{{ range .metadata.references }}{{ if .commit.author }}
Co-authored-by: {{ .commit.author }}
{{- end }}{{ end }}
{{- if .metadata.author }}
Co-authored-by: {{ .metadata.author }}
{{- end }}
"""

_MESSAGE_KEYS = ("repoURL", "drySha", "author", "date", "subject", "body", "references")
_LONGEST_MESSAGE = 64 << 10
_LONGEST_PARTS = {"subject": 1 << 10, "body": 60 << 10}
"""The maximum size of a commit's body passed to templates, as their output is limited."""
_LONGEST_TEMPLATE = 1 << 20
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|])")


@dataclass(frozen=True, slots=True)
class Texts:
    """The templates of an installation.

    Args:
        readme, message: templates; empty for the built-in ones.
    """

    readme: str = ""
    message: str = ""

    def check(self) -> None:
        """Render both for a sample commit.

        Raises:
            InputError: CMD-HYD-025, a template fails.
        """
        commit = DryCommit("0" * 40, "Jo <jo@example.com>", "2026-01-02T03:04:05Z", "A subject", "A body\n")
        root = {"repoURL": "https://example.com/r.git", "drySha": commit.sha, "author": commit.author}
        self.message_of({**root, "date": commit.date, "subject": commit.subject, "body": commit.body})
        self.readme_of(PathOutput("path", (), "", {"applications": [{"name": "app"}]}), root, commit)

    def message_of(self, root: Mapping[str, Any]) -> str:
        """Return the message of a commit.

        Args:
            root: the metadata of the branch.

        Raises:
            InputError: CMD-HYD-025, the template fails; CMD-HYD-026, the message is empty.
        """
        # As in Argo CD, a key without a value is absent, which `toJson` shows.
        data = {key: root[key] for key in _MESSAGE_KEYS if root.get(key)}
        for key, most in _LONGEST_PARTS.items():
            if key in data:
                data[key] = _cut(data[key], most)
        text = _render("the commit message", self.message or MESSAGE, {"metadata": data})
        text = "\n".join(line.rstrip() for line in text.strip().replace("\0", "").split("\n"))
        text = _cut(text, _LONGEST_MESSAGE)
        if not text:
            raise InputError(
                "CMD-HYD-026",
                "the commit message is empty",
                hint="let the template of the commit message print something, such as {{ .metadata.drySha }}",
            )
        return text

    def readme_of(self, output: PathOutput, root: Mapping[str, Any], commit: DryCommit) -> str:
        """Return the README of an output path.

        Raises:
            InputError: CMD-HYD-025, the template fails.
        """
        own = not self.readme
        shown = _escaped if own else str
        sha, url, subject = commit.sha, root.get("repoURL", ""), _cut(commit.subject, _LONGEST_PARTS["subject"])
        commands = list(output.metadata.get("commands", []))
        references = [_reference(item["commit"], own) for item in root.get("references", [])]
        applications = [{"metadata": dict(item)} for item in output.metadata.get("applications", [])]
        data = {
            "RepoURL": url,
            "DrySHA": sha,
            "Commands": commands,
            "Author": shown(commit.author),
            "Date": commit.date,
            "Subject": shown(subject),
            "Body": shown(_cut(commit.body, _LONGEST_PARTS["body"])),
            "References": references,
            "applications": applications,
            "commitAuthor": shown(commit.author),
            "commitMessage": shown(subject),
            "commitTime": commit.date,
            "repoURL": url,
            "repoName": url.rstrip("/").rpartition("/")[2].removesuffix(".git"),
            "dryShortSHA": sha[:7],
            "commands": commands,
        }
        text = _render("the README", self.readme or README, data, missing="error")
        return text if text.endswith("\n") or not text else f"{text}\n"


NO_TEXTS = Texts()


def read_template(file: Path, folder: Path | None = None) -> str:
    """Read the file of a template.

    Args:
        folder: the folder of the `hydrate.yaml` that names the file; None if the user names it. The text gets into
            commits, so the author of a `hydrate.yaml` must not be able to name other files of the user.

    Raises:
        InputError: CMD-HYD-025, it cannot be read, or lies outside of `folder`.
    """
    try:
        if folder is not None and not is_inside(file, folder):
            raise ValueError("it is outside of the folder of its hydrate.yaml")
        if folder is not None and file.exists() and not file.is_file():
            raise ValueError("it is not a regular file")
        with file.open("rb") as stream:
            content = stream.read(_LONGEST_TEMPLATE + 1)
        if len(content) > _LONGEST_TEMPLATE:
            raise ValueError(f"it is larger than {_LONGEST_TEMPLATE} bytes")
        return content.decode("utf-8")
    except (OSError, ValueError) as error:
        raise InputError(
            "CMD-HYD-025", f"the template {file} cannot be read: {error}", hint="name a text file"
        ) from error


def _render(what: str, text: str, data: Mapping[str, Any], missing: str = "default") -> str:
    try:
        return Template(text, name=what.removeprefix("the ")).render(dict(data), missing=missing)
    except TemplateProblem as problem:
        raise InputError(
            "CMD-HYD-025",
            f"the template of {what} failed: {problem}",
            hint="templates are Go templates with Sprig's functions, except random and time-dependent ones",
        ) from problem


def _reference(commit: Mapping[str, str], own: bool) -> dict[str, Any]:
    shown = _escaped if own else str
    parts = {"Author": "author", "Date": "date", "Subject": "subject", "Body": "body", "SHA": "sha"}
    results = {name: shown(commit.get(key, "")) for name, key in parts.items()}
    return {"Commit": {**results, "RepoURL": commit.get("repoURL", "")}}


def _cut(text: str, most: int) -> str:
    """Cut a text to at most `most` bytes."""
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def _escaped(text: str) -> str:
    """Escape untrusted text for Markdown and terminals."""
    return _MARKDOWN.sub(r"\\\1", printable(text))
