"""Definitions that fail are unknown: named in every report, and an error if their inputs have changed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from commodore.argocd.comparing import Difference
from commodore.argocd.comparing.document import difference_record
from commodore.argocd.operations.sarif import as_sarif
from commodore.base.documents import document_text
from commodore.base.errors import InputError
from commodore.core.review import html_report, markdown_report, text_report
from tests.argocd.comparing.conftest import URL, Trees, app, config

pytestmark = pytest.mark.tools


def appset(generator: dict[str, Any], path: str = "x", url: str = URL) -> str:
    """The text of an ApplicationSet, as JSON."""
    template = {"metadata": {"name": "{{name}}"}, "spec": json.loads(app("x", path).replace(URL, url))["spec"]}
    spec = {"generators": [generator], "template": template}
    metadata = {"name": "set", "namespace": "argocd"}
    return json.dumps(
        {"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": metadata, "spec": spec}
    )


PLUGIN: dict[str, Any] = {"plugin": {"configMapRef": {"name": "values"}}}
FILES: dict[str, Any] = {"git": {"repoURL": URL, "files": [{"path": "envs/*.json"}]}}
OTHER = "https://other.example.com/r"
TAB = "kind: Application\napiVersion: argoproj.io/v1alpha1\nmetadata:\n\tname: a\n"
NAMELESS = json.dumps({**json.loads(app("n", "x")), "metadata": {"name": True}})


def head(difference: Difference) -> str:
    return next(iter(text_report(difference.review))).text


def severities(trees: Trees, code: str) -> list[str]:
    return [diagnostic.severity for diagnostic in trees.diagnostics.collected() if diagnostic.code == code]


@pytest.fixture
def plugin(trees: Trees) -> Trees:
    """A set with a plugin generator, whose template reads the folder `x`, and a change of that folder."""
    trees.write({"set.json": appset(PLUGIN), "x/c.json": config(k="1")})
    trees.write({"x/c.json": config(k="2")}, "target")
    return trees


@pytest.mark.requirement("D86", "D87")
def test_a_set_that_cannot_be_expanded_is_unknown_in_every_report(plugin: Trees) -> None:
    difference = plugin.diff()
    assert head(difference) == "1 ApplicationSet unknown, the rest is equal"
    record = difference_record(difference, plugin.sides, plugin.diagnostics.collected(), partial=True)
    reports = (
        "\n".join(line.text for line in text_report(difference.review)),
        markdown_report(difference.review),
        html_report(difference.review),
        document_text("argocd-diff", record),
        as_sarif(plugin.diagnostics.collected(), plugin.root / "target", difference),
    )
    assert all("argocd/set" in report and "x/c.json" in report for report in reports)
    assert not any("no object differs" in report for report in reports)
    (application,) = record.applications
    assert (application.kind, application.state, application.as_before, application.files) == (
        "ApplicationSet",
        "unknown",
        False,
        ("x/c.json",),
    )


@pytest.mark.requirement("D86")
def test_it_is_an_error_unless_allowed_or_its_inputs_are_the_same(plugin: Trees) -> None:
    plugin.diff()
    assert severities(plugin, "CMD-ARGO-807") == ["error"]
    plugin.diff(allow_unknown=True)
    assert severities(plugin, "CMD-ARGO-807") == ["warning"]
    plugin.write({"x/c.json": config(k="1")}, "target")
    difference = plugin.diff()
    assert (severities(plugin, "CMD-ARGO-807"), head(difference)) == ([], "1 ApplicationSet unknown, the rest is equal")
    assert [application.before for application in difference.applications] == [True]


@pytest.mark.parametrize(
    ("text", "changed", "is_input"),
    [
        (appset(PLUGIN, "apps/{{name}}/base"), "apps/a/base/c.json", True),
        (appset(PLUGIN, "apps/{{name}}/base"), "README.md", False),
        (appset(PLUGIN, "{{path}}"), "README.md", True),
        (appset(PLUGIN, "{{path}}"), "one/c.json", False),
        (appset(PLUGIN, "{{path}}", OTHER), "README.md", False),
        (appset({"matrix": {"generators": [PLUGIN, FILES]}}), "envs/a.json", True),
        (NAMELESS, "x/c.json", True),
        (NAMELESS, "README.md", False),
        (app("n", "x", source="x"), "README.md", True),
        (TAB, "README.md", True),
        (TAB, "one/c.json", False),
    ],
    ids=lambda value: str(value)[-20:],
)
def test_the_inputs_of_what_is_unknown(trees: Trees, text: str, changed: str, is_input: bool) -> None:
    """A definition with unknown reads may read all files that nothing else reads."""
    trees.write({"lost.yaml": text, "one.json": app("one", "one"), "one/a.json": config(), "x/a.json": config()})
    trees.write({changed: config("new")}, "target")
    difference = trees.diff()
    assert (
        "unknown" in {application.state for application in difference.applications},
        severities(trees, "CMD-ARGO-807"),
    ) == (
        True,
        ["error"] if is_input else [],
    )


@pytest.mark.requirement("D84", "D87")
def test_an_application_that_fails_as_before_with_other_inputs(trees: Trees) -> None:
    """The same message on both sides does not count if the files that it reads have changed."""
    trees.write({"one.json": app("one", "one"), "two.json": app("two", "two"), "two/a.json": config()})
    trees.write({"one/broken.json": "{", "one/a.json": config(k="1")})
    difference = trees.diff(changed_only=False)
    assert (
        [application.before for application in difference.applications if application.state == "unknown"],
        trees.codes(),
    ) == (
        [True],
        ["CMD-ARGO-401"],
    )
    trees.write({"one/a.json": config(k="2")}, "target")
    for changed_only in (True, False):
        difference = trees.diff(changed_only=changed_only)
        assert severities(trees, "CMD-ARGO-807") == ["error"]
        assert head(difference) == "1 Application unknown, the rest is equal"


def test_an_application_that_cannot_be_read_any_more_is_not_removed(trees: Trees) -> None:
    trees.write({"one.json": app("one", "x"), "two.json": app("two", "x"), "x/a.json": config()}, "base")
    trees.write({"one.json": app("one", "x", source=5), "x/a.json": config()}, "target")
    trees.write({"two.json": app("two", "x")[:-1] + ',"kind: Application":'}, "target")
    states = trees.states()
    assert (states["one"], states["two"]) == ("unknown", "unknown")


def test_an_application_of_applications_that_fails_is_named_though_nothing_has_changed(trees: Trees) -> None:
    trees.write({"root.json": app("root", "apps"), "two.json": app("two", "two"), "two/a.json": config(k="1")})
    trees.write({"apps/kustomization.yaml": "resources: [missing.yaml]\ncommonLabels: {a: argoproj.io/b}\n"})
    trees.write({"two/a.json": config(k="2")}, "target")
    difference = trees.diff()
    assert {application.name: (application.state, application.before) for application in difference.applications} == {
        "argocd/root": ("unknown", True),
        "argocd/two": ("changed", False),
    }
    assert head(difference) == "1 Application unknown, 1 changed"


def test_names_of_what_cannot_be_read(trees: Trees) -> None:
    trees.write({"one.json": app("one", "x"), "jn.json": app("jn", "x", source=5), "x/a.json": config()})
    assert trees.states(names=("jn",)) == {"jn": "unknown"}
    assert trees.states(names=("one",)) == {"one": "unchanged"}
    with pytest.raises(InputError, match="no Application matches 'other'") as raised:
        trees.diff(names=("other",))
    assert raised.value.hint.endswith("it may be among what cannot be read or expanded: argocd/jn")
