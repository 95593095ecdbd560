"""The program that is called, and the parts of its user's configuration that it uses."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.render.script_reads import mentions
from commodore.core.render.tool_identity import Programs, defaults_digest, tool_digest
from tests.world.folders import write_script

pytestmark = pytest.mark.tools


def program(folder: Path, name: str, text: str = "echo 1") -> Path:
    return write_script(folder / name, text)


def digest(tmp_path: Path, name: str, *folders: str, directory: Path | None = None, **environment: str) -> str:
    path = os.pathsep.join([*folders, "/usr/bin", "/bin"])
    programs = Programs({"PATH": path, **environment}, directory or tmp_path, tmp_path / "memory.json", DEFAULT_LIMITS)
    return tool_digest(name, programs)


def test_content_counts_and_place_does_not(tmp_path: Path) -> None:
    item, two = tmp_path / "one", tmp_path / "two"
    program(item, "helm")
    program(two, "helm")
    first = digest(tmp_path, "helm", str(item))
    assert digest(tmp_path, "helm", str(two)) == first
    program(two, "helm", "echo 1 # changed")
    assert digest(tmp_path, "helm", str(two)) != first
    assert digest(tmp_path, "helm", str(two), str(item)) != digest(tmp_path, "helm", str(item), str(two))
    assert digest(tmp_path, "helm", str(tmp_path / "none")) == "missing"


def test_content_that_changes_without_a_new_size_counts(tmp_path: Path) -> None:
    """Digests are remembered by size and times; a file that is being written may get both again."""
    file = program(tmp_path / "one", "helm", "echo 1")
    first = digest(tmp_path, "helm", str(file.parent))
    times = file.stat()
    program(file.parent, "helm", "echo 2")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert digest(tmp_path, "helm", str(file.parent)) != first


def test_a_starter_counts_by_what_it_starts(tmp_path: Path) -> None:
    item = program(tmp_path / "one", "helm", f'. "{tmp_path}/version"; echo "$VERSION $MORE"').parent
    (tmp_path / "version").write_text("VERSION=1")
    first = digest(tmp_path, "helm", str(item))
    assert digest(tmp_path, "helm", str(item), MORE="x") != first
    (tmp_path / "version").write_text("VERSION=2")
    assert digest(tmp_path, "helm", str(item)) != first


SCRIPTS = {
    "a file by its path": ("cat {folder}/other/named", "other/named"),
    "a file in its folder": ('cat "$(dirname "$0")/named"', "bin/named"),
    "a file outside of its folder": ('here=${{0%/*}}; . "$here/../other/named"', "other/named"),
    "a file where it runs": (". ./named", "named"),
    "a file that a file names": (". {folder}/other/more", "named"),
    "a program": ('exec "{folder}/other/named" "$@"', "other/named"),
}


@pytest.mark.parametrize("kind", SCRIPTS, ids=str)
def test_a_script_counts_with_the_files_that_it_names(tmp_path: Path, kind: str) -> None:
    text, name = SCRIPTS[kind]
    folder = program(tmp_path / "bin", "helm", "[ $1 = version ] || " + text.format(folder=tmp_path)).parent
    for path, content in (("other/more", f". {tmp_path}/named"), ("other/named", "one"), ("named", "one")):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)
    (tmp_path / name).unlink(missing_ok=True)
    missing = digest(tmp_path, "helm", str(folder))
    (tmp_path / name).write_text("one")
    first = digest(tmp_path, "helm", str(folder))
    assert digest(tmp_path, "helm", str(folder)) == first != missing
    (tmp_path / name).write_text("two")
    assert digest(tmp_path, "helm", str(folder)) not in (first, missing)


def test_what_a_script_writes_does_not_count(tmp_path: Path) -> None:
    text = f'echo run >> "{tmp_path}/runs"; date > {tmp_path}/runs; wc /dev/null /proc/self/stat'
    folder = program(tmp_path / "bin", "helm", f"[ $1 = version ] && exit; {text}").parent
    first = digest(tmp_path, "helm", str(folder))
    (tmp_path / "runs").write_text("run\n")
    assert digest(tmp_path, "helm", str(folder)) == first


def test_variables_of_a_script_count(tmp_path: Path) -> None:
    folder = program(tmp_path / "bin", "helm", '[ $1 = version ] && exit; echo "$OPTION ${OTHER:-} $HOME"').parent
    first = digest(tmp_path, "helm", str(folder))
    assert digest(tmp_path, "helm", str(folder), UNNAMED="x") == first
    assert digest(tmp_path, "helm", str(folder), HOME="/elsewhere") == first
    results = [digest(tmp_path, "helm", str(folder), **{name: "x"}) for name in ("OPTION", "OTHER")]
    assert len({first, *results}) == 3


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file that it names": lambda folder: (folder / "named").write_text("x=1"),
    "the program": lambda folder: program(folder / "late", "helm", "echo other"),
    "one that comes first": lambda folder: program(folder / "early", "helm", "echo first"),
    "none": lambda folder: (folder / "late/helm").unlink(),
}


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_program_that_is_replaced(tmp_path: Path, change: str) -> None:
    program(tmp_path / "late", "helm", f". {tmp_path}/named")
    (tmp_path / "named").write_text("")
    path = f"{tmp_path}/early:{tmp_path}/late:/usr/bin:/bin"
    programs = Programs({"PATH": path}, tmp_path, None, DEFAULT_LIMITS)
    programs.digest("helm")
    assert not programs.has_changed("helm")
    CHANGES[change](tmp_path)
    assert programs.has_changed("helm")


def test_paths_are_relative_to_the_folder_of_the_run(tmp_path: Path) -> None:
    first = digest(tmp_path, "helm", "bin", directory=program(tmp_path / "one/bin", "helm").parent.parent)
    second = digest(tmp_path, "helm", "bin", directory=program(tmp_path / "two/bin", "helm", "echo 2").parent.parent)
    assert first != second != "missing"
    assert digest(tmp_path, "bin/helm", directory=tmp_path / "two") == second
    assert digest(tmp_path, "bin/helm", directory=tmp_path / "none") == "missing"


def test_kustomize_is_what_the_wrapper_takes_for_it(tmp_path: Path) -> None:
    folder = str(program(tmp_path / "one", "kubectl").parent)
    assert digest(tmp_path, "kustomize", folder).startswith("kubectl ")
    program(tmp_path / "one", "kustomize")
    assert digest(tmp_path, "kustomize", folder).startswith("kustomize ")


@pytest.mark.parametrize("damage", ["[]", "{", '{"x": 1}', "null"])
def test_a_damaged_memory_is_none(tmp_path: Path, damage: str) -> None:
    folder = str(program(tmp_path / "one", "helm").parent)
    first = digest(tmp_path, "helm", folder)
    (tmp_path / "memory.json").write_text(damage)
    assert digest(tmp_path, "helm", folder) == first


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="needs a file system in memory")
def test_a_script_counts_with_files_in_memory(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        data = Path(memory, "data")
        data.write_text("one")
        folder = str(program(tmp_path / "one", "helm", f"cat {data}").parent)
        first = digest(tmp_path, "helm", folder)
        data.write_text("other")
        assert digest(tmp_path, "helm", folder) != first


def test_the_time_zone(tmp_path: Path) -> None:
    (tmp_path / "zone").write_text("one")

    def zone(**environment: str) -> str:
        return defaults_digest("zone", environment)

    results = [
        zone(),
        zone(TZ=""),
        zone(TZ="Europe/Zurich"),
        zone(TZ=f":{tmp_path}/zone"),
        zone(ZONEINFO=f"{tmp_path}/zone"),
    ]
    assert zone(TZ=f":{tmp_path}/zone", OTHER="x") == results[3]
    (tmp_path / "zone").write_text("two")
    results += [zone(TZ=f":{tmp_path}/zone"), zone(ZONEINFO=f"{tmp_path}/zone")]
    assert len(set(results)) == 7


def test_defaults_of_users(tmp_path: Path) -> None:
    config = tmp_path / ".kube/config"
    config.parent.mkdir()
    seen = [defaults_digest("helm", {"HOME": str(tmp_path)})]
    for text in (
        "{current-context: a, contexts: [{name: a, context: {namespace: x}}]}",
        "{current-context: b, contexts: [{name: a, context: {namespace: x}}]}",
        "{current-context: a, contexts: [{name: a, context: {namespace: y}}]}",
        "no: [yaml",
    ):
        config.write_text(text)
        seen.append(defaults_digest("helm", {"HOME": str(tmp_path)}))
    seen.append(defaults_digest("helm", {"HOME": str(tmp_path), "KUBERNETES_SERVICE_HOST": "x", "POD_NAMESPACE": "p"}))
    assert len(set(seen)) == len(seen)
    assert defaults_digest("helm", {"HOME": str(tmp_path), "OTHER": "x"}) == seen[-2]
    assert defaults_digest("helm", {"HOME": "/none", "KUBECONFIG": str(config)}) == seen[-2]
    kubectl = defaults_digest("kubectl", {"HOME": str(tmp_path)})
    assert defaults_digest("kubectl", {"HOME": str(tmp_path), "KUBECTL_KUBERC": "false"}) != kubectl


def test_a_program_that_cannot_be_read(tmp_path: Path) -> None:
    """A program that may be run and not read: what its `version` says counts, and that nothing else is known of it."""
    path = program(tmp_path / "one", "helm")
    path.write_bytes(b"no program")
    first = digest(tmp_path, "helm", str(path.parent))
    path.write_bytes(b"no program either")
    assert digest(tmp_path, "helm", str(path.parent)) != first


def test_a_configuration_of_kubernetes_that_is_no_map(tmp_path: Path) -> None:
    config = tmp_path / "config"
    seen = set()
    for text in ("[a]", "[b]"):
        config.write_text(text)
        seen.add(defaults_digest("helm", {"HOME": "/none", "KUBECONFIG": str(config)}))
    assert len(seen) == 2


def test_a_script_that_is_gone_mentions_nothing(tmp_path: Path) -> None:
    assert mentions(str(tmp_path / "none"), tmp_path, {}) == ([], [])
