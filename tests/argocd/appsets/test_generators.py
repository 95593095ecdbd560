"""Every generator, offline: its parameters and errors."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from commodore.argocd.configuration.profiles import PROFILES
from tests.argocd.appsets.conftest import GIT, Sets, set_text

TREE = {
    "apps/a/config.yaml": "name: one\nport: 8080\nbig: 1000000\nlist: [x, {z: true}]\n",
    "apps/b/config.yaml": "- name: two\n- name: three\n",
    "apps/b/deep/config.yaml": "name: four\n",
    "apps/.hidden/config.yaml": "name: hidden\n",
    "README.md": "no parameters\n",
}


def git(**fields: Any) -> dict[str, Any]:
    return {"git": {"repoURL": GIT, "revision": "HEAD", **fields}}


def elements(*several: Any, **fields: Any) -> dict[str, Any]:
    return {"list": {"elements": list(several), **fields}}


@pytest.mark.requirement("D26")
@pytest.mark.parametrize(
    ("patterns", "folders"),
    [
        (["*"], ["apps"]),
        (["apps/*"], ["apps/a", "apps/b"]),
        (["apps/*", "!apps/b"], ["apps/a"]),
        (["!apps/*", "apps/a"], []),
        (["apps/*/*"], ["apps/b/deep"]),
        (["apps/**"], ["apps/a", "apps/b"]),
        (["apps/[ab]"], ["apps/a", "apps/b"]),
        (["apps/[^a]"], ["apps/b"]),
        (["apps/[!a]"], ["apps/a"]),
        (["apps/?", "apps/b/deep"], ["apps/a", "apps/b", "apps/b/deep"]),
        ([".*", "apps/.hidden"], []),
    ],
)
def test_folders(sets: Sets, patterns: list[str], folders: list[str]) -> None:
    sets.files(TREE)
    entries = [{"path": pattern.removeprefix("!"), "exclude": pattern.startswith("!")} for pattern in patterns]
    made = sets.expand(set_text([git(directories=entries)], "{{.path.basename}}"))
    assert [generated.params["path"]["path"] for generated in made] == folders
    assert sets.asked == [(GIT, "HEAD")]


def test_hidden_folders_if_the_installation_wants_them(sets: Sets) -> None:
    sets.files(TREE)
    sets.parameters["reposerver.include.hidden.directories"] = "true"
    assert sets.names([git(directories=[{"path": "apps/.*"}])], "n{{.path.basename}}") == ["n.hidden"]


@pytest.mark.requirement("D26")
@pytest.mark.parametrize(
    ("new", "patterns", "names"),
    [
        (False, ["apps/*/config.yaml"], ["hidden", "one", "two", "three", "four"]),
        (False, ["apps/*/config.yaml", "!apps/b/*"], ["hidden", "one"]),
        (False, ["apps/b"], ["two", "three", "four"]),
        (False, ["apps/**/config.yaml", "!apps/.hidden"], ["one", "two", "three", "four"]),
        (True, ["apps/*/config.yaml"], ["hidden", "one", "two", "three"]),
        (True, ["apps/{a,b}/**/config.yaml"], ["one", "two", "three", "four"]),
        (True, ["**/deep/*.yaml"], ["four"]),
        (True, ["apps/b"], []),
    ],
)
def test_files(sets: Sets, new: bool, patterns: list[str], names: list[str]) -> None:
    sets.files(TREE)
    sets.parameters["applicationsetcontroller.enable.new.git.file.globbing"] = str(new).lower()
    entries = [{"path": pattern.removeprefix("!"), "exclude": pattern.startswith("!")} for pattern in patterns]
    assert sets.names([git(files=entries)], "{{.name}}") == names


def test_parameters_of_files_in_both_languages(sets: Sets) -> None:
    sets.files(TREE)
    generator = git(files=[{"path": "apps/a/config.yaml"}], values={"v": "{{port}}"})
    (flat,) = sets.expand(set_text([generator], "{{name}}", go=False))
    assert flat.params == {
        "name": "one",
        "port": "8080",
        "big": "1e+06",
        "list.0": "x",
        "list.1.z": "true",
        "path": "apps/a",
        "path.basename": "a",
        "path.basenameNormalized": "a",
        "path.filename": "config.yaml",
        "path.filenameNormalized": "config.yaml",
        "path[0]": "apps",
        "path[1]": "a",
        "values.v": "8080",
    }
    generator["git"]["values"] = {"v": "{{ .port | int | add 1 }}"}
    (nested,) = sets.expand(set_text([generator], "{{.name}}"))
    assert nested.params["big"] == 1000000.0
    assert nested.params["path"]["segments"] == ["apps", "a"]
    assert nested.params["values"] == {"v": "8081"}


def test_a_prefix_sets_two_paths_apart(sets: Sets) -> None:
    sets.files(TREE)
    both = [git(directories=[{"path": "apps/a"}], pathParamPrefix=prefix) for prefix in ("p", "q")]
    assert sets.names([{"matrix": {"generators": both}}], "{{.p.path.basename}}{{.q.path.basename}}") == ["aa"]
    assert sets.names([both[0]], "{{p.path}}-{{p.path[1]}}", go=False) == ["apps/a-a"]


@pytest.mark.requirement("D26")
@pytest.mark.parametrize("entry", [{"directories": [{"path": "apps/n*"}]}, {"files": [{"path": "apps/n*/*.yaml"}]}])
def test_files_count_before_they_are_added(sets: Sets, entry: dict[str, Any]) -> None:
    """A new folder gives an Application before it is added; a removed or ignored folder does not."""
    sets.files({**TREE, ".gitignore": "apps/not\n", "apps/nil/config.yaml": "name: nil\n"})
    sets.files({"apps/new/config.yaml": "name: new\n", "apps/not/config.yaml": "name: not\n"}, tracked=False)
    (sets.root / "apps/nil/config.yaml").unlink()
    (sets.root / "apps/nil").rmdir()
    assert sets.names([git(**entry)], "{{.path.basename}}") == ["new"]
    assert sets.codes() == []


def test_a_folder_that_is_no_checkout(sets: Sets) -> None:
    sets.files(TREE, tracked=False)
    assert sets.names([git(directories=[{"path": "apps/*"}])], "{{.path.basename}}") == ["a", "b"]


@pytest.mark.requirement("D27", "D75")
@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, "201 spec.generators[0].git names neither directories nor files"),
        ({"files": [{"path": "README.md"}]}, "220 the file README.md of a git generator must be a map or"),
        ({"files": [{"path": "bad.yaml"}]}, "220 the file bad.yaml of a git generator is not valid YAML"),
        ({"files": [{"path": "out.yaml"}]}, "220 the file out.yaml of a git generator is a link to a path outside"),
        ({"directories": [{"path": "["}]}, "201 spec.generators[0].git: invalid pattern '['"),
        ({"files": [{"path": ":(glob)x"}]}, "201 spec.generators[0].git: invalid pattern ':(glob)x'"),
    ],
)
def test_a_bad_git_generator_stops_only_itself(sets: Sets, fields: dict[str, Any], error: str) -> None:
    sets.root.mkdir()
    (sets.root / "out.yaml").symlink_to("/etc/hostname")
    sets.files({**TREE, "bad.yaml": "a: [\n"})
    assert sets.names([git(**fields), elements({"name": "kept"})], "{{.name}}") == ["kept"]
    assert sets.error().startswith(error)


@pytest.mark.requirement("D26")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("two.json", '{"name": "first"}\n{"name": "second"}\n'),
        ("two.json", '{"name": "first"}\n---\n{"name": "second"}\n'),
        ("two.json", '{"name": "first"}\n---\n{"name": [\n'),
        ("two.yaml", "name: first\n---\nname: second\n"),
    ],
)
def test_the_first_document_of_a_file_counts(sets: Sets, name: str, text: str) -> None:
    sets.files({name: text})
    assert sets.names([git(files=[{"path": name}])], "{{.name}}") == ["first"]
    assert sets.warnings() == [
        f"220 the file {name} of a git generator holds several documents; only the first is used"
    ]


def test_an_empty_file_is_one_set(sets: Sets) -> None:
    sets.files({"apps/c/config.yaml": ""})
    assert sets.names([git(files=[{"path": "**/config.yaml"}])], "{{.path.basename}}") == ["c"]


@pytest.mark.requirement("D26")
def test_clusters_by_labels(sets: Sets) -> None:
    sets.cluster("dev", env="dev", tier="1")
    sets.cluster("prod_EU.1", env="prod")
    everything = {"clusters": {}}
    assert sets.names([everything], "{{.nameNormalized}}") == ["dev", "prod-eu.1", "in-cluster"]
    labels = {"clusters": {"selector": {"matchLabels": {"env": "prod"}}}}
    assert sets.names([labels], "{{.nameNormalized}}") == ["prod-eu.1"]
    rule = {"key": "tier", "operator": "Exists"}
    chosen = {"clusters": {"selector": {"matchExpressions": [rule]}, "values": {"v": "{{.metadata.labels.env}}"}}}
    assert sets.names([chosen], "{{.name}}-{{.values.v}}") == ["dev-dev"]
    flat = {"clusters": {"flatList": True, "selector": {"matchLabels": {"env": "none"}}}}
    assert sets.names([flat], "n{{len .clusters}}") == ["n0"]


def test_the_local_cluster_is_added_once(sets: Sets) -> None:
    sets.cluster("hub")
    sets.clusters[0] = replace(sets.clusters[0], server="https://kubernetes.default.svc", project="p")
    assert sets.names([{"clusters": {}}], "{{name}}-{{project}}", go=False) == ["hub-p"]


@pytest.mark.parametrize(
    ("operator", "values", "names"),
    [
        ("In", ["a"], ["a"]),
        ("NotIn", ["a"], ["b", "c"]),
        ("Exists", [], ["a", "b"]),
        ("DoesNotExist", [], ["c"]),
    ],
)
def test_selectors_of_entries(sets: Sets, operator: str, values: list[str], names: list[str]) -> None:
    rule = {"key": "in.k", "operator": operator, "values": values}
    entry = elements({"name": "a", "in": {"k": "a"}}, {"name": "b", "in": {"k": "b"}}, {"name": "c"})
    entry["selector"] = {"matchExpressions": [rule]}
    assert sets.names([entry], "{{.name}}") == names


def test_an_unknown_operator_is_an_error(sets: Sets) -> None:
    entry = elements({"name": "a"}) | {"selector": {"matchExpressions": [{"key": "n", "operator": "Like"}]}}
    assert sets.names([entry], "{{.name}}") == []
    assert sets.error().startswith("103 unknown operator 'Like'")


def test_several_generators_in_one_entry(sets: Sets) -> None:
    assert sets.names([{"clusters": {}, "list": {"elements": [{"name": "a"}]}}], "{{.name}}") == ["a", "in-cluster"]


@pytest.mark.requirement("D26")
def test_values_of_a_matrix_before_argo_cd_3_4(sets: Sets) -> None:
    """They saw only the parameters of their own generator."""
    clusters = {"clusters": {"values": {"v": "{{.a}}"}}}
    both = [{"list": {"elements": [{"a": "1"}]}}, clusters]
    assert sets.names([{"matrix": {"generators": both}}], "x-{{.values.v}}") == ["x-1"]
    sets.profile = PROFILES[3]
    assert sets.names([{"matrix": {"generators": both}}], "x-{{.values.v}}") != ["x-1"]


def test_matrix_renders_the_second_with_the_first(sets: Sets) -> None:
    sets.files(TREE)
    first = elements({"dir": "a"}, {"dir": "b"})
    second = git(directories=[{"path": "apps/{{.dir}}"}], values={"v": "{{.dir}}", "own": "{{.path.basename}}"})
    names = sets.names([{"matrix": {"generators": [first, second]}}], "{{.values.v}}-{{.values.own}}")
    assert names == ["a-a", "b-b"]
    nested = {"matrix": {"generators": [first, elements({"q": "2"})]}}
    nested = {"matrix": {"generators": [elements({"p": "1"}), nested]}}
    assert sets.names([nested], "n{{.p}}{{.dir}}{{.q}}") == ["n1a2", "n1b2"]


@pytest.mark.parametrize(("go", "name"), [(True, "first"), (False, None)])
def test_the_same_key_in_a_matrix(sets: Sets, go: bool, name: str | None) -> None:
    both = [elements({"k": "first"}), elements({"k": "second"})]
    names = sets.names([{"matrix": {"generators": both}}], "{{.k}}" if go else "{{k}}", go=go)
    assert names == ([name] if name else [])
    if not go:
        assert sets.error().startswith("213 spec.generators[0].matrix: both generators give the parameter k")


@pytest.mark.requirement("D26")
def test_merge_lays_later_generators_over_the_first(sets: Sets) -> None:
    base = elements({"id": "1", "name": "a", "v": {"x": "1", "w": "0"}}, {"id": "2", "name": "b", "v": {"x": "2"}})
    over = elements({"id": "2", "v": {"x": "9", "z": "3"}}, {"id": "3", "name": "dropped"})
    generator = {"merge": {"mergeKeys": ["id"], "generators": [base, over]}}
    assert sets.names([generator], "{{.name}}-{{.v}}") == ["a-map[w:0 x:1]", "b-map[x:9 z:3]"]


@pytest.mark.requirement("D75")
@pytest.mark.parametrize(
    ("generator", "error"),
    [
        ({"matrix": {"generators": [elements()]}}, "211 spec.generators[0].matrix has 1 generators instead of two"),
        ({"merge": {"generators": [elements()], "mergeKeys": ["a"]}}, "211 spec.generators[0].merge has 1 generators"),
        ({"merge": {"generators": [elements(), elements()]}}, "212 spec.generators[0].merge names no mergeKeys"),
        (
            {"merge": {"mergeKeys": ["a.b"], "generators": [elements({"x": "1"}, {"x": "2"}), elements()]}},
            "212 spec.generators[0].merge: two sets of one generator have the same mergeKeys",
        ),
        (
            {"matrix": {"generators": [elements({"a": "b"}), {"list": {}, "clusters": {}}]}},
            "211 spec.generators[0].matrix.generators[1] holds several generators: list, clusters",
        ),
    ],
)
def test_shapes_that_are_refused(sets: Sets, generator: dict[str, Any], error: str) -> None:
    assert sets.names([generator], "x") == []
    assert sets.error().startswith(error)


def test_nesting_three_deep_is_refused(sets: Sets) -> None:
    inner: dict[str, Any] = elements({"a": "b"})
    for _ in range(3):
        inner = {"matrix": {"generators": [elements({"c": "d"}), inner]}}
    assert sets.names([inner], "x") == []
    assert sets.error().startswith("211 ")


@pytest.mark.requirement("D27")
@pytest.mark.parametrize(("key", "hint"), [("lists", "did you mean 'list'"), ("generator", "generators are")])
def test_unknown_generators_are_told_with_a_suggestion(sets: Sets, key: str, hint: str) -> None:
    from commodore.base.errors import InputError

    with pytest.raises(InputError, match=f"has no known generator: {key}") as caught:
        sets.names([{key: {}}], "x")
    assert caught.value.code == "CMD-ARGO-201"
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("element", "error"),
    [
        ("text", "103 spec.generators[0].list.elements[0] must be a map"),
        ({"count": 5}, "103 spec.generators[0].list.elements[0].count must be text"),
        ({"values": {"a": 5}}, "103 spec.generators[0].list.elements[0].values.a must be text"),
    ],
)
def test_elements_of_the_simple_language_are_texts(sets: Sets, element: Any, error: str) -> None:
    assert sets.names([elements(element)], "x", go=False) == []
    assert sets.error().startswith(error)


def test_values_of_elements_and_elements_in_yaml(sets: Sets) -> None:
    generator = elements({"name": "a", "values": {"k": "1"}}, elementsYaml="[{name: b, values.k: '2'}]")
    assert sets.names([generator], "{{name}}-{{values.k}}", go=False) == ["a-1", "b-2"]
    assert sets.names([elements(elementsYaml="{a: b}")], "x") == []
    assert sets.error().startswith("103 spec.generators[0].list.elementsYaml must be a list of maps")


FACTS = """
clusters: [{name: c1, server: https://c1.example.com, labels: {env: x}}]
clusterDecisions:
- {configMapRef: ducks, resourceName: quak, matchKey: cluster, decisions: [{cluster: c1, weight: 3}, {cluster: gone}]}
scmRepositories:
- {provider: github, organization: acme, repository: shop, repositoryID: 7, branch: main, sha: 0123456789abcdef,
   url: "https://github.com/acme/shop.git", labels: [a, b], paths: [deploy]}
- {provider: github, organization: acme, repository: docs, branch: main, sha: fedcba9876543210}
pullRequests:
- {provider: github, organization: acme, repository: shop, number: 42, title: Fix it, branch: feature/One_two,
   targetBranch: main, headSHA: 0123456789abcdef, author: me, labels: [preview]}
- {provider: github, organization: acme, repository: shop, number: 43, title: Nothing, branch: x, labels: []}
plugins:
- {configMapRef: my-plugin, input: {a: 1}, outputs: [{name: p1, num: 2}]}
"""


@pytest.mark.requirement("D26")
@pytest.mark.parametrize(
    ("generator", "name", "names"),
    [
        ({"clusterDecisionResource": {"configMapRef": "ducks", "name": "quak"}}, "{{.name}}-{{.weight}}", ["c1-3"]),
        ({"clusters": {"selector": {"matchLabels": {"env": "x"}}}}, "{{.name}}", ["c1"]),
        (
            {"scmProvider": {"github": {"organization": "acme"}, "filters": [{"repositoryMatch": "^sh"}]}},
            "{{.repository}}-{{.short_sha_7}}-{{.repository_id}}-{{.labels}}",
            ["shop-0123456-7-a,b"],
        ),
        (
            {
                "scmProvider": {
                    "github": {"organization": "acme"},
                    "filters": [{"branchMatch": "x"}, {"labelMatch": "a"}],
                }
            },
            "{{.repository}}",
            ["shop"],
        ),
        (
            {"pullRequest": {"github": {"owner": "acme", "repo": "shop", "labels": ["preview"]}}},
            "{{.number}}-{{.branch_slug}}-{{.head_short_sha}}-{{.labels}}",
            ["42-feature-one-two-01234567-[preview]"],
        ),
        (
            {"pullRequest": {"github": {"owner": "acme", "repo": "shop"}, "filters": [{"titleMatch": "^No"}]}},
            "{{.number}}",
            ["43"],
        ),
        (
            {
                "plugin": {
                    "configMapRef": {"name": "my-plugin"},
                    "input": {"parameters": {"a": 1}},
                    "values": {"v": "w"},
                }
            },
            "{{.name}}-{{.num}}-{{.generator.input.parameters.a}}-{{.values.v}}",
            ["p1-2-1-w"],
        ),
    ],
)
def test_facts_stand_for_what_cannot_be_asked(sets: Sets, generator: Any, name: str, names: list[str]) -> None:
    sets.fact_file(FACTS)
    assert sets.names([generator], name) == names
    assert "202" not in sets.codes()


@pytest.mark.requirement("D26")
@pytest.mark.parametrize(
    ("branch", "slug"),
    [
        ("feat/Ärger_1_ñx", "feat-arger-1-nx"),
        ("Straße/ørsted_Łódź", "strasse-orsted-lodz"),
        ("fix/ключ-Щука", "fix-kliuch-shchuka"),
        ("fix/Αθήνα", "fix-athena"),
        ("a&b/don't@home", "aandb-dontathome"),
    ],
)
def test_slugs_of_branches_are_written_in_ascii_letters(sets: Sets, branch: str, slug: str) -> None:
    sets.fact_file(json.dumps({"pullRequests": [{"number": 1, "branch": branch}]}))
    assert sets.names([{"pullRequest": {"github": {"owner": "acme", "repo": "shop"}}}], "{{.branch_slug}}") == [slug]
    assert sets.codes() == []


@pytest.mark.requirement("D26", "D28")
def test_letters_that_a_slug_leaves_out_are_reported(sets: Sets) -> None:
    sets.fact_file(json.dumps({"pullRequests": [{"number": 1, "branch": "fix/影師-2"}]}))
    assert sets.names([{"pullRequest": {"github": {"owner": "acme", "repo": "shop"}}}], "{{.branch_slug}}") == ["fix-2"]
    (warning,) = sets.warnings()
    assert warning.startswith("216 spec.generators[0].pullRequest: the slug of the branch 'fix/影師-2' lacks 影師")


@pytest.mark.requirement("D3", "D4", "D75")
@pytest.mark.parametrize(
    ("generator", "error"),
    [
        ({"scmProvider": {"gitlab": {"group": "g"}}}, "202 spec.generators[0].scmProvider needs repositories of g"),
        ({"pullRequest": {"gitea": {"owner": "o", "repo": "r"}}}, "202 spec.generators[0].pullRequest needs pull"),
        ({"plugin": {"configMapRef": {"name": "p"}}}, "202 spec.generators[0].plugin needs the answer of"),
        ({"clusterDecisionResource": {"configMapRef": "c", "name": "n"}}, "202 "),
        ({"clusterDecisionResource": {"configMapRef": "c"}}, "103 "),
        ({"scmProvider": {}}, "103 spec.generators[0].scmProvider names 0 providers instead of one"),
        (
            {
                "scmProvider": {
                    "github": {"organization": "acme"},
                    "filters": [{"repositoryMatch": "docs", "pathsExist": ["x"]}],
                }
            },
            "204 spec.generators[0].scmProvider filters by paths of docs",
        ),
    ],
)
def test_without_facts_a_generator_says_what_it_would_need(sets: Sets, generator: Any, error: str) -> None:
    if error.startswith("204"):
        sets.fact_file(FACTS)
    assert sets.names([generator, elements({"name": "kept"})], "{{.name}}") == ["kept"]
    assert sets.error().startswith(error)


@pytest.mark.parametrize(
    "text", ["cluster: []", "clusters: [{name: a, servers: b}]", "clusters: {}", "clusters: [{name: a}]"]
)
def test_facts_are_read_strictly(sets: Sets, text: str) -> None:
    from commodore.base.errors import InputError

    with pytest.raises(InputError) as caught:
        sets.fact_file(text)
    assert caught.value.code in ("CMD-ARGO-203", "CMD-ARGO-103")
