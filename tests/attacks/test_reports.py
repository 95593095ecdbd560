"""Text of others in reports: on a terminal, and as Markdown in the description of a pull request."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from commodore.base.documents import plain
from commodore.base.errors import InputError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.printable import printable_lines
from commodore.cli.main import run
from commodore.clusters.outcome import ClusterOutcome
from commodore.clusters.report.model import FleetReport
from commodore.clusters.report.rendering import render_markdown, render_text
from commodore.core.review import (
    FileChange,
    PlacedObject,
    Review,
    TreeChange,
    html_report,
    json_report,
    markdown_report,
    render,
    review,
    text_report,
)
from tests.world.cluster import ClusterWorld

MARKS = {
    "html": "<img src=x onerror=alert(1)>",
    "escaped html": "\\<img src=x onerror=alert(1)>",
    "entity": "&lt;img&gt;",
    "link": "[text](https://evil.example.com)",
    "escaped link": "\\[text](https://evil.example.com)",
    "address": "https://evil.example.com www.evil.example.com",
    "mention": "@everyone",
    "fence": "```\n<b>\n```",
    "line": "x\n# <b>title",
    "table": "a | b",
    "colour": "\x1b[31mred\x1b[0m",
    "hyperlink": "\x1b]8;;https://evil.example.com\x07text\x1b]8;;\x07",
    "direction": "abc\u202e\u2066fed",
    "new direction": "a\u200fb",
    "separator": "a\u2028b",
}


def report(message: str, hint: str = "", place: str = "") -> FleetReport:
    error = InputError("CMD-INV-001", message, hint=hint, locations=[place] if place else [])
    cluster = ClusterOutcome("c-one", "c-one", "t-one", "all").failing(error)
    return FleetReport("r", "", "", "1", "", 1, False, None, (), (), (cluster,), ())


@pytest.mark.harmless
@pytest.mark.parametrize("part", ["message", "hint", "place"])
@pytest.mark.parametrize("mark", MARKS)
def test_errors_in_the_report_of_a_fleet(mark: str, part: str) -> None:
    text = MARKS[mark]
    result = report(**{"message": "it is wrong", part: text})
    terminal = "\n".join(printable_lines(line) for _, line in render_text(result))
    markdown = render_markdown(result, 10_000)
    for shown in (terminal, markdown):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200f\u2028\u202e\u2066]", shown)
    assert not re.search(r"[<>`@\[\]|\\]|://|www\.", markdown)
    assert not re.search(r"&(?!#\d+;)", markdown)
    assert not re.search(r"(?m)^#", markdown)


UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
FENCED = re.compile(r"^(`{3,})diff\n.*?^\1$", re.DOTALL | re.MULTILINE)


def changes(text: str) -> list[Review]:
    """Objects that come, change and go, with a text in each part of them."""

    def placed(value: str) -> PlacedObject:
        content = {
            "apiVersion": "v1",
            "kind": "ConfigMap" if value else text,
            "metadata": {"name": text, "namespace": text, "annotations": {text: value + text}},
            "data": {text: value, "key": f"{value}{text}", "list": [text, {text: value}]},
        }
        return PlacedObject(content, text)

    return [review([placed("1")], [placed("2")]), review([], [placed("")]), review([placed("1")], [])]


@pytest.mark.harmless
@pytest.mark.parametrize("mark", MARKS)
def test_differences_of_objects_on_a_terminal(mark: str) -> None:
    for change in changes(MARKS[mark]):
        assert not UNSEEN.search("\n".join(line.text for line in text_report(change)))


@pytest.mark.harmless
@pytest.mark.parametrize("mark", MARKS)
def test_differences_of_objects_in_a_comment(mark: str) -> None:
    for change in changes(MARKS[mark]):
        markdown = markdown_report(change, title=MARKS[mark], whole=MARKS[mark])
        assert not UNSEEN.search(markdown)
        plain = re.sub(r"<code>[^<>]*</code>|</?(details|summary)>", "", FENCED.sub("", markdown))
        assert not re.search(r"[<>`@\[\]\\]|://|www\.", plain.replace("<https://evil.example.com>", ""))
        assert len(re.findall(r"(?m)^#", plain)) == 1


@pytest.mark.harmless
@pytest.mark.parametrize("mark", MARKS)
def test_differences_of_objects_on_a_page(mark: str) -> None:
    plain = [html_report(result) for result in changes("x")]
    for change, other in zip(changes(MARKS[mark]), plain, strict=True):
        page = html_report(change, title=MARKS[mark])
        assert not UNSEEN.search(page)
        tags, others = (re.findall(r"</?[a-z]+", text, re.IGNORECASE) for text in (page, other))
        assert tags == others
        assert not re.search("href|src=", page.partition("<script>")[0].replace(" src=x", ""))


@pytest.mark.harmless
@pytest.mark.parametrize("mark", MARKS)
def test_differences_of_objects_as_data(mark: str) -> None:
    for change in changes(MARKS[mark]):
        text = json.dumps(plain(json_report(change)))
        assert text.isascii()
        assert not UNSEEN.search(text)


HOSTILE = " ".join(text for name, text in MARKS.items() if "\n" not in text and name != "address")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with Applications, each part of which may hold anything, and what they deploy."""
    folder = tmp_path / "tree"
    (folder / "web").mkdir(parents=True)
    source = {"repoURL": "https://git.example.com/shop", "path": "web", "targetRevision": HOSTILE}
    destination = {"server": "https://kubernetes.default.svc", "namespace": "web"}
    spec = {"project": "default", "source": source, "destination": destination}
    for number, (where, hostile) in enumerate(
        {
            "metadata": {"name": HOSTILE},
            "spec": {"project": HOSTILE, "destination": {"name": HOSTILE, "namespace": HOSTILE}},
            "source": {"path": HOSTILE, "chart": HOSTILE, "repoURL": HOSTILE, "helm": {"values": HOSTILE}},
        }.items()
    ):
        made: dict[str, Any] = {"metadata": {"name": f"app-{number}"}, "spec": {**spec}}
        if where == "source":
            made["spec"]["source"] = hostile
        else:
            made[where] = {**made[where], **hostile}
        head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application"}
        (folder / f"app-{number}.yaml").write_text(json.dumps({**head, **made}))
    metadata = {"name": "a", "annotations": {HOSTILE: HOSTILE}}
    content = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {HOSTILE: HOSTILE}}
    (folder / "web" / "a.json").write_text(
        json.dumps([content, {**content, "kind": HOSTILE, "spec": {"image": HOSTILE}}])
    )
    (folder / "web" / "b.yaml").write_text(f"a: [{HOSTILE}")
    return folder


@pytest.mark.harmless
@pytest.mark.parametrize(
    "command",
    [
        "apps",
        "apps *",
        "diagnostics",
        "render",
        "render app-*",
        "explain app-0",
        "explain",
        "images",
        "test",
        "appsets",
    ],
)
def test_what_is_said_of_applications(tree: Path, command: str, capfd: pytest.CaptureFixture[str]) -> None:
    run(["argocd", *command.split(), "--path", str(tree), "--self-url", "https://git.example.com/shop"])
    out, err = capfd.readouterr()
    assert out or err
    assert not UNSEEN.search(out)
    assert not UNSEEN.search(err)


@pytest.mark.harmless
@pytest.mark.parametrize("view", ["text", "objects"])
def test_the_difference_that_a_compile_shows(world: ClusterWorld, view: str) -> None:
    """Names of objects and files, and their content, come from components. The first output file steers, too."""
    name = "\\u001b]8;;https://evil.example.com\\u0007x\\u202e"
    text = json.dumps(HOSTILE)
    made = (
        f'{{["{name}"]: {{kind: {text}, metadata: {{name: {text}, namespace: {text}}}, data: {{[{text}]: {text}}}}}}}'
    )
    world.component("c-evil", {"component/main.jsonnet": made})
    result = world.compile("--diff", view)
    assert result.code == 0, result.stderr
    assert "evil.example.com" in result.stdout
    assert not UNSEEN.search(result.stdout)


@pytest.mark.harmless
@pytest.mark.parametrize("kind", ["added", "deleted", "renamed", "modified", "mode", "binary", "type"])
def test_names_of_files_with_lines_of_their_own(kind: str) -> None:
    """The name of an output file would say that others go or come."""
    name = "x\n+++ forged\x1b[31m\u202e.yaml"
    old, new = {"old": b"a: 1\n"}, {name: b"a: 1\n"}
    if kind in ("modified", "mode", "binary", "type"):
        old = {name: b"a: 1\n"}
        new = {name: {"modified": b"a: 2\n", "binary": b"\0"}.get(kind, b"a: 1\n")}
    elif kind != "renamed":
        (old, new) = ({}, new) if kind == "added" else ({name: b"a: 1\n"}, {})
    how = {"mode": "modified", "binary": "modified", "type": "type-changed"}.get(kind, kind)
    change = FileChange(how, name if name in old else "old", name)  # type: ignore[arg-type]
    lines = [line.text for line in render(TreeChange((change,)), old, new, DEFAULT_LIMITS)]
    assert lines
    assert not any(UNSEEN.search(line) or "\n" in line for line in lines)


@pytest.mark.harmless
@pytest.mark.parametrize(
    "command", ["catalog explain", "inventory explain c_evil", "catalog objects", "catalog images"]
)
def test_lines_of_their_own_in_explanations(explained: ClusterWorld, command: str) -> None:
    words = command.split()
    if command == "catalog explain":
        [file] = (explained.work / "catalog" / "manifests" / "c-evil").iterdir()
        words.append(str(file))
    result = explained.run("-d", str(explained.work), *words)
    assert "forged" in result.stdout, result.stderr
    assert not UNSEEN.search(result.stdout)
    assert not re.search("(?m)^forged", result.stdout)


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> ClusterWorld:
    """A catalog whose only file, and what is in it, are named with lines of their own, and steer the terminal."""
    world = ClusterWorld(tmp_path_factory.mktemp("explained") / "world")
    text = json.dumps("x\x1b[31m\nforged\u202ey")
    made = f'{{[{text}]: {{apiVersion: "v1", kind: {text}, metadata: {{name: {text}}}, spec: {{image: {text}}}}}}}'
    defaults = f'parameters: {{c_evil: {{{text}: {text}, "=_metadata": {{}}}}}}'
    world.component("c-evil", {"component/main.jsonnet": made, "class/defaults.yml": defaults})
    result = world.compile()
    assert result.code == 0, result.stderr
    return world
