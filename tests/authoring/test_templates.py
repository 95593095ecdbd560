"""Templates: the bundled ones with their histories, remote ones, and whom to trust."""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from commodore.authoring import templates
from commodore.authoring.rendering import render
from commodore.authoring.slug import COMPONENT, PACKAGE, Kind
from commodore.authoring.templates import Template, bundled_url, open_template
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, PolicyError
from commodore.base.limits import Limits
from commodore.core.results.caches import template_lock
from tests.authoring.template_world import ARGUMENTS, FIRST, ROOT, SECOND, template
from tests.world.context import make_context
from tests.world.repos import GitCalls, GitWorld, Script, failing_server

REPOSITORY = Path(__file__).resolve().parent.parent.parent

# The commits of all versions. A new version adds its commit here; the ones that are here never change or go.
VERSIONS = {
    "component": [
        "c815b6ac90eb739846a3dbfe2b0a86552bc3a67f",
        "39f8ca4451a92e97bc77998ef55ccd5cc251b2cd",
        "d6257a731b35c142644e31881b3781b11b3d6ab1",
        "1b22d09ecf0b3e6f0e55856121187e6e838798ee",
        "d42fad019b8b56c402ff83abf722f1d3cd035db1",
    ],
    "package": [
        "fc58ea61e0f1f0937cd3363734e68fe4be394209",
        "f4df8722e3000eb4b355cbd0e57692a505dd38bd",
        "21cffe13219fb327432c8a40646087a2a3972c45",
        "f60643f3d02657567441b3ada32ff7edd6818164",
        "592429ee1b6afd8eb80010547a4232a75e9b82a6",
    ],
}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """scripts/templates as a module."""
    loader = SourceFileLoader("templates_script", str(REPOSITORY / "scripts" / "templates"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = bytecode
    return module


@pytest.fixture
def two_versions(tmp_path: Path, script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The bundled component template with one more version, as a later commodore would have it."""
    histories = tmp_path / "histories"
    shutil.copytree(templates._HISTORIES, histories)
    file = histories / "component.history"
    count, before = script.read_history(file.read_bytes())
    now = {**before, f"{ROOT}/later.txt": ("100644", b"later\n")}
    file.write_bytes(file.read_bytes() + script.next_version("component", count + 1, before, now))
    monkeypatch.setattr(templates, "_HISTORIES", histories)
    yield file
    shutil.rmtree(histories)


@pytest.mark.parametrize("kind", [COMPONENT, PACKAGE], ids=["component", "package"])
def test_history_ends_with_the_template_as_it_is(kind: Kind, script: ModuleType) -> None:
    """If this fails: run scripts/templates, and add the new version's commit to VERSIONS above."""
    history = (templates._HISTORIES / f"{kind.name}.history").read_bytes()
    count, tree = script.read_history(history)
    assert tree == script.read_folder(REPOSITORY / f"{kind.name}-template")
    with open_template(bundled_url(kind), kind, ("main",), make_context(), trust=False) as bundled:
        assert [bundled.resolve(f"v{number}") for number in range(1, count + 1)] == VERSIONS[kind.name]
        assert bundled.resolve("main") == bundled.resolve(None) == VERSIONS[kind.name][-1]


def test_the_script_sees_changes_and_adds_versions(tmp_path: Path, script: ModuleType) -> None:
    first = {"a": ("100644", b"1"), "b c": ("100755", b"\0")}
    second = {"a": ("100644", b"2"), "d/e": ("100644", b"")}
    history = script.next_version("component", 1, {}, first)
    assert script.read_history(history) == (1, first)
    longer = history + script.next_version("component", 2, first, second)
    assert script.read_history(longer) == (2, second)
    assert script.read_history(b"") == (0, {})


def test_the_script_finds_the_histories_complete() -> None:
    command = [sys.executable, str(REPOSITORY / "scripts" / "templates"), "--check"]
    subprocess.run(command, check=True, capture_output=True)


def test_a_longer_history_keeps_its_commits(two_versions: Path) -> None:
    with open_template(bundled_url(COMPONENT), COMPONENT, (), make_context(), trust=False) as bundled:
        assert bundled.resolve("v1") == VERSIONS["component"][0]
        assert bundled.resolve("main") not in VERSIONS["component"]
        assert bundled.has(VERSIONS["component"][0])


def test_bundled_versions() -> None:
    first = VERSIONS["component"][0]
    with open_template(bundled_url(COMPONENT), COMPONENT, (), make_context(), trust=False) as bundled:
        assert bundled.resolve(first) == bundled.resolve(first[:7]) == first
        assert not bundled.has("0" * 40)
        for unknown in ("v999", "0" * 40, "--help", "nain"):
            with pytest.raises(InputError) as caught:
                bundled.resolve(unknown)
            assert caught.value.code == "CMD-TPL-021"
        assert caught.value.hint == "did you mean 'main'?"


def test_bundled_templates_need_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = GitCalls(tmp_path / "bin", monkeypatch)
    with open_template(bundled_url(COMPONENT), COMPONENT, ("main",), make_context(), trust=False) as bundled:
        render(bundled, [(bundled.resolve("main"), {"slug": "foo"})], make_context())
    assert set(calls.verbs) <= {"init", "fast-import", "for-each-ref", "read-tree", "checkout-index"}


def test_a_bundled_template_of_the_other_kind() -> None:
    with (
        pytest.raises(InputError) as caught,
        open_template(bundled_url(PACKAGE), COMPONENT, (), make_context(), trust=True),
    ):
        pass
    assert caught.value.code == "CMD-TPL-026"


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example.com/projectsyn/commodore-component-template.git",
        "https://github.com@evil.example.com/projectsyn/commodore-component-template.git",
        "http://github.com/projectsyn/commodore-component-template.git",
        "git://github.com/projectsyn/commodore-component-template.git",
        "https://github.com/projectsyn/commodore-config-package-template.git",
        "git@github.com:someone/commodore-component-template.git",
    ],
)
def test_unknown_templates_are_refused_before_anything_is_fetched(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = GitCalls(tmp_path / "bin", monkeypatch)
    with pytest.raises(PolicyError) as caught, open_template(url, COMPONENT, ("main",), make_context(), trust=False):
        pass
    assert caught.value.code == "CMD-TPL-020"
    assert calls.verbs == []


@pytest.mark.parametrize("url", [COMPONENT.public_template, "git@github.com:projectsyn/commodore-component-template"])
def test_the_public_template_is_known(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The public address leads to a repository on this machine, as a user's own git configuration can make it."""
    remote = template(GitWorld(tmp_path))
    place = f"url.{remote.url}.insteadOf"
    for address in (url, "ssh://git@github.com/projectsyn/commodore-component-template"):
        subprocess.run(["git", "config", "--global", "--add", place, address], check=True)
    with open_template(url, COMPONENT, ("main",), make_context(), trust=False) as opened:
        assert opened.resolve("main") == remote.sha()


@pytest.mark.parametrize("url", ["ext::sh -c x", "--upload-pack=x", "relative/path", ""])
def test_unusable_urls(url: str) -> None:
    with pytest.raises(CommodoreError) as caught, open_template(url, COMPONENT, ("main",), make_context(), trust=True):
        pass
    assert caught.value.code.startswith("CMD-GIT-01")


def test_unreachable_urls(tmp_path: Path) -> None:
    with failing_server(500) as url:
        for unreachable in (f"{url}/t.git", f"file://{tmp_path}/nowhere.git"):
            with (
                pytest.raises(EnvironmentFault),
                open_template(unreachable, COMPONENT, ("main",), make_context(), trust=True),
            ):
                pass


def opened(remote_url: str, *versions: str) -> Template:
    with open_template(remote_url, COMPONENT, versions, make_context(), trust=True) as template:
        return template


def test_versions_of_a_remote(tmp_path: Path) -> None:
    remote = template(GitWorld(tmp_path))
    first = remote.sha()
    remote.tag("v1")
    second = remote.commit(SECOND)
    opened_template = opened(remote.url, "main", "v1", first)
    assert (opened_template.resolve("main"), opened_template.resolve(None), opened_template.resolve("v1")) == (
        second,
        second,
        first,
    )
    assert opened_template.has(first)
    with pytest.raises(InputError) as caught:
        opened_template.resolve("v2")
    assert caught.value.code == "CMD-GIT-030"


def test_a_template_is_fetched_into_the_cache_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = template(GitWorld(tmp_path))
    opened(remote.url, "main")
    calls = GitCalls(tmp_path / "bin", monkeypatch)
    opened(remote.url, remote.sha())
    assert calls.count("fetch") == 0


def test_the_lock_of_the_cache_is_no_link(tmp_path: Path) -> None:
    remote = template(GitWorld(tmp_path / "remotes"))
    template_lock().parent.mkdir(parents=True)
    template_lock().symlink_to(tmp_path / "elsewhere")
    with (
        pytest.raises(EnvironmentFault) as error,
        open_template(remote.url, COMPONENT, ("main",), make_context(), trust=True),
    ):
        pytest.fail("locked through a link")
    assert error.value.code == "CMD-WORK-003"
    assert not (tmp_path / "elsewhere").exists()


def test_a_local_folder_is_made_absolute(tmp_path: Path) -> None:
    remote = template(GitWorld(tmp_path))
    assert opened("template.git", "main").url == str(remote.path)


def test_credentials_are_not_recorded(tmp_path: Path) -> None:
    remote = template(GitWorld(tmp_path))
    subprocess.run(
        ["git", "config", "--global", f"url.{remote.url}.insteadOf", "https://me:secret@git.example.com/t.git"],
        check=True,
    )
    opened_template = opened("https://me:secret@git.example.com/t.git", "main")
    assert opened_template.url == "https://git.example.com/t.git"
    (rendering,) = render(opened_template, [(remote.sha(), {"slug": "foo"})], make_context())
    assert rendering.arguments["_template"] == opened_template.url


def test_rendering(tmp_path: Path) -> None:
    remote = template(GitWorld(tmp_path))
    opened_template = opened(remote.url, "main")
    stored = {"slug": "foo", "name": "Foo", "unknown": "x", "_template": "x", "_commit": "y", "__private": "kept"}
    (rendering,) = render(opened_template, [(remote.sha(), stored)], make_context())
    assert {path: (file.content, file.mode) for path, file in rendering.files.items()}["sub/run.sh"] == (
        b"#!/bin/sh\n",
        "100755",
    )
    assert rendering.files["about.txt"].content == b"Foo of nobody, plain\n"
    assert rendering.arguments["github_name"] == "component-foo"
    assert rendering.arguments["__private"] == "kept"
    assert rendering.arguments["_commit"] == remote.sha()
    assert "unknown" not in rendering.arguments


def test_settings_of_cookiecutter_do_not_leak_in(tmp_path: Path) -> None:
    (Path.home() / ".cookiecutterrc").write_text("default_context: {flavour: leaked}\n", encoding="utf-8")
    remote = template(GitWorld(tmp_path))
    (rendering,) = render(opened(remote.url, "main"), [(remote.sha(), {"slug": "foo"})], make_context())
    assert rendering.arguments["flavour"] == "plain"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"cookiecutter.json": None}, "CMD-TPL-022"),
        ({"cookiecutter.json": "{"}, "CMD-TPL-023"),
        ({f"{ROOT}/broken.txt": "{{ nothing.there }}"}, "CMD-TPL-023"),
        ({f"{ROOT}/broken.txt": "{% if %}"}, "CMD-TPL-023"),
        ({"hooks/post_gen_project.sh": Script("#!/bin/sh\nexit 3\n")}, "CMD-TPL-023"),
        ({f"{ROOT}/many/{{{{ cookiecutter.slug * 300 }}}}": ""}, "CMD-TPL-023"),
    ],
)
def test_templates_that_cannot_be_rendered(tmp_path: Path, change: dict[str, str | None], code: str) -> None:
    remote = GitWorld(tmp_path).remote("broken", {**FIRST, **change}, branch="main")
    with pytest.raises(InputError) as caught:
        render(opened(remote.url, "main"), [(remote.sha(), {"slug": "foo"})], make_context())
    assert caught.value.code == code


@pytest.mark.parametrize("kind", ["a file", "a folder"])
@pytest.mark.parametrize("how", ["absolute", "climbing"])
def test_names_that_lead_out(tmp_path: Path, kind: str, how: str) -> None:
    """A name of the template becomes another one with an author's answer, or with a default of its own."""
    outside = tmp_path / "outside"
    escape = str(outside) if how == "absolute" else "../" * 24 + str(outside).lstrip("/")
    path = f"{ROOT}/{{{{ cookiecutter.escape }}}}" + ("" if kind == "a file" else "/file")
    arguments = ARGUMENTS.replace('"name": "x"', f'"name": "x", "escape": "{escape}"')
    remote = GitWorld(tmp_path).remote("broken", {**FIRST, "cookiecutter.json": arguments, path: "x"}, branch="main")
    with pytest.raises(InputError, match="leads out of the output folder") as caught:
        render(opened(remote.url, "main"), [(remote.sha(), {"slug": "foo"})], make_context())
    assert caught.value.code == "CMD-TPL-023"
    assert not outside.exists()


def test_a_hook_that_hangs(tmp_path: Path) -> None:
    hook = {"hooks/post_gen_project.sh": Script("#!/bin/sh\nexec sleep 60\n")}
    remote = GitWorld(tmp_path).remote("slow", {**FIRST, **hook}, branch="main")
    with pytest.raises(EnvironmentFault) as caught:
        render(
            opened(remote.url, "main"),
            [(remote.sha(), {"slug": "foo"})],
            make_context(limits=Limits(template_timeout=1.5)),
        )
    assert caught.value.code == "CMD-TPL-024"


@pytest.mark.parametrize("how", ["fine", "failing", "hanging"])
@pytest.mark.parametrize("kind", ["py", "sh"])
def test_hooks_leave_no_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, how: str) -> None:
    """Cookiecutter renders hooks into temporary files, which it does not remove."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    shell = {"fine": "true", "failing": "exit 3", "hanging": "exec sleep 60"}[how]
    python = {"fine": "import tempfile; tempfile.mkstemp()", "failing": "1/0", "hanging": "import time; time.sleep(60)"}
    hook = Script(f"#!/bin/sh\nmktemp\n{shell}\n") if kind == "sh" else python[how]
    remote = GitWorld(tmp_path).remote("hooks", {**FIRST, f"hooks/post_gen_project.{kind}": hook}, branch="main")
    context = make_context(limits=Limits(template_timeout=1.5 if how == "hanging" else 60))
    with contextlib.nullcontext() if how == "fine" else pytest.raises(CommodoreError, match="template"):
        render(opened(remote.url, "main"), [(remote.sha(), {"slug": "foo"})], context)
    assert not list(temporary.rglob("*"))


@pytest.mark.parametrize("limits", [Limits(template_files=3), Limits(template_bytes=10)])
def test_output_is_limited(tmp_path: Path, limits: Limits) -> None:
    remote = template(GitWorld(tmp_path))
    with pytest.raises(EnvironmentFault) as caught:
        render(opened(remote.url, "main"), [(remote.sha(), {"slug": "foo"})], make_context(limits=limits))
    assert caught.value.code == "CMD-TPL-025"


def test_a_template_in_a_folder_of_its_repository(tmp_path: Path) -> None:
    nested = {f"sub/{path}": content for path, content in FIRST.items()}
    remote = GitWorld(tmp_path).remote("nested", nested, branch="main")
    opened_template = opened(remote.url, "main")
    (rendering,) = render(opened_template, [(remote.sha(), {"slug": "foo"})], make_context(), directory="sub")
    assert "numbers.txt" in rendering.files
    with pytest.raises(InputError):
        render(opened_template, [(remote.sha(), {"slug": "foo"})], make_context())
