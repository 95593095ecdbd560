"""Names and texts of others where text leaves the program: a terminal, GitHub's log, XML, and reports for scanners."""

from __future__ import annotations

import json
import os
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest

from commodore.authoring import CaseResult, GoldenDifference, SuiteResult, as_junit
from commodore.base.diagnostics import Diagnostic, Subject
from commodore.base.errors import InputError, Location
from commodore.base.events import ClusterEnded, InCluster, Noted, PageToVisit, StageAdvanced, Traced, Warned
from commodore.base.sarif import sarif_log
from commodore.cli.main import run
from commodore.cli.shell.console import Console
from commodore.core.inventory.lint import Report, as_github
from commodore.core.review import DiffLine
from tests.world.cluster import ROOT
from tests.world.folders import write_files
from tests.world.terminal import run_on_terminal

STEERING = (
    "a\x1b]8;;https://evil.example.com\x07b\x1b[8mc\x1b[2Jd\b\b\re\x85f\x9b31mg\u202eh\u2066i\u200fj\u2028k\u2029l"
    "\ud800m\ufffen\ufdd0o\U0001ffffp\x7fq\x00r"
)
COMMANDS = f"{STEERING}\n::error::forged%0A::warning::forged\r\n \t::stop-commands::x\u2028::error::forged##[error]x"
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
OURS = re.compile(r"\x1b\[(?:[012]|22|3[0-7]|9[0-7])m")


@pytest.mark.harmless
@pytest.mark.parametrize("color", [True, False])
def test_everything_that_the_console_shows(color: bool, capfd: pytest.CaptureFixture[str]) -> None:
    console = Console(verbosity=3, color=color)
    console.result(f"\x1b[31m{COMMANDS}\x1b[0m")
    console.note(COMMANDS)
    console.status(COMMANDS)
    console.notices([COMMANDS])
    console.error(InputError("CMD-INV-001", COMMANDS, hint=COMMANDS, locations=[COMMANDS]))
    for event in (
        Warned("CMD-INV-001", COMMANDS, COMMANDS),
        Noted(COMMANDS, 1),
        Traced(COMMANDS, COMMANDS, COMMANDS),
        PageToVisit(COMMANDS, COMMANDS, False),
        StageAdvanced("compiling", COMMANDS, 1.0, COMMANDS),
        ClusterEnded("c-one", "all", "failed", 1.0, code="CMD-INV-001", detail=COMMANDS),
        InCluster("c-one", Warned("CMD-INV-001", COMMANDS, COMMANDS)),
    ):
        console.announce(event)
    out, err = capfd.readouterr()
    assert ("\x1b[31m" in out) == color
    for shown in (out, err):
        assert "evil.example.com" in shown
        plain = OURS.sub("", shown)
        assert not UNSEEN.search(plain)
        assert not re.search(r"(?m)^\s*::|##\[", plain), "GitHub would obey it"


@pytest.mark.harmless
def test_documents_for_machines_are_exact(capfd: pytest.CaptureFixture[str]) -> None:
    """A log of JSON lines, too, has the whole text: JSON writes as escapes what a terminal would obey."""
    console = Console(log_format="json")
    console.data(json.dumps(STEERING))
    console.announce(Warned("CMD-INV-001", STEERING))
    out, err = capfd.readouterr()
    assert json.loads(out) == json.loads(err)["message"] == STEERING
    assert (out + err).isascii()


def quoted(text: str) -> str:
    """A text as a scalar of YAML."""
    return '"' + "".join(item if item.isalnum() else f"\\U{ord(item):08x}" for item in text) + '"'


@pytest.fixture
def hierarchy(tmp_path: Path) -> Path:
    """Class files with names, keys and values that steer a terminal, and mistakes in them."""
    text = quoted(COMMANDS.replace("\ud800", ""))  # YAML has no halves of pairs
    name = "x\b\b\x1b[8m\u202ey"
    mistakes = f"parameters:\n  {text}: {text}\n  components: {{{text}: {{version: 1.2, url: {text}}}}}\n"
    classes = f'classes: [{quoted(f"global.{name}")}]\nparameters:\n  app: {{{text}: {text}, b: "${{app:a}}"}}\n'
    return write_files(
        tmp_path,
        {
            "lint/f\x1b[8m\u202e\b.yml": f"{mistakes}applications: [{text}]\n",
            "defaults/commodore.yml": classes,
            f"defaults/{name}.yml": f"parameters:\n  app: {{a: {text}}}\n",
            "tenant/t.yml": "{}\n",
        },
    )


INVENTORY = [
    "lint lint",
    "lint lint --format github",
    "lint lint --format json",
    "lint lint --format sarif",
    "show defaults",
    "show defaults -o json",
    "explain app defaults",
    "explain app defaults -o json",
    "components defaults",
]


@pytest.mark.harmless
@pytest.mark.parametrize("command", INVENTORY)
def test_class_files_that_steer(hierarchy: Path, command: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(hierarchy)
        run(["inventory", *command.split()])
    out, err = capfd.readouterr()
    assert out or err
    assert "Traceback" not in err
    for shown in (out, err):
        assert not UNSEEN.search(shown)
    if "json" in command or "sarif" in command:
        assert json.loads(out)


@pytest.mark.harmless
@pytest.mark.parametrize("command", ["lint lint", "explain app defaults"])
def test_class_files_that_steer_a_real_terminal(hierarchy: Path, command: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    words = [sys.executable, "-m", "commodore", "inventory", *command.split()]
    _, shown = run_on_terminal(words, environment, hierarchy)
    assert OURS.search(shown)
    assert not UNSEEN.search(OURS.sub("", shown))


@pytest.mark.harmless
def test_workflow_commands_stay_single() -> None:
    """Nothing in a finding begins another command of GitHub Actions, nor another property."""
    place = Location(f"{COMMANDS},title=forged::forged", 1, 1)
    finding = Diagnostic("l/r", COMMANDS, "error", COMMANDS, locations=(place,))
    [line] = as_github(Report((finding,), 1, (), (), {}))
    assert not UNSEEN.search(line)
    assert "\n" not in line
    properties, _, message = line.removeprefix("::error ").partition("::")
    assert [word.partition("=")[0] for word in properties.split(",")] == ["file", "line", "col", "title"]
    assert "%250A::warning" in message
    assert not re.search("%(?!25|0A|3A|2C)", line)


@pytest.mark.harmless
def test_results_of_tests_are_xml() -> None:
    """Texts and names in every place of the document."""
    difference = GoldenDifference("changed", STEERING, (DiffLine("add", STEERING),))
    error = InputError("CMD-INV-001", COMMANDS, hint=STEERING, locations=[STEERING])
    diagnostic = Diagnostic("CMD-TEST-001", COMMANDS, "warning", STEERING)
    cases = (
        CaseResult(STEERING, "differs", 1.0, differences=(difference,)),
        CaseResult(STEERING, "failed", 1.0, errors=(error,), findings=(diagnostic,)),
        CaseResult(STEERING, "failed", 1.0, findings=(diagnostic,)),
    )
    document = as_junit(SuiteResult(STEERING, cases, True, 1.0), datetime(2020, 1, 1, tzinfo=UTC)).decode()
    assert not UNSEEN.search(document)
    assert len(list(ElementTree.fromstring(document).iter("testcase"))) == len(cases)


@pytest.mark.harmless
def test_results_of_applications_are_xml(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application"}
    source = {"repoURL": "https://git.example.com/shop", "path": "gone"}
    text = re.sub("[\ud800\U0001ffff]", "", COMMANDS)  # YAML has no halves of pairs
    spec = {"project": text, "source": source, "destination": {"name": text, "namespace": "x"}}
    for number, name in enumerate(["web", text]):
        content = {**head, "metadata": {"name": name}, "spec": spec}
        (tmp_path / f"{number}.yaml").write_text(json.dumps(content))
    url = "https://git.example.com/shop"
    run(["argocd", "test", "--path", str(tmp_path), "--self-url", url, "-o", "junit"])
    out, _ = capfd.readouterr()
    assert not UNSEEN.search(out)
    assert list(ElementTree.fromstring(out).iter("testcase"))


@pytest.mark.harmless
def test_logs_for_scanners(tmp_path: Path) -> None:
    """Forges show messages and names of objects; the name of a file stays exact, as an address."""
    file = os.fsdecode(b"f\xff\x1b\n.yml")
    forged = Diagnostic("r", COMMANDS, "error", subject=Subject(object=COMMANDS), locations=(Location(file, 1),))
    [result] = json.loads(sarif_log([forged], tmp_path))["runs"][0]["results"]
    assert not UNSEEN.search(result["message"]["text"])
    [place] = result["locations"]
    assert not UNSEEN.search(place["logicalLocations"][0]["fullyQualifiedName"])
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "f%FF%1B%0A.yml"
