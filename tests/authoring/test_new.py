"""`component new` and `package new`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from commodore.authoring import COMPONENT, PACKAGE, Choices, Created, Kind, NewRequest, create_repository
from commodore.authoring.arguments import MINOR_ALLOW, PATCH_BLOCK, PATCH_V0_ALLOW
from commodore.base.errors import CommodoreError, InputError, PolicyError
from commodore.base.events import ignore
from commodore.base.files.workspace import Workspace
from commodore.core.sources.git import inspect
from commodore.core.tools import KNOWN_VERSIONS
from tests.authoring.template_world import FIRST, template
from tests.world.context import make_context
from tests.world.folders import write_script
from tests.world.repos import GitCalls, GitWorld, Script, git

NO_REMOTE = {
    "init",
    "fast-import",
    "for-each-ref",
    "read-tree",
    "checkout-index",
    "remote",
    "add",
    "var",
    "commit",
    "rev-parse",
}


def create(root: Path, kind: Kind = COMPONENT, slug: str = "foo", **wishes: object) -> Created:
    return create_repository(Workspace.at(root), NewRequest(kind, slug, **wishes), make_context(announce=ignore))  # type: ignore[arg-type]


def run_make(folder: Path, *targets: str) -> str:
    """Run make as an author does; its output. Linters that are no part of commodore find nothing."""
    result = subprocess.run(
        ["make", f"COMMODORE={sys.executable} -m commodore", "YAMLLINT=true", "JSONNETFMT=true", *targets],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


def test_checklist_10_a_worktree_with_one_commit(tmp_path: Path) -> None:
    """One commit, clean worktree, `test_cases: defaults foo`, matrix on."""
    switches = {"add_lib": True, "add_pp": True, "add_matrix": False}
    made = create(tmp_path, slug="x-y", choices=Choices(switches=switches, add_cases=("foo",)))
    folder = tmp_path / "dependencies" / "x-y"
    assert made.folder == folder
    assert git(folder, "log", "--format=%an %s").splitlines() == ["Tess Ter Initial commit"]
    assert git(folder, "status", "--porcelain", "--branch", "--ignored") == "## master"
    arguments = json.loads((folder / ".cruft.json").read_text())["context"]["cookiecutter"]
    assert (arguments["test_cases"], arguments["add_matrix"]) == ("defaults foo", "y")
    assert (arguments["add_lib"], arguments["add_pp"]) == ("y", "y")
    assert git(folder, "remote", "get-url", "origin") == "ssh://git@github.com/projectsyn/component-x-y.git"
    bare = tmp_path / "dependencies" / ".repos" / "github.com" / "projectsyn" / "component-x-y.git"
    assert Path(git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")) == bare
    assert list(made.files) == sorted(git(folder, "ls-files").splitlines())
    assert inspect(folder, make_context()).unpushed != ()


def test_elsewhere_it_is_a_repository_of_its_own(tmp_path: Path) -> None:
    made = create(tmp_path / "work", PACKAGE, "baz", output_dir=tmp_path, owner="me")
    assert made.folder == tmp_path / "baz"
    assert (made.folder / ".git").is_dir()
    assert git(made.folder, "log", "--format=%s%n%b").strip() == "Initial commit"
    assert git(made.folder, "status", "--porcelain", "--branch", "--ignored") == "## master"
    assert git(made.folder, "remote", "get-url", "origin") == made.remote == "ssh://git@github.com/me/package-baz.git"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["baz"]


def test_nothing_is_asked_from_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = GitCalls(tmp_path / "bin", monkeypatch)
    create(tmp_path, output_dir=tmp_path)
    assert set(calls.verbs) <= NO_REMOTE
    calls.forget()
    create(tmp_path)
    assert set(calls.verbs) <= NO_REMOTE | {"config", "write-tree", "commit-tree", "worktree"}


def test_a_fresh_machine_without_a_name_for_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    monkeypatch.setenv("EMAIL", "")
    git(tmp_path, "config", "--global", "user.useConfigOnly", "true")
    made = create(tmp_path, output_dir=tmp_path)
    assert git(made.folder, "log", "--format=%an") == "Commodore"


@pytest.mark.parametrize(
    "switches", [{"add_lib": True, "add_pp": True}, {"add_golden": False}], ids=["golden", "no golden"]
)
def test_a_new_component_passes_its_own_tests(tmp_path: Path, switches: dict[str, bool]) -> None:
    made = create(tmp_path, output_dir=tmp_path, choices=Choices(switches=switches, add_cases=("more",)))
    run_make(made.folder, "test")
    assert git(made.folder, "status", "--porcelain") == ""


def test_a_new_component_has_its_golden_files(tmp_path: Path) -> None:
    made = create(tmp_path, output_dir=tmp_path)
    run_make(made.folder, "gen-golden-all", "compile", "instance=defaults")
    assert git(made.folder, "status", "--porcelain") == ""
    assert (made.folder / "compiled" / "foo" / "apps" / "foo.yaml").is_file()
    run_make(made.folder, "clean")
    assert not (made.folder / "compiled").exists()


@pytest.mark.parametrize("switches", [{}, {"add_golden": False}], ids=["golden", "no golden"])
def test_a_new_package_passes_its_own_tests(tmp_path: Path, switches: dict[str, bool]) -> None:
    made = create(
        tmp_path, PACKAGE, "baz", output_dir=tmp_path, choices=Choices(switches=switches, add_cases=("more",))
    )
    run_make(made.folder, "test")
    assert git(made.folder, "status", "--porcelain") == ""


@pytest.mark.parametrize("kind", [COMPONENT, PACKAGE], ids=["component", "package"])
def test_what_an_author_expects_is_there(tmp_path: Path, kind: Kind) -> None:
    made = create(tmp_path, kind, output_dir=tmp_path, name='The "Foo" & co: x', choices=Choices(add_cases=("1.0",)))
    expected = ".editorconfig .github/workflows/auto-release.yaml .github/workflows/release.yaml .gitignore LICENSE "
    expected += ".github/workflows/test.yaml CODE_OF_CONDUCT.md CONTRIBUTING.md Makefile README.md renovate.json "
    expected += "docs/antora.yml docs/modules/ROOT/pages/index.adoc tests/1.0.yml tests/defaults.yml"
    assert set(expected.split()) <= set(made.files)
    for name in made.files:
        content = (made.folder / name).read_bytes()
        assert b"cookiecutter." not in content, name
        assert content == b"" or content.endswith(b"\n"), name
        assert not content.endswith(b"\n\n"), name
        if name.endswith((".yml", ".yaml")):
            yaml.load(content.replace(b"=_metadata", b"_metadata"), Loader=yaml.SafeLoader)
    workflow = yaml.safe_load((made.folder / ".github/workflows/test.yaml").read_text())
    jobs = workflow["jobs"]
    assert jobs["test"]["strategy"]["matrix"] == {"instance": ["defaults", "1.0"]}
    assert jobs["test"]["steps"][-1]["run"] == "make test instance=${{ matrix.instance }}"
    assert jobs["test"]["steps"][-2]["run"].startswith("make tools\n")
    assert [step.get("run") for step in jobs["lint"]["steps"][-2:]] == ["make lint", "make docs"]
    assert yaml.safe_load((made.folder / "docs/antora.yml").read_text())["title"] == 'The "Foo" & co: x'
    assert (made.folder / "LICENSE").read_text().splitlines()[0].endswith(", VSHN AG <info@vshn.ch>")


@pytest.mark.parametrize("golden", [True, False])
@pytest.mark.parametrize("kind", [COMPONENT, PACKAGE], ids=["component", "package"])
def test_lint(tmp_path: Path, kind: Kind, golden: bool) -> None:
    """New repositories have no findings; an author's files are checked, rendered ones are not."""
    choices = Choices(switches={"add_golden": golden, "add_lib": True, "add_pp": True} if kind is COMPONENT else {})
    made = create(tmp_path, kind, output_dir=tmp_path, choices=choices)
    assert "No errors" in run_make(made.folder, "lint")
    rendered = made.folder / "tests" / "golden" / "defaults" / "template.yaml"
    rendered.parent.mkdir(parents=True, exist_ok=True)
    rendered.write_text("parameters: []\n")
    assert "No errors" in run_make(made.folder, "lint")
    (made.folder / "tests" / "more.yml").write_text("parameters:\n  x: ${y\n")
    command = ["make", f"COMMODORE={sys.executable} -m commodore", "lint"]
    result = subprocess.run(command, cwd=made.folder, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "tests/more.yml:2:6: error:" in result.stdout


def test_the_form_of_new_files(tmp_path: Path) -> None:
    """The linters of other projects get the right files, and their findings fail the run."""
    choices = Choices(switches={"add_lib": True})
    made = create(tmp_path, output_dir=tmp_path, choices=choices)
    said = run_make(made.folder, "lint-yaml", "lint-jsonnet", "JSONNETFMT=echo", "YAMLLINT=echo")
    names = ("component/app.jsonnet", "component/main.jsonnet", "lib/foo.libsonnet")
    assert said.splitlines() == ["echo --strict .", "--strict .", *(f"--test {name}" for name in names)]
    for program, problem in (
        ("false", "component/app.jsonnet: run make format"),
        ("none-such", "none-such was not found"),
    ):
        failing = ["make", "lint-jsonnet", f"JSONNETFMT={program}"]
        done = subprocess.run(failing, cwd=made.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert (done.returncode, done.stdout.startswith(problem)) == (2, True)


@pytest.mark.parametrize("kind", [COMPONENT, PACKAGE], ids=["component", "package"])
def test_the_documentation_of_new_files(tmp_path: Path, kind: Kind) -> None:
    made = create(tmp_path, kind, output_dir=tmp_path)
    said = run_make(made.folder, "docs", "ASCIIDOCTOR=echo")
    assert "--destination-dir _docs docs/modules/ROOT/pages/index.adoc" in said
    assert ("--destination-dir _docs/references" in said) is (kind is COMPONENT)


def test_the_tools_of_ci_are_versions_that_commodore_knows(tmp_path: Path) -> None:
    made = create(tmp_path, output_dir=tmp_path)
    said = run_make(made.folder, "tools", "COMMODORE=echo")
    installed = [line.split()[2:] for line in said.splitlines() if line.startswith("tool install")]
    assert installed == [[name, "--version", str(KNOWN_VERSIONS[name])] for name in ("helm", "kustomize")]


def test_files_that_were_not_asked_for_are_not_there(tmp_path: Path) -> None:
    switches = {"add_golden": False, "auto_release": False, "add_matrix": False}
    made = create(tmp_path, output_dir=tmp_path, choices=Choices(switches=switches))
    assert ".github/workflows/auto-release.yaml" not in made.files
    assert not (made.folder / "lib").exists()
    assert not (made.folder / "tests" / "golden").exists()
    workflow = yaml.safe_load((made.folder / ".github/workflows/test.yaml").read_text())
    assert "strategy" not in workflow["jobs"]["test"]
    assert "postUpgradeTasks" not in json.loads((made.folder / "renovate.json").read_text())


def test_class_files_of_a_component(tmp_path: Path) -> None:
    made = create(tmp_path, slug="x-y", output_dir=tmp_path, choices=Choices(switches={"add_pp": True}))
    assert (made.folder / "class" / "defaults.yml").read_text() == (
        "parameters:\n  x_y:\n    =_metadata:\n      multi_tenant: true\n    namespace: syn-x-y\n"
    )
    assert yaml.safe_load((made.folder / "class" / "x-y.yml").read_text()) == {
        "parameters": {
            "kapitan": {
                "compile": [
                    {
                        "input_paths": ["${_base_directory}/component/app.jsonnet"],
                        "input_type": "jsonnet",
                        "output_path": ".",
                    },
                    {
                        "input_paths": ["${_base_directory}/component/main.jsonnet"],
                        "input_type": "jsonnet",
                        "output_path": "x-y/",
                    },
                ]
            },
            "commodore": {"postprocess": {"filters": []}},
        }
    }


def rules(folder: Path) -> list[dict[str, object]]:
    package_rules: list[dict[str, object]] = json.loads((folder / "renovate.json").read_text())["packageRules"]
    return package_rules


def test_automerge_rules(tmp_path: Path) -> None:
    """In the words of today's Renovate."""
    patterns = {PATCH_BLOCK: ("^a/b$", "c"), PATCH_V0_ALLOW: ("^d$",), MINOR_ALLOW: ("^e$",)}
    made = create(tmp_path, output_dir=tmp_path, choices=Choices(add_patterns=patterns))
    patch, v0, minor = rules(made.folder)
    assert patch["matchUpdateTypes"] == ["patch", "digest"]
    assert patch["matchCurrentVersion"] == "!/^v?0\\./"
    assert patch["matchPackageNames"] == ["!/^a\\/b$/", "!/c/"]
    assert (v0["matchCurrentVersion"], v0["matchPackageNames"]) == ("/^v?0\\./", ["/^d$/"])
    assert (minor["matchUpdateTypes"], minor["matchPackageNames"]) == (["minor"], ["/^e$/"])
    assert [rule["labels"][-1] for rule in rules(made.folder)] == ["bump:patch", "bump:patch", "bump:minor"]  # type: ignore[index]
    assert all(rule["automerge"] is True and rule["platformAutomerge"] is False for rule in rules(made.folder))


def test_automerge_rules_of_v0_and_none(tmp_path: Path) -> None:
    choices = Choices(switches={"automerge_patch_v0": True}, add_patterns={PATCH_V0_ALLOW: ("x",)})
    (rule,) = rules(create(tmp_path, output_dir=tmp_path, choices=choices).folder)
    assert "matchCurrentVersion" not in rule
    other = create(tmp_path, slug="bar", output_dir=tmp_path, choices=Choices(switches={"automerge_patch": False}))
    assert rules(other.folder) == []


def everything(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if ".commodore" not in path.parts)


@pytest.mark.parametrize("elsewhere", [True, False])
@pytest.mark.parametrize(
    ("wishes", "code"),
    [
        ({"slug": "component-foo"}, "CMD-TPL-002"),
        ({"slug": "lib"}, "CMD-TPL-003"),
        ({"owner": "a/b"}, "CMD-TPL-004"),
        ({"template_version": "v99"}, "CMD-TPL-021"),
        ({"template_url": "file:///nowhere/t.git", "trust_template": True}, "CMD-GIT-005"),
        ({"template_url": "https://git.example.com/t.git"}, "CMD-TPL-020"),
        ({"choices": Choices(add_cases=("a b",))}, "CMD-TPL-005"),
    ],
)
def test_bad_input_leaves_nothing_behind(tmp_path: Path, wishes: dict[str, object], code: str, elsewhere: bool) -> None:
    if elsewhere:
        wishes = {**wishes, "output_dir": tmp_path}
    with pytest.raises(CommodoreError) as caught:
        create(tmp_path, **wishes)  # type: ignore[arg-type]
    assert caught.value.code == code
    assert everything(tmp_path) == []


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_failing_hook_leaves_nothing_behind(tmp_path: Path, elsewhere: bool) -> None:
    files = {**FIRST, "hooks/post_gen_project.sh": Script("#!/bin/sh\necho 'no way' >&2\nexit 1\n")}
    remote = GitWorld(tmp_path / "remotes").remote("broken", files, branch="main")
    work = tmp_path / "work"
    work.mkdir()
    with pytest.raises(InputError, match=r"hook|Hook"):
        create(work, template_url=remote.url, trust_template=True, output_dir=work if elsewhere else None)
    assert everything(work) == []


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_failure_of_git_leaves_nothing_behind(
    tmp_path: Path, elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever fails last: the worktree that is added, or the commit."""
    work, folder = tmp_path / "work", tmp_path / "bin"
    work.mkdir()
    folder.mkdir()
    program = folder / "git"
    real = subprocess.run(["which", "git"], check=True, capture_output=True, text=True).stdout.strip()
    write_script(
        program,
        f'case " $* " in *" worktree add "*|*" commit "*) echo "fatal: broken" >&2; exit 128;; esac\nexec {real} "$@"',
    )
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(CommodoreError, match="broken"):
        create(work, output_dir=work if elsewhere else None)
    assert everything(work) == []
    monkeypatch.undo()


@pytest.mark.parametrize("kind", [COMPONENT, PACKAGE], ids=["component", "package"])
def test_what_is_there_stays(tmp_path: Path, kind: Kind) -> None:
    folder = kind.folder(Workspace.at(tmp_path), "foo")
    folder.mkdir(parents=True)
    (folder / "mine").write_text("mine", encoding="utf-8")
    with pytest.raises(PolicyError) as caught:
        create(tmp_path, kind)
    assert caught.value.code == "CMD-TPL-030"
    assert (folder / "mine").read_text() == "mine"


def test_a_dangling_link_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "foo").symlink_to("nowhere")
    with pytest.raises(PolicyError) as caught:
        create(tmp_path, output_dir=tmp_path)
    assert caught.value.code == "CMD-TPL-030"


def test_the_output_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        create(tmp_path, output_dir=tmp_path / "missing")
    assert caught.value.code == "CMD-TPL-031"


def test_a_clone_with_a_history_is_not_mixed_with_a_new_one(tmp_path: Path) -> None:
    made = create(tmp_path)
    made.folder.rename(tmp_path / "elsewhere")
    before = everything(tmp_path)
    with pytest.raises(PolicyError) as caught:
        create(tmp_path)
    assert caught.value.code == "CMD-TPL-032"
    assert everything(tmp_path) == before


def test_an_empty_clone_is_used(tmp_path: Path) -> None:
    bare = tmp_path / "dependencies" / ".repos" / "github.com" / "projectsyn" / "component-foo.git"
    bare.mkdir(parents=True)
    git(bare, "init", "--quiet", "--bare")
    create(tmp_path)
    assert git(bare, "for-each-ref", "--format=%(refname)") == "refs/heads/master"


def test_a_template_of_ones_own(tmp_path: Path) -> None:
    remote = template(GitWorld(tmp_path / "remotes"))
    made = create(tmp_path, template_url=remote.url, trust_template=True, template_version=None, output_dir=tmp_path)
    content = json.loads((made.folder / ".cruft.json").read_text())
    assert list(content) == ["template", "commit", "checkout", "context", "directory"]
    assert (content["template"], content["commit"], content["checkout"]) == (remote.url, remote.sha(), None)
    assert content["context"]["cookiecutter"]["flavour"] == "plain"
    assert os.access(made.folder / "sub" / "run.sh", os.X_OK)


def test_an_own_folder_below_dependencies_is_a_worktree_too(tmp_path: Path) -> None:
    (tmp_path / "dependencies").mkdir()
    made = create(tmp_path, output_dir=tmp_path / "dependencies")
    assert (made.folder / ".git").is_file()
