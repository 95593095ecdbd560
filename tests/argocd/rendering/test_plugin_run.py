"""Programs of config management plugins that a policy of the user names: what they are given, and what they give."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commodore import argocd
from commodore.argocd import Options, Tree
from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.confinement import isolation
from tests.argocd.comparing.conftest import URL, app, config
from tests.world.folders import write_script

pytestmark = pytest.mark.skipif(not isolation(), reason="this machine has no namespaces for all")
SHOWN = 'printf \'{"kind": "A", "metadata": {"name": "a"}, "said": "%s"}\' '
Policy = Callable[..., Options]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with the Applications `web`, which the plugin `p` renders, and `other`, which none does."""
    folder = tmp_path / "shop"
    (folder / "web" / "deep").mkdir(parents=True)
    (folder / "lib").mkdir()
    (folder / "other").mkdir()
    (folder / "other" / "c.json").write_text(config())
    (folder / "web" / "deep" / "file").write_text("of the source")
    (folder / "lib" / "file").write_text("of the library")
    block = {
        "name": "p",
        "env": [{"name": "TEAM", "value": "of $ARGOCD_APP_NAME"}],
        "parameters": [{"name": "a-b", "string": "text", "array": ["x", "y"], "map": {"k.k": "v"}}],
    }
    source = {"repoURL": URL, "path": "web", "plugin": block}
    (folder / "web.json").write_text(app("web", "web", source=source))
    (folder / "other.json").write_text(app("other", "other"))
    return folder


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    """Options by which the plugin runs a script."""

    def made(script: str, **rule: Any) -> Options:
        program = tmp_path / "programs" / "plugin"
        write_script(program, f"set -e\n{script}")
        digest = f"sha256:{hashlib.sha256(program.read_bytes()).hexdigest()}"
        plugin = {"name": "p", "engine": "exec", "generate": [str(program)], "digest": digest, "env": ["TEAM"], **rule}
        for name in ("init", "post"):
            if name in plugin:
                plugin[name] = [str(program), *plugin[name]]
        file = tmp_path / "policy.yaml"
        file.write_text(json.dumps({"version": 1, "plugins": [plugin]}))
        context = Context(ignore, DEFAULT_LIMITS, offline=True)
        return Options(context=context).having(self_url=(URL,), plugin_policy=file, enable_plugins=True)

    return made


def said(shop: Path, options: Options) -> Any:
    """Return the output of the plugin, or its error."""
    (application,) = argocd.render(Tree.folder(shop), options, ["web"]).applications
    return application.objects[0].data["said"] if application.error is None else application.error


def error(shop: Path, options: Options) -> CommodoreError:
    message = said(shop, options)
    assert isinstance(message, CommodoreError)
    return message


@pytest.mark.tools
@pytest.mark.requirement("D52")
def test_what_a_program_is_told(shop: Path, policy: Policy) -> None:
    options = policy(f'{SHOWN} "$(pwd | sed s,.*/,,) $(env | grep -v PARAMETERS | sort | tr "\\n" ";")"')
    options = options.having(kube_version="1.30.0", api_version=("v1", "apps/v1"))
    folder, _, variables = said(shop, options).partition(" ")
    given = dict(variable.partition("=")[::2] for variable in variables.split(";") if variable)
    own = {name: value for name, value in given.items() if name.startswith(("ARGOCD_", "PARAM_", "KUBE_"))}
    assert folder == "web"
    assert own.pop("ARGOCD_APP_REVISION_SHORT") == own.pop("ARGOCD_APP_REVISION")[:7]
    own.pop("ARGOCD_APP_REVISION_SHORT_8")
    assert own == {
        "ARGOCD_APP_NAME": "web",
        "ARGOCD_APP_NAMESPACE": "web",
        "ARGOCD_APP_PROJECT_NAME": "default",
        "ARGOCD_APP_SOURCE_PATH": "web",
        "ARGOCD_APP_SOURCE_REPO_URL": URL,
        "ARGOCD_APP_SOURCE_TARGET_REVISION": "",
        "ARGOCD_ENV_TEAM": "of web",
        "KUBE_API_VERSIONS": "apps/v1,v1",
        "KUBE_VERSION": "1.30.0",
        "PARAM_A_B": "text",
        "PARAM_A_B_0": "x",
        "PARAM_A_B_1": "y",
        "PARAM_A_B_K_K": "v",
    }
    assert set(given) - {name for name in given if name in own or name.startswith("ARGOCD_")} <= {
        *("PATH", "HOME", "TMPDIR", "LANG", "PWD", "SHLVL", "_", "OLDPWD")
    }


@pytest.mark.tools
@pytest.mark.requirement("D44", "D52")
def test_what_a_program_sees_and_writes(shop: Path, policy: Policy) -> None:
    """`init` prepares what `generate` reads, `post` gets what that writes; the repository stays as it is."""
    before = sorted(shop.rglob("*"))
    script = f"""case "$1" in
init) echo made > made; echo ignored;;
post) sed s,made,changed,;;
*) {SHOWN} "$(cat made deep/file) $(cat ../lib/file 2>&1 >/dev/null | wc -l)$(ls .. | tr '\\n' ' ')";;
esac"""
    options = policy(script, init=["init"], post=["post"])
    assert said(shop, options) == "changed of the source 1web "
    assert said(shop, policy(script, init=["init"], paths=["lib"])) == "made of the source 0lib web "
    assert sorted(shop.rglob("*")) == before


@pytest.mark.tools
@pytest.mark.requirement("D52", "D54")
def test_a_program_runs_if_it_is_enabled_alone(shop: Path, policy: Policy) -> None:
    options = policy(f"{SHOWN} yes")
    assert said(shop, options) == "yes"
    rendering = argocd.render(Tree.folder(shop), options)
    assert [(application.name, len(application.objects)) for application in rendering.applications] == [
        ("argocd/other", 1),
        ("argocd/web", 1),
    ]
    assert "CMD-ARGO-428" in [diagnostic.code for diagnostic in rendering.diagnostics]
    off = options.having(enable_plugins=False)
    assert (error(shop, off).code, "--enable-plugins" in error(shop, off).message) == ("CMD-ARGO-423", True)
    container = {"version": 1, "plugins": [{"name": "p", "engine": "container", "image": "x@sha256:0"}]}
    assert options.plugins.plugin_policy is not None
    options.plugins.plugin_policy.write_text(json.dumps(container))
    assert error(shop, options).code == "CMD-ARGO-423"


@pytest.mark.tools
@pytest.mark.parametrize(
    ("script", "rule", "code", "words"),
    [
        ("echo 'why not' >&2; exit 3", {}, "CMD-ARGO-424", "the plugin p fails: why not"),
        ("exit 3", {}, "CMD-ARGO-424", "the plugin p fails: exit code 3"),
        ("echo '- a list'", {}, "CMD-ARGO-417", "the output of the plugin p"),
        ("echo '{'", {}, "CMD-YAML-001", ""),
        ("true", {"env": []}, "CMD-ARGO-420", "'TEAM'"),
        ("cat", {"timeouts": {"generate": 0.2}}, "", ""),
    ],
)
def test_what_fails(shop: Path, policy: Policy, script: str, rule: dict[str, Any], code: str, words: str) -> None:
    options = policy(script, **rule)
    if not code:  # there is no input that it could wait for
        assert argocd.render(Tree.folder(shop), options, ["web"]).applications[0].objects == ()
        return
    message = error(shop, options)
    assert (message.code, words in message.message) == (code, True)


@pytest.mark.tools
@pytest.mark.requirement("D62")
def test_what_a_program_sees_is_read(shop: Path, tmp_path: Path, policy: Policy) -> None:
    """A change of it concerns the Application."""
    import shutil

    base = tmp_path / "base"
    shutil.copytree(shop, base)
    (shop / "lib" / "file").write_text("changed")
    options = policy(f'{SHOWN} "$(cat ../lib/file)"', paths=["lib"])
    states = {
        application.name: application.state
        for application in argocd.diff(Tree.folder(base), Tree.folder(shop), options).applications
    }
    assert states == {"argocd/other": "not-rendered", "argocd/web": "changed"}
