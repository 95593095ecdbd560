"""The wrapper `run-kustomize`, run by real shells."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

WRAPPER = Path(__file__).resolve().parents[2] / "commodore" / "scripts" / "run-kustomize"
# Prints each argument on its own line, between angle brackets, into the file "seen" next to itself.
RECORDER = """#!/bin/sh
printf '<%s>\\n' "$(basename "$0")" "$@" > "$(dirname "$0")/seen"
exit ${RESULT:-0}
"""


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder for PATH with what the wrapper and the recorder need, and nothing else."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("mkdir", "dirname", "basename"):
        program = shutil.which(name)
        assert program is not None
        (folder / name).symlink_to(program)
    return folder


def record(tools: Path, name: str) -> None:
    (tools / name).write_text(RECORDER)
    (tools / name).chmod(0o755)


def run(tools: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(WRAPPER), *arguments],
        env={"PATH": str(tools), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_is_executable_by_a_plain_shell() -> None:
    assert os.access(WRAPPER, os.X_OK)
    assert WRAPPER.read_text().startswith("#!/bin/sh\n")


def test_arguments_reach_kustomize(tools: Path, tmp_path: Path) -> None:
    record(tools, "kustomize")
    record(tools, "kubectl")
    out = tmp_path / "new" / "out put;$(touch x)"
    result = run(tools, str(out), "--load-restrictor", "Load Restrictions*None", "", INPUT_DIR="in $HOME 'dir'")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert (tools / "seen").read_text().splitlines() == [
        "<kustomize>",
        "<build>",
        "<in $HOME 'dir'>",
        "<-o>",
        f"<{out}>",
        "<--load-restrictor>",
        "<Load Restrictions*None>",
        "<>",
    ]
    assert out.is_dir()


def test_a_url_is_passed_on(tools: Path, tmp_path: Path) -> None:
    record(tools, "kustomize")
    url = "https://example.com/org/repo//config?ref=v1&x=y"
    assert run(tools, str(tmp_path / "out"), INPUT_DIR=url).returncode == 0
    assert f"<{url}>" in (tools / "seen").read_text().splitlines()


def test_kubectl_stands_in_for_kustomize(tools: Path, tmp_path: Path) -> None:
    record(tools, "kubectl")
    assert run(tools, str(tmp_path / "out"), "--enable-helm", INPUT_DIR="in").returncode == 0
    assert (tools / "seen").read_text().split() == [
        "<kubectl>",
        "<kustomize>",
        "<in>",
        "<-o>",
        f"<{tmp_path}/out>",
        "<--enable-helm>",
    ]


def test_the_exit_code_is_that_of_kustomize(tools: Path, tmp_path: Path) -> None:
    record(tools, "kustomize")
    assert run(tools, str(tmp_path / "out"), INPUT_DIR="in", RESULT="42").returncode == 42


@pytest.mark.parametrize(
    ("arguments", "environment", "missing"),
    [
        (("out",), {}, "INPUT_DIR"),
        (("out",), {"INPUT_DIR": ""}, "INPUT_DIR"),
        ((), {"INPUT_DIR": "in"}, "first argument"),
        (("",), {"INPUT_DIR": "in"}, "first argument"),
        (("out",), {"INPUT_DIR": "--stack-trace"}, "INPUT_DIR must not begin with a dash"),
        (("-out",), {"INPUT_DIR": "in"}, "output folder must not begin with a dash"),
    ],
)
def test_missing_input_is_exit_code_2(
    tools: Path, arguments: tuple[str, ...], environment: dict[str, str], missing: str
) -> None:
    record(tools, "kustomize")
    result = run(tools, *arguments, **environment)
    assert result.returncode == 2
    assert missing in result.stderr
    assert not (tools / "seen").exists()


def test_no_kustomize_is_exit_code_7(tools: Path) -> None:
    """The tool is looked for first, whatever else is missing; the message tells where."""
    result = run(tools)
    assert result.returncode == 7
    assert f"PATH={tools}:/opt/homebrew/bin" in result.stderr


def test_an_unusable_output_folder_fails(tools: Path, tmp_path: Path) -> None:
    record(tools, "kustomize")
    (tmp_path / "file").write_text("")
    assert run(tools, str(tmp_path / "file" / "out"), INPUT_DIR="in").returncode != 0
    assert not (tools / "seen").exists()


@pytest.mark.skipif(not (shutil.which("kustomize") or shutil.which("kubectl")), reason="needs kustomize or kubectl")
def test_the_real_tool_writes_one_file_per_object(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "kustomization.yaml").write_text("resources: [maps.yaml]\nnamePrefix: p-\n")
    (base / "maps.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: b}\n"
    )
    result = subprocess.run(
        [str(WRAPPER), str(tmp_path / "out put")],
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "INPUT_DIR": str(base)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert sorted(path.name for path in (tmp_path / "out put").iterdir()) == [
        "v1_configmap_p-a.yaml",
        "v1_secret_p-b.yaml",
    ]
