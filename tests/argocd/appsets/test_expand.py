"""Templates of ApplicationSets: both languages, patches, checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from commodore.argocd.appsets.functions import normalized, slug
from commodore.base.errors import InputError, PolicyError
from commodore.base.limits import DEFAULT_LIMITS
from tests.argocd.appsets.conftest import GIT, Sets, set_text


def elements(*several: Any, **fields: Any) -> dict[str, Any]:
    return {"list": {"elements": list(several), **fields}}


A = [elements({"name": "a"})]


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("{{name}}", "a"),
        ("{{ name }}", "a"),
        ("{{x.y}}", "dotted"),
        ("{{{name}}}", "{{{name}}}"),
        ("{{ name | upper }}", "{{ name | upper }}"),
        ("{{nope}}", "{{nope}}"),
        ("a{{name}}b{{name}}", "aaba"),
        ("open {{ name", "open {{ name"),
    ],
)
def test_the_simple_language(sets: Sets, text: str, output: str) -> None:
    made = sets.names([elements({"name": "a", "x.y": "dotted"})], text, go=False)
    assert made == [output]


def test_an_open_tag_beside_a_closed_one_is_an_error(sets: Sets) -> None:
    assert sets.names([elements({"name": "a"})], "{{name}} {{", go=False) == []
    assert sets.error().startswith("205 spec.generators[0], set 0: spec.template.metadata.name is not a valid template")


def test_the_whole_application(sets: Sets) -> None:
    (made,) = sets.expand(set_text(A, "{{.name}}"))
    assert made.data == {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": "a", "namespace": "argocd", "finalizers": ["resources-finalizer.argocd.argoproj.io"]},
        "spec": {
            "project": "default",
            "destination": {"server": "https://kubernetes.default.svc", "namespace": "x"},
            "source": {"repoURL": GIT, "path": "x"},
        },
    }
    assert (made.set, made.path, made.number, made.params) == ("s", "spec.generators[0]", 0, {"name": "a"})


def test_finalizers(sets: Sets) -> None:
    (kept,) = sets.expand(set_text(A, "{{.name}}", syncPolicy={"preserveResourcesOnDeletion": True}))
    assert "finalizers" not in kept.data["metadata"]
    (plain,) = sets.expand(set_text([elements({})], "as-it-stands"))
    assert "finalizers" not in plain.data["metadata"]


@pytest.mark.parametrize(
    ("options", "name", "outcome"),
    [
        ([], "{{.nope}}", "<no value>"),
        (["missingkey=zero"], "{{.nope}}", "<no value>"),
        (["missingkey=error"], "{{.nope}}", 'map has no entry for key "nope"'),
    ],
)
def test_options_of_go_templates(sets: Sets, options: list[str], name: str, outcome: str) -> None:
    made = sets.names(A, name, goTemplateOptions=options)
    assert outcome in (made or [sets.error()])[0]


def test_unknown_options_are_refused(sets: Sets) -> None:
    with pytest.raises(InputError, match="unknown option 'missingkey=panic'"):
        sets.names(A, "x", goTemplateOptions=["missingkey=panic"])


@pytest.mark.requirement("D75")
@pytest.mark.parametrize(
    ("name", "error"),
    [
        (
            "{{ if }}",
            "205 spec.generators[0], set 0: spec.template.metadata.name is not a valid template: template: base:1",
        ),
        ('{{ env "HOME" }}', "205 "),
        (
            "{{ .name.b }}",
            "206 spec.generators[0], set 0: spec.template.metadata.name does not render: template: base:1:8",
        ),
        ('{{ fail "x" }}', "206 "),
        ("{{ now }}", "207 spec.generators[0], set 0: spec.template.metadata.name has a different value"),
        ('{{define "a"}}{{template "a"}}{{end}}{{template "a"}}', "206 "),
    ],
)
def test_templates_that_fail(sets: Sets, name: str, error: str) -> None:
    assert sets.names(A, name) == []
    assert sets.error().startswith(error)


@pytest.mark.parametrize("name", ["{{ range until 100000000 }}x{{ end }}", '{{ repeat 100000000 "xxxxxxxxxx" }}'])
def test_templates_that_reach_a_limit_say_how_to_raise_it(sets: Sets, name: str) -> None:
    assert sets.names(A, name) == []
    (error,) = sets.diagnostics.collected()
    assert (error.code, error.severity) == ("CMD-ARGO-206", "error")
    assert "gotemplate_seconds with COMMODORE_LIMITS" in error.hint


@pytest.mark.parametrize(
    ("template", "output"),
    [
        ('{{ normalize "Prod_EU/1." }}', "prod-eu-1"),
        ('{{ slugify "Feature/One__two!" }}', "feature-one-two"),
        ('{{ slugify 12 true "feature-branch-name" }}', "feature"),
        ('{{ slugify 12 false "feature-branch-name" }}', "feature-bran"),
        ('{{ (fromYaml "a: [1, b]").a }}', "[1 b]"),
        ('{{ index (fromYamlArray "[x, z]") 1 }}', "z"),
        ('{{ toYaml (dict "b" 1 "a" "x") | replace "\\n" "," }}', "a: x,b: 1"),
        ('{{ toYaml (dict "a" (list 1e6 "1e6")) | replace "\\n" "," }}', 'a:,- 1000000,- "1e6"'),
    ],
)
def test_functions_of_argo_cd(sets: Sets, template: str, output: str) -> None:
    assert sets.names(A, template) == [output]


@pytest.mark.parametrize(
    "template", ['{{ slugify "a" "b" }}', '{{ fromYaml "[]" }}', '{{ fromYamlArray "{}" }}', '{{ fromYaml "[" }}']
)
def test_functions_with_wrong_arguments(sets: Sets, template: str) -> None:
    assert sets.names(A, template) == []
    assert sets.error().startswith("206 ")


def test_names_have_a_limit() -> None:
    assert len(normalized("x" * 300)) == 253
    assert len(slug("x" * 300)) == 50


PATCHES = [
    ("spec: {source: {path: z}}", ("source", {"repoURL": GIT, "path": "z"})),
    ("spec: {source: null, sources: [{repoURL: u, chart: c}]}", ("sources", [{"repoURL": "u", "chart": "c"}])),
    ("spec: {project: other}", ("project", "default")),
    ('{"spec": {"info": [{"name": "{{.name}}", "value": ""}]}}', ("info", [{"name": "a", "value": ""}])),
    ("spec: {destination: {$patch: replace, name: c}}", ("destination", {"name": "c"})),
    ("{{ if eq .name `b` }}spec: {}{{ end }}", ("source", {"repoURL": GIT, "path": "x"})),
    ("spec: {unknown: 1, revisionHistoryLimit: 0}", ("revisionHistoryLimit", 0)),
]


@pytest.mark.parametrize(("patch", "field"), PATCHES)
def test_patches(sets: Sets, patch: str, field: tuple[str, Any]) -> None:
    (made,) = sets.expand(set_text(A, "{{.name}}", templatePatch=patch))
    assert made.data["spec"].get(field[0]) == field[1]
    assert "unknown" not in made.data["spec"]


def test_finalizers_of_patches_join(sets: Sets) -> None:
    (made,) = sets.expand(set_text(A, "{{.name}}", templatePatch="metadata: {finalizers: [b], labels: {x: yes}}"))
    assert made.data["metadata"]["finalizers"] == ["resources-finalizer.argocd.argoproj.io", "b"]
    assert made.data["metadata"]["labels"] == {"x": "true"}


@pytest.mark.parametrize(
    ("patch", "why"),
    [("spec: [\n", "is not valid YAML"), ("[]", "must be a map"), ("spec: {source: 5}", "does not fit an Application")],
)
def test_patches_that_are_refused(sets: Sets, patch: str, why: str) -> None:
    assert sets.names(A, "{{.name}}", templatePatch=patch) == []
    assert sets.error().startswith(f"208 spec.generators[0], set 0: the rendered spec.templatePatch {why}")


def test_the_template_of_a_generator_is_filled_from_the_set(sets: Sets) -> None:
    own = {
        "metadata": {"labels": {"gen": "one"}},
        "spec": {"project": "over", "source": {"path": "z"}, "destination": {}},
    }
    first, two = sets.expand(set_text([elements({"name": "a"}, template=own), elements({"name": "b"})], "{{.name}}"))
    assert first.data["spec"]["project"] == "over"
    assert first.data["spec"]["source"] == {"repoURL": GIT, "path": "z"}
    assert first.data["spec"]["destination"]["namespace"] == "x"
    assert (first.name, first.data["metadata"]["labels"]) == ("a", {"gen": "one"})
    assert two.data["spec"]["project"] == "default"


def test_fields_are_those_of_argo_cd(sets: Sets) -> None:
    """Unknown fields are dropped, numbers and booleans become text, zero values are dropped except of pointers."""
    text = set_text(A, "{{.name}}").replace(
        "    spec:\n",
        "    spec:\n"
        "      nonsense: 1\n      revisionHistoryLimit: 0\n      info: [{name: no, value: 1.0}]\n"
        "      syncPolicy: {automated: {prune: false}, retry: {limit: 0}, syncOptions: []}\n",
    )
    (made,) = sets.expand(text)
    spec = made.data["spec"]
    assert spec["info"] == [{"name": "false", "value": "1"}]
    assert spec["syncPolicy"] == {"automated": {"prune": False}, "retry": {}}
    assert (spec["revisionHistoryLimit"], "nonsense" in spec) == (0, False)


def test_a_template_of_wrong_types_is_refused(sets: Sets) -> None:
    text = set_text(A, "{{.name}}").replace("project: default", "project: [a]")
    with pytest.raises(InputError, match=r"spec.template.spec.project must be text, not a list"):
        sets.expand(text)


@pytest.mark.requirement("D75", "D28")
def test_what_looks_wrong_is_said(sets: Sets) -> None:
    sets.names(
        [elements({"name": "a"}, {"name": "a"}, {"name": "Bad_Name"})], "{{.name}}", strategy={"type": "AllAtOnce"}
    )
    assert sets.codes() == ["214", "209", "219"]  # errors first


@pytest.mark.requirement("D75")
def test_a_set_without_applications_is_said(sets: Sets) -> None:
    sets.names([elements()], "{{.name}}")
    assert sets.codes() == ["210"]


@pytest.mark.requirement("D3")
def test_a_set_for_unknown_clusters_is_a_limit(sets: Sets) -> None:
    selector = {"selector": {"matchLabels": {"environment": "prod"}}}
    for generators in ([{"clusters": selector}], [{"matrix": {"generators": [*A, {"clusters": selector}]}}]):
        assert sets.names(generators, "{{.name}}") == []
    assert {(diagnostic.code, diagnostic.severity) for diagnostic in sets.diagnostics.collected()} == {
        ("CMD-ARGO-210", "boundary")
    }
    sets.cluster("one")
    sets.names([{"clusters": selector}], "{{.name}}")
    assert [diagnostic.severity for diagnostic in sets.diagnostics.collected()] == ["warning", "boundary"]


def test_left_over_braces_and_missing_values_are_said(sets: Sets) -> None:
    sets.names(A, "{{.nope}}")
    sets.names(A, "{{nope}}", go=False)
    assert {"215", "216"} <= set(sets.codes())


def test_a_field_with_left_over_braces_is_said_once(sets: Sets) -> None:
    """A template in the other language makes each Application wrong, and is one mistake."""
    sets.names([elements(*({"name": name} for name in "abc"))], "{{name}}-{{nope}}", go=False)
    (told,) = (diagnostic.message for diagnostic in sets.diagnostics.collected() if diagnostic.code == "CMD-ARGO-215")
    assert told == "metadata.name of a-{{nope}} (and of 2 more) still holds {{: 'a-{{nope}}'"


@pytest.mark.requirement("D26")
def test_a_parameter_whose_name_is_a_boolean_without_quotes_is_explained(sets: Sets) -> None:
    sets.names([elements({"false": "gen-c"})], "{{n}}", go=False)
    (hint,) = (diagnostic.hint for diagnostic in sets.diagnostics.collected() if diagnostic.code == "CMD-ARGO-215")
    assert hint == (
        "write the name of the parameter n in quotes where it gets its value: "
        "without quotes n, no, off and false are false"
    )


def test_too_many_applications_are_refused(sets: Sets) -> None:
    sets.limits = replace(DEFAULT_LIMITS, argocd_set_applications=3)
    with pytest.raises(PolicyError, match="makes more than 3 Applications") as caught:
        sets.names([elements(*({"name": f"a{number}"} for number in range(9)))], "{{.name}}")
    assert caught.value.code == "CMD-ARGO-217"


@pytest.mark.requirement("D25", "D85")
def test_expansion_is_the_same_each_time(sets: Sets) -> None:
    sets.files({f"apps/{name}/c.yaml": f"name: {name}\n" for name in "hgfedcba"})
    for name in ("z", "y", "x"):
        sets.cluster(name)
    git = {"git": {"repoURL": GIT, "files": [{"path": "**"}]}}
    text = set_text([{"matrix": {"generators": [git, {"clusters": {}}]}}], "{{.path.basename}}-{{.name}}")
    first = [generated.data for generated in sets.expand(text)]
    assert len(first) == 32
    for _ in range(5):
        sets.clusters.reverse()
        assert [generated.data for generated in sets.expand(text)] == first
