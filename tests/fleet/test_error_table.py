"""Anything that is wrong with a fleet is reported with its code, its place and what to do. Nothing is written then."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError
from commodore.base.events import Noted, Warned
from tests.fleet.conftest import APP, CONFIG, WEB, World, charts, manifests, patch

pytestmark = pytest.mark.tools

CONFIG_FILE = "config/config.yaml"


def config(old: str, new: str) -> dict[str, str | None]:
    assert old in CONFIG
    return {CONFIG_FILE: CONFIG.replace(old, new, 1)}


def needs(path: str, value: str) -> dict[str, str | None]:
    return {f"{APP}/int/patch-001.yaml": patch("project: p", f"dependencies: [{{{path}: {value}}}]")}


ERRORS: list[tuple[str, dict[str, str | None], list[str]]] = [
    ("CMD-FLT-001", {CONFIG_FILE: None}, ["config/config.yaml", "fleet init"]),
    ("CMD-FLT-002", {CONFIG_FILE: "a: [\n"}, [f"{CONFIG_FILE} is not YAML", f"{CONFIG_FILE}:2"]),
    ("CMD-FLT-002", {CONFIG_FILE: CONFIG + "dimensions: [a]\n"}, ["'dimensions'", "in line 1 and in line 20"]),
    ("CMD-FLT-002", {f"{APP}/values.yaml": WEB + "---\na: 1\n"}, ["must hold one YAML document"]),
    ("CMD-FLT-002", {f"{APP}/values.yaml": "a: \0\n"}, [f"{APP}/values.yaml is not YAML"]),
    (
        "CMD-FLT-003",
        {CONFIG_FILE: CONFIG + "generater: {}\n"},
        ["/generater is unknown", "did you mean 'generator'?", ":20:1"],
    ),
    (
        "CMD-FLT-003",
        config("promotion: manual", "promotion: manuel"),
        ["/sequence/environments/1/promotion is 'manuel'", "'manual'"],
    ),
    (
        "CMD-FLT-003",
        {CONFIG_FILE: CONFIG.replace("cluster_types", "#").replace("  - main", "")},
        ["has no 'cluster_types'"],
    ),
    (
        "CMD-FLT-003",
        config("dimensions: [environments, sectors, regions]", "dimensions: x"),
        ["/dimensions is text ('x'), must be a list"],
    ),
    ("CMD-FLT-003", {CONFIG_FILE: "- a\n"}, ["/ is a list, must be a map"]),
    (
        "CMD-FLT-003",
        config("- name: int\n", "- name: int\n      soak: 1w\n"),
        ["/sequence/environments/0/soak is '1w'"],
    ),
    (
        "CMD-FLT-003",
        config("- name: int\n", '- name: int\n      soak: "1h\\n"\n'),
        ["/sequence/environments/0/soak is '1h"],
    ),
    (
        "CMD-FLT-003",
        config("{name: r2}", "patches"),
        ["int/int-1/patches has the reserved name of folders for patches"],
    ),
    ("CMD-NAME-001", config("- name: int\n", '- name: "int\\n"\n'), [f"{CONFIG_FILE}:4:"]),
    (
        "CMD-NAME-001",
        {f"{APP}/values.yaml": '{"applications": {"web\\n": {}}}'},
        ["cannot be the name of an application"],
    ),
    ("CMD-FLT-003", {f"{APP}/values.yaml": WEB + "    project: 1\n"}, ["/applications/web/project is a number (1)"]),
    ("CMD-FLT-003", {f"{APP}/values.yaml": WEB + "cluster: {}\n"}, ["/cluster has a reserved name"]),
    (
        "CMD-FLT-003",
        {f"{APP}/values.yaml": "applications: {web: [1]}"},
        ["/applications/web is a list, must be a map or null"],
    ),
    ("CMD-FLT-003", {f"{APP}/values.yaml": "applications: {1: {}}"}, ["the key 1 is a number", "quote it"]),
    ("CMD-FLT-003", {CONFIG_FILE: CONFIG + "generator: {chart: ../x}\n"}, ["/generator/chart is '../x'"]),
    ("CMD-FLT-003", {f"{APP}/metadata.yaml": "owners: a\n"}, ["/owners is text ('a'), must be a list"]),
    (
        "CMD-FLT-004",
        config(
            "      sectors:\n        - name: int-1\n          regions: [{name: r1}, {name: r2}]\n"
            "        - name: int-2\n          regions: [r1]\n",
            "",
        ),
        ["environment 'int' has no sectors", ":4:"],
    ),
    ("CMD-FLT-004", config("          regions: [r1]\n", ""), ["sector 'int-2' has no regions"]),
    ("CMD-FLT-004", config("          regions: [r1]\n", "          regions:\n"), ["sector 'int-2' has no regions"]),
    ("CMD-FLT-004", config("regions: [{name: r1}, {name: r2}]", "regions: []"), ["sector 'int-1' has no regions"]),
    (
        "CMD-FLT-004",
        config("        - name: int-2\n          regions: [r1]\n", "        - int-2\n"),
        ["the sector 'int-2' has no regions"],
    ),
    (
        "CMD-FLT-005",
        config("- name: prod\n", "- name: int\n"),
        ["the environment 'int' is defined twice, in lines 4 and 10"],
    ),
    ("CMD-FLT-005", config("{name: r2}", "r1"), ["the region 'int/int-1/r1' is defined twice"]),
    ("CMD-FLT-005", config("  - main", "  - main\n  - main"), ["the cluster type 'main' is defined twice"]),
    (
        "CMD-FLT-005",
        config("  - main", "  - {name: main, applications: [web, web]}"),
        ["the application of main 'web' is defined twice"],
    ),
    (
        "CMD-FLT-005",
        config("[environments, sectors, regions]", "[environments, sector, sectors]"),
        ["the singular of a dimension 'sector' is defined"],
    ),
    ("CMD-FLT-006", {f"{APP}/values.yaml": "#" * (4 << 20) + "\n"}, ["larger than 4 MiB (fleet_file_bytes)"]),
    (
        "CMD-FLT-006",
        {
            f"{APP}/values.yaml": "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
            + "".join(f"{n}: &{n} [{', '.join(['*' + p] * 10)}]\n" for p, n in ["ab", "bc", "cd", "de", "ef"])
        },
        ["fleet_values"],
    ),
    ("CMD-FLT-002", {f"{APP}/values.yaml": "a: &a [*a]\n"}, ["an alias refers to itself"]),
    ("CMD-YAML-003", {f"{APP}/values.yaml": "[" * 100_000}, ["levels deep"]),
    ("CMD-NAME-001", config("  - main", "  - ../main"), ["'../main'", f"{CONFIG_FILE}:"]),
    ("CMD-NAME-001", {f"{APP}/values.yaml": "applications: {../x: {}}"}, ["'../x'", f"{APP}/values.yaml:1:"]),
    ("CMD-NAME-006", config("- name: int\n", f"- name: {'a' * 201}\n"), ["too long"]),
    (
        "CMD-FLT-009",
        {"config/main/defaults.yaml": "applications: {default: {}}"},
        ["application-defaults.yaml is of style charts", "generator.style"],
    ),
    (
        "CMD-FLT-010",
        {
            "config/main/defaults.yaml": "applications: {default: {}}",
            CONFIG_FILE: CONFIG + "generator: {style: charts}\n",
        },
        ["both give defaults of 'applications'"],
    ),
    (
        "CMD-FLT-011",
        config("  - main", "  - mein"),
        ["the cluster type 'mein' has no folder config/mein", "did you mean 'main'?"],
    ),
    (
        "CMD-FLT-012",
        config("  - main", "  - {name: main, applications: [wep]}"),
        ["the application 'wep' of main has no folder", "did you mean 'web'?"],
    ),
    ("CMD-FLT-015", {CONFIG_FILE: "\n"}, [f"{CONFIG_FILE} is empty"]),
    ("CMD-FLT-015", {f"{APP}/values.yaml": ""}, [f"{APP}/values.yaml is empty"]),
    ("CMD-FLT-015", {f"{APP}/values.yaml": "text\n"}, ["must be a mapping"]),
    ("CMD-FLT-015", {f"{APP}/values.yaml": "applications: {}\n"}, ["defines nothing"]),
    ("CMD-FLT-015", {"config/main/application-defaults.yaml": ""}, ["application-defaults.yaml is empty"]),
    (
        "CMD-FLT-016",
        {"config/main/also/values.yaml": WEB},
        ["config/main/also/values.yaml:2:3", f"{APP}/values.yaml:2:3"],
    ),
    (
        "CMD-FLT-017",
        {f"{APP}/values.yaml": "applications: {web: {project: p}}"},
        ["web has no source in 6 cells (int/int-1/r1,"],
    ),
    (
        "CMD-FLT-017",
        {"config/main/application-defaults.yaml": None},
        ["web has no project in 6 cells", "web has no destination"],
    ),
    (
        "CMD-FLT-018",
        {f"{APP}/prod/values.yaml": patch("sources: [{repoURL: x}]")},
        ["web has both source and sources in 3 cells (prod/prod-1/r1,"],
    ),
    ("CMD-FLT-021", {f"{APP}/int/values.yaml": WEB, f"{APP}/int/override.yaml": WEB}, [f"are both in {APP}/int"]),
    ("CMD-FLT-030", {f"{APP}/int/patch-001.yaml": "- a\n"}, ["the patch must be a mapping"]),
    ("CMD-FLT-030", {f"{APP}/int/patch-001.yaml": "metadata: {id: x}\n"}, ["the patch holds nothing"]),
    ("CMD-FLT-030", {f"{APP}/int/patch-001.yaml": ""}, ["the patch holds nothing"]),
    (
        "CMD-FLT-030",
        {f"{APP}/int/patch-001.yaml": "patch: {web: {}}\napplications: {web: {project: p}}"},
        ["both the key 'patch' and the section 'applications'"],
    ),
    (
        "CMD-FLT-030",
        {f"{APP}/int/patch-001.yaml": "patch: {web: {project: p}, applications: {web: {project: p}}}"},
        ["mixes sections with the application 'web'"],
    ),
    (
        "CMD-FLT-031",
        {f"{APP}/int/patch-{n}.yaml": patch("project: p", "id: same") for n in (1, 2)},
        ["the id 'same' is used by two patches", "patch-1.yaml", "patch-2.yaml"],
    ),
    (
        "CMD-FLT-034",
        {f"{APP}/int/patch-1.yaml": patch("project: p", "merge_strategy: {/web/project: append}")},
        ["a strategy for /web/project, where the patch has no list", "patch-1.yaml:2:"],
    ),
    (
        "CMD-FLT-034",
        {
            f"{APP}/int/patch-1.yaml": patch(
                "sources: [{helm: {valueFiles: [a]}}]", "merge_strategy: {/web/sources/0/helm/valueFiles: append}"
            )
        },
        ["/web/sources/0/helm/valueFiles", "in no other list"],
    ),
    (
        "CMD-FLT-035",
        {f"{APP}/int/patch-1.yaml": patch("info: []", "merge_strategy: {/web/info: prepend}")},
        ["the strategy 'prepend' for /web/info is not replace, append or append-unique"],
    ),
    (
        "CMD-FLT-036",
        {f"{APP}/int/patch-1.yaml": "applications: {wep: {project: p}}"},
        ["the patch is for applications.wep", "did you mean 'web'?"],
    ),
    (
        "CMD-FLT-045",
        {f"{APP}/int/patch-1.yaml": patch("project: p", "dependencies: [{/a/b: 1, /c/d: 2}]")},
        ["not one path with one value"],
    ),
    ("CMD-FLT-045", needs("'$.a['", "1"), ["is not a valid JSONPath"]),
    (
        "CMD-FLT-046",
        needs("/wep/version", "v1"),
        ["the patch depends on applications.wep, which main does not have", "did you mean 'web'?"],
    ),
    (
        "CMD-FLT-061",
        {f"{APP}/int/values.yaml": patch('info: [{name: a, value: "b\\x7f"}]')},
        ["U+007F", f"{APP}/int/values.yaml:3:"],
    ),
    (
        "CMD-FLT-061",
        {
            "config/main/application-defaults.yaml": "defaults: {project: p, destination: {name: x}, "
            'info: ["\\x85\\x9b"]}'
        },
        ["U+009B", "application-defaults.yaml:1:"],
    ),
    (
        "CMD-FLT-062",
        {
            f"{APP}/values.yaml": WEB.replace("cpu: 1", "ports: {8080: a}"),
            f"{APP}/int/values.yaml": patch('source: {helm: {valuesObject: {ports: {"8080": b}}}}'),
        },
        ["web has the key source.helm.valuesObject.ports.8080 as a text", "in 3 cells (int/int-1/r1,"],
    ),
    *(
        (
            "CMD-FLT-064",
            {path: text.replace("applications", section)},
            [f"{path}:1:1: no template reads the section '{section}'", "did you mean 'applications'"],
        )
        for path, text in ((f"{APP}/int/values.yaml", patch("project: p")), (f"{APP}/values.yaml", WEB))
        for section in ("aplications", "application")
    ),
    (
        "CMD-FLT-064",
        {
            "templates/a.yaml": "{{ range .Values.operators }}{{ end }}",
            f"{APP}/values.yaml": WEB + "operators: {a: {}}\nsidecars: {a: {}}\n",
        },
        ["no template reads the section 'sidecars'", "no template reads the section 'applications'"],
    ),
    ("CMD-FLT-049", needs("/db/version", "'>=new'"), ["which is not a version"]),
    (
        "CMD-FLT-056",
        {f"{APP}/prod/values.yaml": patch("project: '{{ nofunc }}'")},
        [
            "3 cells (main/prod/prod-1/r1, ",
            f"application web ({APP}/prod/values.yaml:3:5)",
            'helm fails: cannot parse template "{{ nofunc }}": function "nofunc" not defined; application web',
        ],
    ),
]


@pytest.mark.requirement("F5", "F6", "F7", "F11", "F58", "F59", "F60", "F65", "F66", "FP2", "FP3", "FP4", "FP6", "FP7")
@pytest.mark.parametrize(
    ("code", "changes", "words"), ERRORS, ids=[f"{code}-{number}" for number, (code, _, _) in enumerate(ERRORS)]
)
def test_errors(world: World, code: str, changes: dict[str, str | None], words: list[str]) -> None:
    world.lay(charts())
    for path, text in changes.items():
        if text is None:
            (world.root / path).unlink()
        else:
            world.lay({path: text})
    errors = [error for error in world.refused() if error.code == code]
    assert errors
    told = "\n".join(told_of(error) for error in errors)
    assert [word for word in words if word not in told] == [], told
    assert all(error.exit_code == 1 and error.hint for error in errors if code.startswith("CMD-FLT"))
    assert not (world.root / "rendered").exists()


def told_of(error: CommodoreError) -> str:
    return "\n".join([error.message, error.hint, *map(str, error.locations)])


BOTH_DEFAULTS = "applications: {default: {project: p, destination: {name: x}}}\napplicationsets: {default: {}}\n"
MANIFESTS: list[tuple[str, dict[str, str | None], list[str]]] = [
    (
        "CMD-FLT-014",
        {f"{APP}/values.yaml": WEB + "others: {a: {}}\n"},
        ["uses the section 'others'", "no defaults file of main"],
    ),
    (
        "CMD-FLT-056",
        {f"{APP}/values.yaml": WEB + "    info: [{name: '{{name}}', value: x}]\n"},
        ["application web", 'function "name" not defined'],
    ),
    (
        "CMD-FLT-057",
        {
            "config/main/defaults.yaml": BOTH_DEFAULTS,
            f"{APP}/values.yaml": WEB + "applicationsets: {web: {generators: []}}\n",
        },
        ["web stands in applications and in applicationsets"],
    ),
    (
        "CMD-FLT-058",
        {
            "argocd-apps/Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\n",
            "argocd-apps/templates/a.yaml": "metadata: {name: ../../x}\nkind: A\napiVersion: v1\n",
        },
        ["'../../x'"],
    ),
    (
        "CMD-FLT-058",
        {
            "argocd-apps/Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\n",
            "argocd-apps/templates/a.yaml": "metadata: {name: no}\nkind: A\napiVersion: v1\n",
        },
        ["the name false of a resource", "put them in quotes"],
    ),
    (
        "CMD-FLT-057",
        {
            "argocd-apps/Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\n",
            "argocd-apps/templates/a.yaml": "metadata: {name: x}\nkind: A\napiVersion: v1\n---\n"
            "metadata: {name: x}\nkind: B\napiVersion: v1\n",
        },
        ["two resources are called 'x': A and B"],
    ),
    (
        "CMD-FLT-028",
        {
            "argocd-apps/Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\n",
            "argocd-apps/templates/a.yaml": "applicationset: '{{ .Values.a }}'\n",
            "config/main/defaults.yaml": BOTH_DEFAULTS,
            f"{APP}/values.yaml": WEB + "applicationsets: {s: {template: {spec: {project: it's}}}}\n",
        },
        ["an apostrophe in project"],
    ),
    (
        "CMD-FLT-028",
        {
            "argocd-apps/Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\n",
            "argocd-apps/templates/a.yaml": "kind: ApplicationSet\nname: {{ .Values.a | squote }}\n",
            "config/main/defaults.yaml": BOTH_DEFAULTS,
            f"{APP}/values.yaml": WEB + "applicationsets:\n  s: {template: {metadata: {name: \"{{ 'a' }}\"}}}\n"
            "  t: {template: {metadata: {name: it''s}}}\n",
        },
        ["an apostrophe in name", f"{APP}/values.yaml:12"],
    ),
]


@pytest.mark.requirement("FP2", "FP3")
@pytest.mark.parametrize(
    ("code", "changes", "words"), MANIFESTS, ids=[f"{code}-{number}" for number, (code, _, _) in enumerate(MANIFESTS)]
)
def test_errors_in_style_manifests(world: World, code: str, changes: dict[str, str], words: list[str]) -> None:
    results = [error for error in world.lay(manifests(**changes)).refused() if error.code == code]
    told = "\n".join(told_of(error) for error in results)
    assert results
    assert [word for word in words if word not in told] == [], told
    assert not (world.root / "rendered").exists()
    assert not (world.root.parent / "x.yaml").exists()


WARNINGS: list[tuple[str, dict[str, str | None], list[str]]] = [
    ("CMD-FLT-013", config("  - main", "  - {name: main, applications: [web]}"), ["config/main/db is not listed"]),
    (
        "CMD-FLT-019",
        {f"{APP}/int/values.yaml": patch("syncPolcy: {}")},
        ["the key 'syncPolcy'", f"{APP}/int/values.yaml:3:5", "did you mean 'syncPolicy'?"],
    ),
    (
        "CMD-FLT-020",
        {f"{APP}/patches/int/patch-001.yaml": WEB, f"{APP}/int/patches/.patch-001.yaml": "a: 1\n"},
        [f"{APP}/patches/int is not a place of the fleet"],
    ),
    (
        "CMD-FLT-020",
        {f"{APP}/prodd/values.yaml": WEB},
        [f"{APP}/prodd is not a place of the fleet", "did you mean 'prod'?"],
    ),
    (
        "CMD-FLT-020",
        {f"{APP}/int/int-9/values.yaml": WEB},
        [f"{APP}/int/int-9 is not a place of the fleet", "did you mean 'int-2' or 'int-1'?"],
    ),
    ("CMD-FLT-020", {f"{APP}/patch-001.yaml": WEB}, [f"{APP}/patch-001.yaml is not a file of the fleet"]),
    ("CMD-FLT-020", {f"{APP}/int/overide.yaml": WEB}, ["did you mean 'override.yaml'?"]),
    ("CMD-FLT-020", {"config/main/lone/prod/values.yaml": WEB}, ["config/main/lone has no values.yaml"]),
    (
        "CMD-FLT-022",
        {f"{APP}/int/values.yaml": patch("syncPolicy: {syncOptions: x}")},
        ["replaces a list by text at applications.web.syncPolicy.syncOptions", f"{APP}/values.yaml:10"],
    ),
    (
        "CMD-FLT-081",
        {f"{APP}/metadata.yaml": "owner: [a]\nname:\ndescription:\n"},
        [f"{APP}/metadata.yaml:1:1: the key 'owner' is unknown", "did you mean 'owners'?"],
    ),
    ("CMD-FLT-023", {f"{APP}/metadata.yaml": "name: other\n"}, ["names 'other', but the folder is 'web'"]),
    (
        "CMD-FLT-026",
        {f"{APP}/int/values.yaml": patch("destination: {server: x}")},
        ["web has a destination with name and server in 3 cells"],
    ),
    (
        "CMD-FLT-032",
        {f"{APP}/int/int-1/patch-1.yaml": patch("project: p"), f"{APP}/int/int-2/patch-1.yaml": patch("project: q")},
        ["copies of patch-1 differ", "at applications.web.project"],
    ),
    (
        "CMD-FLT-038",
        {f"{APP}/int/int-2/patch-1.yaml": patch("project: p")},
        ["is at int/int-2, but not in 2 cells (int/int-1/r1, int/int-1/r2)"],
    ),
    (
        "CMD-FLT-040",
        {f"{APP}/int/patch-{n}.yaml": patch(f"project: p{n}") for n in (1, 2)},
        ["in 3 cells: 'p1', 'p2'; the latter wins"],
    ),
    (
        "CMD-FLT-040",
        {f"{APP}/int/patch-{n}.yaml": patch(f"info: [{{name: a, value: {n}}}]") for n in (1, 2)},
        ["in 3 cells: [{name: 'a', value: 1}], [{name: 'a', value: 2}]; the latter wins"],
    ),
    ("CMD-FLT-047", needs("/db/version", "v9"), ["the patch main/web/patch-001 is not applied in 3 cells"]),
    (
        "CMD-FLT-051",
        {
            "templates/application.yaml": "{{ toYaml .Values }}",
            f"{APP}/int/values.yaml": patch("project: '{{ .Values.cluster.x }}'"),
        },
        [f"{APP}/int/values.yaml:3:5"],
    ),
    (
        "CMD-FLT-052",
        {
            "templates/application.yaml": "{{ tpl (toYaml .Values) $ }}",
            f"{APP}/int/values.yaml": patch("project: '{{ .Values.cluster.x }}'"),
        },
        [f"{APP}/int/values.yaml:3:5"],
    ),
    (
        "CMD-FLT-053",
        {f"{APP}/values.yaml": WEB + "applicationsets: {s: {templatePatch: 'n: {{ .name }}'}}\n"},
        [f"{APP}/values.yaml:11:"],
    ),
    (
        "CMD-FLT-054",
        {f"{APP}/int/values.yaml": patch("info: [{name: a, value: 9007199254740993}]")},
        ["9007199254740993 at", f"{APP}/int/values.yaml:3:22"],
    ),
]


@pytest.mark.requirement("F8", "F64", "FP8", "FP14")
@pytest.mark.parametrize(
    ("code", "changes", "words"), WARNINGS, ids=[f"{code}-{number}" for number, (code, _, _) in enumerate(WARNINGS)]
)
def test_warnings_which_count_as_errors_if_strict(
    world: World, code: str, changes: dict[str, str | None], words: list[str]
) -> None:
    done = world.lay(charts(**changes)).generate(write=False)
    told = "\n".join(
        f"{event.message}\n{event.hint}" for event in world.events if isinstance(event, Warned) and event.code == code
    )
    assert [item.code for item in done.report.added("warning")] == [code]
    assert [word for word in words if word not in told] == [], told
    assert [error.code for error in world.refused(strict=True)] == [code]


def test_notes_are_told(world: World) -> None:
    world.lay(charts(**{f"{APP}/patches/p.yaml": patch("project: p")})).generate(write=False)
    assert any("[CMD-FLT-042]" in event.message for event in world.events if isinstance(event, Noted))


def a_link_out(path: Path) -> None:
    path.unlink()
    (path.parents[4] / "outside.yaml").write_text(WEB)
    path.symlink_to(path.parents[4] / "outside.yaml")


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def not_utf8(path: Path) -> None:
    path.write_bytes(b"a: \xff\xfe\n")


@pytest.mark.requirement("FP6")
@pytest.mark.parametrize(
    ("make", "code"), [(a_link_out, "CMD-FLT-006"), (a_pipe, "CMD-FLT-006"), (not_utf8, "CMD-FLT-002")]
)
def test_files_that_are_none(tmp_path: Path, make: Callable[[Path], None], code: str) -> None:
    root = tmp_path / "fleet"
    root.mkdir()
    world = World(root).lay(charts())
    make(root / APP / "values.yaml")
    errors = world.refused()
    assert code in [error.code for error in errors]


def test_a_folder_that_leads_out(tmp_path: Path) -> None:
    root = tmp_path / "fleet"
    root.mkdir()
    (tmp_path / "outside").mkdir()
    world = World(root).lay(charts())
    (root / APP / "int").symlink_to(tmp_path / "outside")
    assert [error.code for error in world.refused()] == ["CMD-FLT-006"]


@pytest.mark.requirement("F52")
@pytest.mark.parametrize(
    ("types", "names", "hint"),
    [
        (("mein",), {}, "did you mean 'main'?"),
        ((), {"environments": ("prot",)}, "did you mean 'prod'?"),
        ((), {"zones": ("x",)}, "there are environments, sectors, regions"),
        ((), {"regions": ("int-1",)}, "there are r1, r2, eu"),
        (
            (),
            {"environments": ("int",), "sectors": ("prod-1",)},
            "leave one of them out; 'commodore fleet graph' shows the sequence",
        ),
    ],
)
def test_unknown_names_of_a_selection(
    world: World, types: tuple[str, ...], names: dict[str, tuple[str, ...]], hint: str
) -> None:
    from commodore.base.errors import UsageError
    from commodore.fleet.generating import Selection

    with pytest.raises(UsageError) as caught:
        world.lay(charts()).generate(Selection(types, names))
    assert (caught.value.code, caught.value.hint) == ("CMD-FLT-090", hint)
