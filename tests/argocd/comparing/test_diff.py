"""Comparison of two trees."""

from __future__ import annotations

import json
from typing import Any

import pytest

from commodore.argocd.comparing import Difference
from commodore.argocd.comparing.document import DifferenceRecord, difference_record
from commodore.base.documents import document_text
from commodore.base.errors import CommodoreError, InputError, UsageError
from commodore.core.review import group_title, html_report, markdown_report, text_report
from tests.argocd.comparing.conftest import URL, Trees, app, config

pytestmark = pytest.mark.tools


def titles(difference: Difference) -> list[str]:
    return [group_title(group) for group in difference.review.groups]


def record(trees: Trees, difference: Difference) -> DifferenceRecord:
    return difference_record(difference, trees.sides, trees.diagnostics.collected(), partial=False)


def lines(difference: Difference) -> list[str]:
    return [line.text.strip() for line in text_report(difference.review)]


@pytest.fixture
def two(trees: Trees) -> Trees:
    """Applications `one` and `two` of a folder each, which differ in `one`."""
    trees.write({"apps.json": app("one", "one"), "two.json": app("two", "two"), "two/a.json": config(k="1")})
    trees.write({"one/a.json": config(k="1")}, "base")
    trees.write({"one/a.json": config(k="2")}, "target")
    return trees


@pytest.mark.requirement("D62")
def test_a_link_that_leads_what_is_read_elsewhere(trees: Trees) -> None:
    """The reads of the base are not enough: it has no link."""
    helm = {"valueFiles": ["../values/v.yaml"], "ignoreMissingValueFiles": True}
    source = {"source": {"repoURL": URL, "path": "a", "helm": helm}}
    trees.write({"a.yaml": app("a", "a", **source), "b.yaml": app("b", "b"), "b/c.yaml": config()})
    trees.write({"a/Chart.yaml": "name: a\nversion: 1.0.0\n", "other/v.yaml": "v: 1\n"})
    trees.write({"a/templates/c.yaml": config(v="{{ .Values.v }}")})
    (trees.root / "target" / "values").symlink_to("other")
    assert trees.states() == {"a": "changed", "b": "not-rendered"}


@pytest.mark.requirement("D55", "D61")
def test_one_of_two_changes_and_the_other_is_not_rendered(two: Trees) -> None:
    difference = two.diff()
    assert [(application.name, application.state) for application in difference.applications] == [
        ("argocd/one", "changed"),
        ("argocd/two", "not-rendered"),
    ]
    assert titles(difference) == ["~ ConfigMap one/config in argocd/one"]
    assert two.states(changed_only=False) == {"one": "changed", "two": "unchanged"}


@pytest.mark.requirement("D90")
def test_equal_trees_have_no_difference(trees: Trees) -> None:
    trees.write({"apps.json": app("one", "one"), "two.json": app("two", "one"), "one/a.json": config(k="1")})
    difference = trees.diff(changed_only=False)
    assert (difference.count("unchanged"), difference.review.groups, difference.review.parts) == (2, (), ())


@pytest.mark.requirement("D55")
def test_swapping_the_sides_mirrors_the_result(two: Trees) -> None:
    two.write({"one/new.json": config("new")}, "target")
    there = two.diff()
    (two.root / "base").rename(two.root / "other")
    (two.root / "target").rename(two.root / "base")
    (two.root / "other").rename(two.root / "target")
    back = two.diff()
    assert titles(there) == ["~ ConfigMap one/config in argocd/one", "+ ConfigMap one/new in argocd/one"]
    assert titles(back) == ["~ ConfigMap one/config in argocd/one", "- ConfigMap one/new in argocd/one"]


@pytest.mark.requirement("D85")
def test_two_runs_say_the_same(two: Trees) -> None:
    assert record(two, two.diff()) == record(two, two.diff())


def test_an_application_that_comes_and_one_that_goes(trees: Trees) -> None:
    trees.write({"old.json": app("old", "a"), "a/a.json": config()}, "base")
    trees.write({"new.json": app("new", "a"), "a/a.json": config()}, "target")
    difference = trees.diff()
    assert {application.name: application.state for application in difference.applications} == {
        "argocd/new": "added",
        "argocd/old": "removed",
    }
    assert {flag.name for flag in difference.review.flags} == {"application-removed"}
    assert {change.key.kind for change in difference.review.comparison.changes} == {"Application", "ConfigMap"}


def test_many_applications_that_go_are_a_danger(trees: Trees) -> None:
    trees.write({f"{name}.json": app(name, "x") for name in "abcd"}, "base")
    trees.write({f"x/{number}.json": config(f"c{number}") for number in range(3)})
    flags = [(flag.name, flag.message) for flag in trees.diff().review.flags]
    assert ("mass-removal", "4 of 4 Applications go") in flags


def test_many_objects_that_go_are_a_danger(trees: Trees) -> None:
    trees.write({"a.json": app("a", "x"), "x/keep.json": config("keep")})
    trees.write({f"x/{number}.json": config(f"c{number}", v="x" * number) for number in range(6)}, "base")
    flags = [(flag.name, flag.message, flag.source) for flag in trees.diff().review.flags]
    assert flags == [("mass-removal", "6 of 7 objects of the Application go", "argocd/a")]


@pytest.mark.requirement("D84", "D87")
def test_what_does_not_render_is_unknown_and_nothing_of_it_is_removed(two: Trees) -> None:
    two.write({"one/b.json": "{broken"}, "target")
    difference = two.diff(changed_only=False)
    assert [(application.state, application.note[:24]) for application in difference.applications] == [
        ("unknown", "the file b.json cannot b"),
        ("unchanged", ""),
    ]
    assert difference.review.groups == ()
    assert [(diagnostic.code, diagnostic.severity) for diagnostic in two.diagnostics.collected()] == [
        ("CMD-ARGO-401", "error")
    ]
    assert lines(difference)[1].startswith("? argocd/one")


def test_what_did_not_render_before_is_no_error(two: Trees) -> None:
    two.write({"one/b.json": "{broken", "one/a.json": config(k="1")})
    difference = two.diff(changed_only=False)
    assert [application.before for application in difference.applications if application.state == "unknown"] == [True]
    assert [(diagnostic.code, diagnostic.severity) for diagnostic in two.diagnostics.collected()] == [
        ("CMD-ARGO-401", "info")
    ]
    two.write({"one/b.json": config("b")}, "target")
    two.diff()
    (told,) = two.diagnostics.collected()
    assert (told.severity, told.message[:13]) == ("error", "in the base: ")


def test_what_was_wrong_before_is_no_error_of_the_change(two: Trees) -> None:
    """A definition that is invalid on both sides does not fail a pull request; a definition that the change breaks
    does.
    """
    two.write({"broken.json": app("three", "x", source="x")})
    two.diff()
    (told,) = two.diagnostics.collected()
    assert (told.code, told.severity, told.message[:11]) == ("CMD-ARGO-103", "info", "as before: ")
    two.write({"broken.json": app("three", "x", source=5)}, "target")
    two.diff()
    assert [diagnostic.severity for diagnostic in two.diagnostics.collected()] == ["error", "error"]


@pytest.mark.requirement("D85")
def test_a_difference_that_may_be_of_random_values_alone(trees: Trees) -> None:
    """It is reported although both sides have it: the values are random on both."""
    trees.write({"a.yaml": app("a", "a"), "a/Chart.yaml": "name: a\nversion: 1.0.0\n"})
    trees.write({"a/templates/c.yaml": config(v="{{ randAlphaNum 40 }}")})
    trees.write({"a/README": "changed"}, "target")
    assert trees.states() == {"a": "changed"}
    assert [(diagnostic.code, diagnostic.before) for diagnostic in trees.diagnostics.collected()] == [
        ("CMD-ARGO-429", False)
    ]


def test_a_path_that_was_missing_before_is_no_error_of_the_change(two: Trees) -> None:
    """Messages use the same name for both trees."""
    two.write({"apps.json": app("one", "missing")})
    difference = two.diff(changed_only=False)
    assert [application.before for application in difference.applications if application.state == "unknown"] == [True]
    assert [diagnostic.severity for diagnostic in two.diagnostics.collected()] == ["info"]


@pytest.mark.requirement("D56", "D88")
def test_ignored_differences_are_counted_not_shown(trees: Trees) -> None:
    rule = [{"group": "*", "kind": "ConfigMap", "jsonPointers": ["/data/k"]}]
    trees.write({"a.json": app("a", "x", ignoreDifferences=rule)})
    trees.write({"x/a.json": config(k="1")}, "base")
    trees.write({"x/a.json": config(k="2")}, "target")
    difference = trees.diff()
    assert (difference.review.ignored, difference.review.ignored_only, difference.review.groups) == (1, 1, ())
    assert lines(difference) == ["no object differs; 1 field that rules ignore, all that differs in 1 object"]
    assert titles(trees.diff(ignore_rules="none")) == ["~ ConfigMap a/config in argocd/a"]


@pytest.mark.requirement("D56", "D57")
def test_what_is_shown_though_it_is_ignored_is_marked(trees: Trees) -> None:
    rules = [
        {"group": "*", "kind": "ConfigMap", "jsonPointers": ["/data/k"]},
        {"group": "apps", "kind": "Deployment", "jqPathExpressions": [".spec.containers[].image"]},
    ]
    trees.write({"a.json": app("a", "x", ignoreDifferences=rules)})
    for side, number in (("base", "1"), ("target", "2")):
        labelled = {**json.loads(config(k=number, v=number))}
        labelled["metadata"]["labels"] = {"helm.sh/chart": f"a-{number}"}
        trees.write({"x/a.json": json.dumps(labelled)}, side)
    difference = trees.diff(show_ignored_fields=True)
    headers = [line for line in lines(difference) if line.startswith(("data", "metadata"))]
    assert headers == ["data.k (ignored by a.json:1)", "data.v", "metadata.labels['helm.sh/chart'] (noise)"]
    (change,) = difference.review.comparison.changes
    assert change.ignored == (("metadata.labels['helm.sh/chart']", "noise"), ("data.k", "ignored by a.json:1"))


@pytest.mark.requirement("D56")
@pytest.mark.parametrize(("rules", "shown"), [("both", 0), ("target", 1)])
def test_a_rule_that_goes_still_counts(trees: Trees, rules: str, shown: int) -> None:
    rule = [{"group": "*", "kind": "ConfigMap", "jsonPointers": ["/data/k"]}]
    trees.write({"a.json": app("a", "x", ignoreDifferences=rule), "x/a.json": config(k="1")}, "base")
    trees.write({"a.json": app("a", "x"), "x/a.json": config(k="2")}, "target")
    marked = titles(trees.diff(ignore_rules=rules))
    assert "~ Application.argoproj.io argocd/a" in marked
    assert len(marked) == 1 + shown


def test_dangers_are_seen_before_rules_hide_anything(trees: Trees) -> None:
    def deployment(replicas: int) -> str:
        spec = {"replicas": replicas}
        return json.dumps({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec})

    rule = [{"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}]
    trees.write({"a.json": app("a", "x", ignoreDifferences=rule)})
    trees.write({"x/a.json": deployment(1)}, "base")
    trees.write({"x/a.json": deployment(0)}, "target")
    difference = trees.diff()
    assert ([flag.name for flag in difference.review.flags], difference.review.groups) == (["scaled-to-zero"], ())


@pytest.mark.requirement("D57", "D58")
def test_labels_of_charts_are_hidden_and_counted(trees: Trees) -> None:
    def labelled(version: str) -> str:
        metadata = {"name": "c", "labels": {"helm.sh/chart": version}}
        return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})

    trees.write({"a.json": app("a", "x")})
    trees.write({"x/a.json": labelled("a-1")}, "base")
    trees.write({"x/a.json": labelled("a-2")}, "target")
    difference = trees.diff()
    assert (difference.review.hidden_only, difference.review.groups, difference.count("unchanged")) == (1, (), 1)
    assert len(trees.diff(noise=()).review.groups) == 1


@pytest.mark.requirement("D41")
def test_secrets_are_in_no_report(trees: Trees) -> None:
    def secret(field: str, value: str) -> str:
        return json.dumps({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, field: {"p": value}})

    trees.write({"a.json": app("a", "x"), "b.json": app("b", "y")})
    trees.write({"x/a.json": secret("stringData", "hunter2"), "y/a.json": secret("stringData", "hunter2")}, "base")
    trees.write({"x/a.json": secret("stringData", "hunter3"), "y/a.json": secret("data", "aHVudGVyMg==")}, "target")
    difference = trees.diff()
    assert trees.states() == {"a": "changed", "b": "unchanged"}
    reports = [
        document_text("argocd-diff", record(trees, difference)),
        "\n".join(lines(difference)),
        markdown_report(difference.review),
        html_report(difference.review),
    ]
    for report in reports:
        assert "++++++++" in report
        assert not any(word in report for word in ("hunter", "aHVudGVy"))


def test_equal_changes_of_several_applications_are_one_group(trees: Trees) -> None:
    names = ("red", "green", "blue")
    trees.write({f"{name}.json": app(name, name) for name in names})
    trees.write({f"{name}/a.json": config(f"{name}-config", image="a:1", me=name) for name in names}, "base")
    trees.write({f"{name}/a.json": config(f"{name}-config", image="a:2", me=name) for name in names}, "target")
    trees.write({f"{name}/b.json": config(f"{name}-new", me=name) for name in names}, "target")
    difference = trees.diff()
    assert [len(group.changes) for group in difference.review.groups] == [3, 3]
    assert titles(difference)[0] == "~ ConfigMap blue/blue-config and 2 more in 3 Applications"
    assert "in argocd/blue, argocd/green, argocd/red" in lines(difference)
    assert "in argocd/blue, argocd/green, argocd/red" in markdown_report(difference.review)


def test_flags_belong_to_the_application_of_the_object(trees: Trees) -> None:
    def claim(name: str) -> str:
        return json.dumps({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}})

    here = {"server": "https://kubernetes.default.svc", "namespace": "same"}
    there = {"server": "https://other.example.com", "namespace": "same"}
    trees.write({"a.json": app("a", "x", destination=here), "b.json": app("b", "y", destination=there)})
    trees.write({"x/c.json": config(k="1"), "y/c.json": config(k="1"), "x/p.json": claim("data")}, "base")
    trees.write({"x/c.json": config(k="2"), "y/c.json": config(k="3"), "y/p.json": claim("data")}, "target")
    difference = trees.diff()
    assert len(difference.review.groups) == 4
    removed = next(group for group in difference.review.groups if group.changes[0].kind == "removed")
    assert (removed.sources, [flag.source for flag in removed.flags]) == (("argocd/a",), ["argocd/a"])
    assert [flag.name for flag in difference.review.flags] == ["deletes-volume"]


def test_a_changed_destination_is_a_danger(trees: Trees) -> None:
    trees.write({"x/c.json": config(k="1")})
    trees.write({"a.json": app("a", "x")}, "base")
    there = {"server": "https://other.example.com", "namespace": "a"}
    trees.write({"a.json": app("a", "x", destination=there, project="other")}, "target")
    assert [flag.name for flag in trees.diff().review.flags] == ["destination-changed", "project-changed"]


def test_an_application_that_another_one_renders_is_shown_once(trees: Trees) -> None:
    trees.write({"root.json": app("root", "apps"), "x/c.json": config(k="1")})
    trees.write({"apps/a.json": app("a", "x")}, "base")
    trees.write({"apps/a.json": app("a", "x", project="other")}, "target")
    difference = trees.diff()
    assert [(change.key.name, change.source) for change in difference.review.comparison.changes] == [
        ("a", "argocd/root")
    ]


@pytest.mark.requirement("D66", "D67")
def test_which_changed_files_count(two: Trees) -> None:
    assert two.states(changed_include=("two/**",)) == {"one": "not-rendered", "two": "not-rendered"}
    assert two.codes() == ["CMD-ARGO-802"]
    assert two.states(changed_include=("one/**",)) == {"one": "changed", "two": "not-rendered"}
    both = {"changed_include": ("one/**",), "changed_ignore": ("**/*.json",)}
    assert two.states(**both) == {"one": "not-rendered", "two": "not-rendered"}
    with pytest.raises(UsageError, match="invalid pattern '\\['") as caught:
        two.diff(changed_include=("[",))
    assert caught.value.code == "CMD-ARGO-025"


@pytest.mark.requirement("D64", "D66", "D67")
def test_patterns_of_changed_files_that_fit_nothing(two: Trees) -> None:
    with pytest.raises(UsageError, match="changed-include 'tow/") as caught:
        two.diff(changed_include=("one/**", "tow/**"))
    assert caught.value.code == "CMD-ARGO-037"
    two.diff(changed_ignore=("tow/**",))
    assert [(diagnostic.code, diagnostic.severity) for diagnostic in two.diagnostics.collected()] == [
        ("CMD-ARGO-037", "warning")
    ]
    with pytest.raises(UsageError, match="invalid pattern '\\['"):
        two.diff(names=("one",), changed_include=("[",))


@pytest.mark.requirement("D64", "D65")
def test_it_is_seen_that_nothing_is_rendered(two: Trees) -> None:
    """Without changed files nothing is reported."""

    def severities(**options: Any) -> list[tuple[str, str]]:
        two.diff(**options)
        return [(diagnostic.code, diagnostic.severity) for diagnostic in two.diagnostics.collected()]

    assert severities(changed_include=("two/**",)) == [("CMD-ARGO-802", "warning")]
    two.write({"README": "1", "one/a.json": config(k="same"), "two/a.json": config(k="same")})
    assert severities() == [("CMD-ARGO-802", "info")]
    two.write({"README": "2"}, "target")
    assert severities() == [("CMD-ARGO-806", "warning")]
    assert severities(strict_changed_only=True) == [("CMD-ARGO-806", "error")]


@pytest.mark.requirement("D68")
def test_changed_files_from_a_list(two: Trees) -> None:
    listed = two.root / "changed.txt"
    listed.write_text("./two/a.json\n\n", encoding="utf-8")
    assert two.states(changed_file=listed) == {"one": "not-rendered", "two": "unchanged"}
    with pytest.raises(InputError, match="cannot be read") as caught:
        two.diff(changed_file=two.root / "none")
    assert caught.value.code == "CMD-ARGO-024"


@pytest.mark.requirement("D63")
def test_changed_settings_concern_all(two: Trees) -> None:
    text = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: argocd-cm}\ndata: {installationID: '%s'}\n"
    two.write({"cm.yaml": text % "a"}, "base")
    two.write({"cm.yaml": text % "b"}, "target")
    assert set(two.states().values()) == {"changed"}


@pytest.mark.requirement("D64", "D65")
def test_unknown_reads_are_told_and_rendered(two: Trees) -> None:
    two.write({"two/.argocd-source.yaml": "[]"})
    assert two.states() == {"one": "changed", "two": "unknown"}
    told = {diagnostic.code: diagnostic.severity for diagnostic in two.diagnostics.collected()}
    assert told["CMD-ARGO-801"] == "warning"
    two.diff(strict_changed_only=True)
    assert {diagnostic.code: diagnostic.severity for diagnostic in two.diagnostics.collected()}[
        "CMD-ARGO-801"
    ] == "error"


@pytest.mark.requirement("D69")
def test_a_file_of_two_applications_concerns_both(trees: Trees) -> None:
    trees.write({"a.json": app("a", "x"), "b.json": app("b", "x"), "c.json": app("c", "y"), "y/c.json": config()})
    trees.write({"x/c.json": config(k="1")}, "base")
    trees.write({"x/c.json": config(k="2")}, "target")
    assert trees.states() == {"a": "changed", "b": "changed", "c": "not-rendered"}


def annotated(name: str, path: str, paths: str) -> str:
    """An Application with the annotation `manifest-generate-paths`."""
    value = json.loads(app(name, path))
    value["metadata"]["annotations"] = {"argocd.argoproj.io/manifest-generate-paths": paths}
    return json.dumps(value)


@pytest.mark.requirement("D62")
def test_the_annotation_adds_to_what_is_read(trees: Trees) -> None:
    trees.write({"a.json": annotated("a", "x", ".; /lib/*.json;"), "b.json": app("b", "y"), "c.json": app("c", "z")})
    trees.write({"x/c.json": config(k="1"), "y/c.json": config(k="1"), "z/c.json": config(k="1")})
    trees.write({"lib/k.json": "1", "lib/deep/k.json": "1", "README": "1"}, "base")
    trees.write({"lib/k.json": "2", "lib/deep/k.json": "2", "README": "2"}, "target")
    difference = trees.diff()
    assert {application.name: (application.state, application.files) for application in difference.applications} == {
        "argocd/a": ("unchanged", ("lib/k.json",)),
        "argocd/b": ("not-rendered", ()),
        "argocd/c": ("not-rendered", ()),
    }
    (told,) = trees.diagnostics.collected()
    assert (told.code, told.severity) == ("CMD-ARGO-806", "info")
    assert told.message == "2 changed files belong to no compared Application: README, lib/deep/k.json"


@pytest.mark.requirement("D62", "D75")
def test_what_the_annotation_misses_is_told(trees: Trees) -> None:
    trees.write({"a.json": annotated("a", "x", "/x/a.json"), "b.json": app("b", "y"), "y/c.json": config(k="1")})
    trees.write({"x/a.json": config("a"), "x/c.json": config("c", k="1")}, "base")
    trees.write({"x/a.json": config("a"), "x/c.json": config("c", k="2"), "y/new.json": config("new")}, "target")
    assert trees.states() == {"a": "changed", "b": "changed"}
    (told,) = trees.diagnostics.collected()
    assert (told.code, told.severity, told.subject.application) == ("CMD-ARGO-804", "info", "argocd/a")
    assert told.message.endswith("misses files that the Application reads: x/c.json")
    trees.write({"a.json": annotated("a", "x", "."), "z": "1"}, "target")
    assert {application.name: application.files for application in trees.diff().applications} == {
        "argocd/a": ("a.json", "x/c.json"),  # it is defined anew, so Argo CD looks at it anyway
        "argocd/b": ("y/new.json",),
    }
    assert trees.codes() == ["CMD-ARGO-806"]


def test_what_sets_read_belongs_to_them(trees: Trees) -> None:
    spec = {"generators": [{"list": {"elements": [{"n": "s"}]}}], "template": json.loads(app("{{n}}", "y"))}
    value = {"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": {"name": "s"}, "spec": spec}
    trees.write({"a.json": app("a", "x"), "set.json": json.dumps(value)})
    trees.write({"x/c.json": config(k="1"), "y/c.json": config(k="1")})
    trees.write({"elements.json": "2"}, "target")
    assert trees.states() == {"a": "not-rendered", "s": "not-rendered"}
    assert trees.codes() == []


def test_applications_by_name_on_either_side(two: Trees) -> None:
    two.write({"gone.json": app("gone", "two")}, "base")
    assert two.states(names=("gone",)) == {"gone": "removed"}
    assert two.states(names=("two",)) == {"two": "unchanged"}  # one alone is always rendered
    assert two.states(select="project=none") == {}
    with pytest.raises(CommodoreError, match="no Application matches 'gnoe'"):
        two.diff(names=("gnoe",))


def test_hooks_can_be_left_out(trees: Trees) -> None:
    def job(image: str) -> str:
        metadata = {"name": "j", "annotations": {"argocd.argoproj.io/hook": "PreSync"}}
        return json.dumps({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"image": image}})

    trees.write({"a.json": app("a", "x")})
    trees.write({"x/a.json": job("a:1")}, "base")
    trees.write({"x/a.json": job("a:2")}, "target")
    assert (trees.states(), trees.states(hooks="hide")) == ({"a": "changed"}, {"a": "unchanged"})


@pytest.mark.requirement("D86")
def test_a_markdown_report_that_is_cut_says_so(trees: Trees) -> None:
    names = [f"app-{number:03d}" for number in range(120)]
    trees.write({f"{name}.json": app(name, name) for name in names})
    trees.write({f"{name}/a.json": config(f"c-{name}", k="1") for name in names}, "base")
    trees.write(
        {f"{name}/a.json": config(f"c-{name}", k=f"{name * 40}x{index}") for index, name in enumerate(names)}, "target"
    )
    report = markdown_report(trees.diff().review, budget=4096)
    assert len(report.encode()) <= 4096
    assert "Not everything fits here" in report
    assert " more | |" in report


def test_no_applications_on_one_side(trees: Trees) -> None:
    trees.write({"a.json": app("a", "x"), "x/a.json": config()}, "target")
    assert trees.states() == {"a": "added"}
    assert trees.codes() == []


def test_the_url_of_the_repository_is_that_of_ssh_too(trees: Trees) -> None:
    source = {"repoURL": URL.replace("https://git.example.com/", "git@git.example.com:"), "path": "x"}
    trees.write({"a.json": app("a", "x", source=source)})
    trees.write({"x/a.json": config(k="1")}, "base")
    trees.write({"x/a.json": config(k="2")}, "target")
    assert trees.states() == {"a": "changed"}


@pytest.mark.requirement("D87")
@pytest.mark.parametrize("side", ["base", "target"])
def test_what_a_broken_parent_made_is_unknown(trees: Trees, side: str) -> None:
    trees.write({"root.json": app("root", "apps"), "apps/a.jsonnet": app("a", "x"), "x/c.json": config(k="1")})
    trees.write({"apps/a.jsonnet": f"{app('a', 'x')} /* argoproj.io/v1alpha1 */ +"}, side)
    difference = trees.diff()
    assert [(application.name, application.state) for application in difference.applications] == [
        ("argocd/a", "unknown"),
        ("argocd/root", "unknown"),
    ]
    assert difference.applications[0].note.endswith("argocd/root, which renders it, does not render")
    assert not any(flag.name == "application-removed" for flag in difference.review.flags)


@pytest.mark.requirement("D87")
def test_what_a_broken_set_made_is_unknown(trees: Trees) -> None:
    def appset(generator: object) -> str:
        template = {"metadata": {"name": "{{name}}"}, "spec": json.loads(app("x", "x"))["spec"]}
        spec = {"generators": [generator], "template": template}
        metadata = {"name": "set", "namespace": "argocd"}
        return json.dumps(
            {"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": metadata, "spec": spec}
        )

    trees.write({"x/c.json": config(k="1")})
    trees.write({"set.json": appset({"list": {"elements": [{"name": "a"}]}})}, "base")
    trees.write({"set.json": appset({"git": {"repoURL": URL, "directories": [{"path": "["}]}})}, "target")
    assert trees.states() == {"set": "unknown", "a": "unknown"}


@pytest.mark.requirement("D61")
def test_what_is_not_rendered_would_be_unchanged(two: Trees) -> None:
    two.write({"three.json": app("three", "two"), "four.json": app("four", "k")})
    two.write({"k/code.jsonnet": "[import '../one/a.json']"})
    some, every = two.diff(), two.diff(changed_only=False)
    before = {verdict.name: verdict for verdict in every.applications}
    for verdict in some.applications:
        assert verdict.state == before[verdict.name].state or (verdict.state, before[verdict.name].state) == (
            "not-rendered",
            "unchanged",
        )
    assert record(two, some).groups == record(two, every).groups
    assert some.count("not-rendered") == 2


def test_what_charts_are_told_counts_when_applications_are_looked_for(trees: Trees) -> None:
    """An Application that a chart renders only if the cluster has an API."""
    template = '{{ if .Capabilities.APIVersions.Has "example.com/v1" }}' + app("child", "child") + "{{ end }}"
    trees.write({"parent.json": app("parent", "parent"), "child/a.json": config()})
    trees.write(
        {
            "parent/Chart.yaml": "apiVersion: v2\nname: parent\nversion: 1.0.0\n",
            "parent/templates/child.yaml": template,
        },
    )
    assert set(trees.states()) == {"parent"}
    assert set(trees.states(api_version=("example.com/v1",))) == {"child", "parent"}


def test_objects_of_some_kinds_alone(trees: Trees) -> None:
    pod = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"a": "%s"}}}'
    trees.write({"a.json": app("a", "x")})
    for side, value in (("base", "1"), ("target", "2")):
        trees.write({"x/c.json": config(k=value), "x/p.json": pod % value}, side)
    assert titles(trees.diff(kind=("Pod",))) == ["~ Pod a/p in argocd/a"]
    assert titles(trees.diff(skip_kind=("Pod",))) == ["~ ConfigMap a/config in argocd/a"]


@pytest.mark.requirement("D59")
def test_what_only_a_cluster_can_compare_is_told(trees: Trees) -> None:
    options = {"argocd.argoproj.io/compare-options": "IgnoreExtraneous,ServerSideDiff=true"}
    settings = {"kind": "ConfigMap", "metadata": {"name": "argocd-cmd-params-cm"}}
    settings["data"] = {"controller.diff.server.side": "true"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "annotations": options}}
    policy = {"syncPolicy": {"syncOptions": ["ServerSideApply=true", "CreateNamespace=true"]}}
    trees.write({"a.json": app("a", "x", **policy), "x/p.json": json.dumps(pod), "cm.json": json.dumps(settings)})
    trees.diff()
    told = [
        (diagnostic.message.partition(" has")[0], diagnostic.severity)
        for diagnostic in trees.diagnostics.collected()
        if "706" in diagnostic.code
    ]
    assert told == [(name, "info") for name in ("ServerSideApply=true", "ServerSideDiff=true", SERVER_SIDE)]


SERVER_SIDE = "controller.diff.server.side"
