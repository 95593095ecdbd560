"""The shape of the code: rooms import downwards, modules and functions stay readable, the library does not print."""

from __future__ import annotations

import ast
import functools
import itertools
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted((ROOT / "commodore").rglob("*.py"))

MODULE_LINES = 700
FUNCTION_LINES = 60
PARAMETERS = 6
LONG_SIGNATURES = {"commodore/core/engine/kapitan/patches.py _render_chart"}
"""Functions that may have more parameters: this one stands in for Kapitan's, which calls it with them."""
HANDED_ON = re.compile(r"\b(Context|Limits|Announce)\b")
"""What functions take from their callers, by its type."""


@functools.cache
def trees() -> list[tuple[str, ast.Module]]:
    return [(str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))) for path in MODULES]


@functools.cache
def nodes_by_kind() -> Mapping[type[ast.AST], list[tuple[str, Any]]]:
    results = defaultdict(list)
    for path, tree in trees():
        for node in ast.walk(tree):
            results[type(node)].append((path, node))
    return results


def nodes(*kinds: type[ast.AST]) -> Iterator[tuple[str, Any]]:
    """The nodes of some kinds in all modules, each with the path of its module."""
    return itertools.chain.from_iterable(nodes_by_kind()[kind] for kind in kinds)


@pytest.fixture(scope="module", autouse=True)
def parsed_once() -> Iterator[None]:
    """The package is read once for all of these tests, and not kept for others."""
    yield
    trees.cache_clear()
    nodes_by_kind.cache_clear()


def check_contracts(root: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the package in `root`."""
    command = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    return subprocess.run(
        [sys.executable, "-c", command],
        cwd=root,
        env={"PYTHONPATH": str(root), "PYTHONSAFEPATH": "1", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def test_rooms_import_downwards() -> None:
    result = check_contracts(ROOT)
    assert result.returncode == 0, result.stdout


FLOORS = "Floors import downwards only"
SYSTEMS = "Systems know each other only where it is drawn"
CORE = "Rooms of the core import downwards only"
BASE = "Rooms of the base import downwards only"
CIRCLES = "Modules and folders of one folder form no circle"
KAPITAN = "Kapitan is known to the engine's adaptor only"
TERMINAL = "The terminal is known to the cli only"


def contracts() -> list[dict[str, Any]]:
    """The import contracts of the project."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        listed: list[dict[str, Any]] = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    return listed


def rooms() -> set[str]:
    """The modules that have a level in a contract, with dots."""
    layered = (contract for contract in contracts() if contract["type"] == "layers")
    return {
        f"{contract['containers'][0]}.{room}"
        for contract in layered
        for layer in contract["layers"]
        for room in re.split(r"\s*[|:]\s*", layer)
    }


ALLOWED = {
    "core/dependencies/a.py": "import commodore.core.sources",
    "core/engine/a.py": "import commodore.core.inventory.b",
    "core/engine/kapitan/a.py": "from kapitan.targets import compile_targets",
    "base/yaml/a.py": "import commodore.base.files",
    "hydrate/a.py": "import commodore.argocd",
    "cli/a.py": "import click, rich, rich_click",
}
FORBIDDEN = [
    {
        FLOORS: ("base/errors.py", "import commodore.core.sources"),
        CORE: ("core/sources/a.py", "import commodore.core.dependencies"),
        KAPITAN: ("core/engine/a.py", "from kapitan.targets import compile_targets"),
        TERMINAL: ("catalog/a.py", "def f():\n    from rich.table import Table"),
    },
    {
        FLOORS: ("catalog/a.py", "import commodore.cli"),
        CORE: ("core/dependencies/a.py", "import commodore.core.refs"),
        BASE: ("base/files/a.py", "import commodore.base.yaml"),
        KAPITAN: ("cli/a.py", "import kapitan"),
    },
    {
        FLOORS: ("core/review/a.py", "import commodore.observe"),
        SYSTEMS: ("catalog/a.py", "import commodore.argocd"),
        CORE: ("core/inventory/a.py", "import commodore.core.engine"),
        TERMINAL: ("core/sources/a.py", "import click"),
    },
    {
        FLOORS: ("surprise/a.py", ""),
        CORE: ("core/surprise/a.py", ""),
        CIRCLES: ("argocd/a.py", "import commodore.argocd.c"),
    },
]
"""Lines of modules, each of which breaks the contract that it is under and no other."""


def generate(root: Path, lines: dict[str, str]) -> None:
    """Make a package with all rooms of the contracts, and modules with a line of code."""
    (root / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    package = root / "commodore"
    for folder in [root.joinpath(*room.split(".")) for room in rooms()] + [(package / name).parent for name in lines]:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").touch()
    for folder in (package, package / "core", package / "base"):
        (folder / "__init__.py").touch()
    for name, line in lines.items():
        (package / name).write_text(line, encoding="utf-8")


@pytest.mark.parametrize("broken", [{}, *FORBIDDEN])
def test_contracts_are_alive(broken: dict[str, tuple[str, str]], tmp_path: Path) -> None:
    """A generated package under the same contracts: what they forbid is found, what they allow is not."""
    others = {"core/inventory/b.py": "", "argocd/b.py": "", "argocd/c.py": "import commodore.argocd.a"}
    generate(tmp_path, {**others, "argocd/a.py": "", **(dict(broken.values()) or ALLOWED)})
    result = check_contracts(tmp_path)
    assert set(re.findall(r"^(.*) BROKEN\b", result.stdout, re.MULTILINE)) == set(broken), result.stdout + result.stderr
    assert result.returncode == (1 if broken else 0)


def drawn() -> set[str]:
    """The folders and modules in the tree of the page about the architecture, as paths below the package."""
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    tree = text.partition("```text\ncommodore/\n")[2].partition("```")[0]
    paths, parent = set(), ""
    for line in tree.splitlines():
        name = line.split()[0].rstrip("/")
        if line.startswith("    "):
            paths.add(f"{parent}/{name}")
        else:
            paths.add(parent := name)
    return paths


def test_the_page_draws_the_folders_that_exist() -> None:
    """The floors with their rooms, the systems, and the folders of data."""
    package = ROOT / "commodore"
    tracked = subprocess.run(["git", "ls-files", "commodore"], cwd=ROOT, capture_output=True, text=True, check=False)
    files = [Path(line).relative_to("commodore") for line in tracked.stdout.splitlines()]
    names = files or [path.relative_to(package) for path in package.rglob("*") if "__pycache__" not in path.parts]
    top = {path.parts[0] for path in names if len(path.parts) > 1}
    inside = {
        "/".join(path.parts[:2]) for path in names if len(path.parts) > 2 and path.parts[0] in ("cli", "core", "base")
    }
    loose = {path.name for path in names if len(path.parts) == 1} - {"__init__.py", "__main__.py", "py.typed"}
    assert drawn() == top | inside | loose


def test_modules_stay_short() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert lengths
    assert {path: lines for path, lines in lengths.items() if lines > MODULE_LINES} == {}


def test_functions_stay_short() -> None:
    long = {
        f"{path}:{node.lineno} {node.name}": node.end_lineno - node.lineno + 1
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > FUNCTION_LINES
    }
    assert long == {}


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    return nodes(ast.FunctionDef, ast.AsyncFunctionDef)


def test_functions_have_few_parameters() -> None:
    long = set()
    for path, node in functions():
        names = [posonlyarg.arg for posonlyarg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        if len([name for name in names if name not in ("self", "cls")]) > PARAMETERS:
            long.add(f"{path} {node.name}")
    assert long == LONG_SIGNATURES


FACES = ("commodore/catalog/library.py", "commodore/argocd/operations/options.py")


def is_handed_on(annotation: ast.expr | None) -> bool:
    return annotation is not None and HANDED_ON.search(ast.unparse(annotation)) is not None


def test_what_is_handed_on_has_no_default() -> None:
    """A forgotten argument would give the function below the program's own limits, and nobody who listens.

    The command line makes them, and the faces of the library where a program gives none.
    """
    results = []
    for path, node in functions():
        if path.startswith("commodore/cli/") or path in FACES:
            continue
        positional = [*node.args.posonlyargs, *node.args.args]
        optional = positional[len(positional) - len(node.args.defaults) :]
        optional += [
            kwonlyarg for kwonlyarg, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value
        ]
        results += [
            f"{path}:{node.lineno} {node.name}({item.arg})" for item in optional if is_handed_on(item.annotation)
        ]
    for path, node in nodes(ast.ClassDef):
        if path not in FACES:
            fields = (item for item in node.body if isinstance(item, ast.AnnAssign) and item.value is not None)
            results += [f"{path}:{field.lineno}" for field in fields if is_handed_on(field.annotation)]
    assert results == []


def test_private_means_private() -> None:
    """A module, class or function with an underscore is known to the modules of its own folder only."""
    results = []
    for path, node in nodes(ast.ImportFrom, ast.Import):
        folder = ".".join(Path(path).parent.parts)
        prefix = "" if isinstance(node, ast.Import) else f"{node.module}."
        for place in (f"{prefix}{alias.name}" for alias in node.names):
            parts = place.split(".")
            private = next((at for at, part in enumerate(parts) if re.match(r"_[a-z]", part)), None)
            if parts[0] == "commodore" and private is not None and folder_of(parts[:private]) != folder:
                results.append(f"{path}:{node.lineno} {place}")
    assert results == []


FACED = ("authoring", "catalog", "clusters", "fleet", "hydrate", "observe")
"""Systems that export all that the cli needs of them; `argocd` is held to more, see its tests."""


@pytest.mark.parametrize("system", FACED)
def test_the_cli_imports_the_faces_of_systems_only(system: str) -> None:
    room = f"commodore.{system}"
    results = [
        f"{path}:{node.lineno} {place}"
        for path, node in nodes(ast.Import, ast.ImportFrom)
        if path.startswith("commodore/cli/")
        for place in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names])
        if place.startswith(f"{room}.")
    ]
    assert results == []


def folder_of(parts: list[str]) -> str:
    """The package that a module is in; a package is in itself."""
    is_package = ROOT.joinpath(*parts).is_dir()
    return ".".join(parts if is_package else parts[:-1])


def test_only_the_cli_prints() -> None:
    prints = [
        f"{path}:{node.lineno}"
        for path, node in nodes(ast.Call)
        if not path.startswith("commodore/cli/") and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert prints == []


def test_folders_are_walked_by_one_module() -> None:
    """So that links, hidden names, missing folders and the order are a matter of its options, not of each caller."""
    walker = re.compile(r"\bos\.(walk|fwalk|scandir)\(|\.(walk|rglob)\((\"\*\")?\)")
    results = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in MODULES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if walker.search(line)
    ]
    assert [place.partition(":")[0] for place in results] == ["commodore/base/files/tree.py"], results


RENDERING = (
    *("commodore/core/engine/kapitan/", "commodore/core/engine/filters/", "commodore/core/engine/jsonnet/"),
    *("commodore/argocd/rendering/", "commodore/hydrate/rendering/"),
    *("commodore/core/render/", "commodore/fleet/helm", "commodore/fleet/rendering"),
    "commodore/core/dependencies/bundle/",
)
OPENS = {"open", "read_bytes", "read_text", "write_bytes", "write_text"}
STARTS = {
    *("system", "popen", "Popen", "start_program", "check_call", "check_output"),
    *("execv", "execve", "execvp", "posix_spawn"),
}
FETCHES = {"urlopen", "urlretrieve", "HTTPConnection", "HTTPSConnection", "create_connection"}

# What does not go through the confinement, and why it need not.
APART = {
    "filters/run.py run_filters write_text": "says in the run's own folder what is worked on",
    "kapitan/renderer.py _note_current_work write_text": "the same",
    "jsonnet/evaluator.py _sink open": "a file in memory",
    "jsonnet/evaluator.py _listening fdopen": "its own standard error",
    "kapitan/patches.py __enter__ open": "opens through the confinement's opener",
    "kapitan/patches.py _open_confined open": "the same, for writing; reads what was copied to the temporary folder",
    "kapitan/patches.py _write_helm_values fdopen": "a temporary file of ours",
    "kapitan/isolated.py _in_child open": "what a child of ours answers",
    "kapitan/isolated.py _work_in_child open": "the same, from the other end",
    "kapitan/isolated.py _forget_variables open": "where the variables of the process lie",
    "kapitan/kustomize_trace.py conclude read_text": "what the script has noted that stands in for git",
    "kapitan/kustomize_trace.py _local read_bytes": "files of a kustomization that was judged, to record them",
    "kapitan/kustomize_trace.py _documents read_bytes": "the same",
    "kapitan/fetch_git.py _leads_nowhere_else read_bytes": "fetches, and renders nothing",
    "kapitan/fetch_git.py _depends_on_nothing_else read_bytes": "fetches, and renders nothing",
    "kapitan/fetch.py _download get_download": "fetches, and renders nothing; the policy was asked for the host",
    "kapitan/chart_index.py _index get_download": "the same; the policy was asked for the host",
    "kapitan/fetch.py _remember read_bytes": "of a chart that was unpacked here",
    "kapitan/chart_dependencies.py _packed open": "the same",
    "rendering/directory.py _objects read_bytes": "a plain file of such a repository; its size was asked for",
    "rendering/helm.py _templates read_bytes": "looks for a word in templates of a chart of such a repository",
    "rendering/kustomize.py _read read_text": "a kustomization of such a repository",
    "rendering/kustomize_remotes.py _content read_bytes": "the same",
    "rendering/kustomize_remotes.py outdated read_text": "what the script has noted that stands in for git",
    "render/programs.py _is_script open": "the two first bytes of a program of the user",
    "rendering/plugin_run.py _copy_of read_bytes": "the program that a policy of the user names, to compare its digest",
    "rendering/plugin_run.py _copy_of write_bytes": "a copy of it in the scratch folder of this run",
    "rendering/plugin_run.py _work_folder read_bytes": "a file that the policy names of a repository with no links out",
    "rendering/plugin_run.py _work_folder write_bytes": "a copy of it in the scratch folder of this run",
    "rendering/value_layers.py _content read_bytes": "values of a chart, whose repository has no links out",
    "render/programs.py start run": "starts helm, kustomize and plugins, within bounds",
    "render/programs.py write_file open": "files of this run in its scratch folder",
    "render/tool_identity.py _content open": "the digest of a program of the user",
    "render/tool_identity.py _digest_of read_bytes": "the digest of configuration of the user",
    "render/tool_identity.py _contexts read_bytes": "the same",
    "render/tool_identity.py _version run": "asks a program of the user for its version",
    "fleet/rendering.py _write write_bytes": "charts of a fleet, in the folder of this run",
    "render/random_templates.py is_random read_bytes": "looks for functions in templates of a chart",
    "render/script_reads.py _text open": "a script of the user that stands for a program",
    "render/output_cache.py _contents read_bytes": "files of a repository, to know that they are the same",
    "bundle/jsonnetfile.py read_content open": "the jsonnetfile of a component, with a limit of its size",
    "bundle/exports.py _file_digest open": "files of the cache",
    "bundle/install.py _file_digest read_bytes": "files that this program has installed",
}


def goes_round(tree: ast.Module) -> Iterator[str]:
    """The functions of a module that open a file, start a process or ask a server, and what they call for it."""
    inside: dict[ast.AST, str] = {}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            inside |= dict.fromkeys(ast.walk(function), function.name)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        module = owner.id if isinstance(owner, ast.Name) else ""
        if (
            called in OPENS | STARTS | FETCHES | {"fdopen", "get_download"}
            or (module, called) == ("running", "run")
            or (module, called) in {("subprocess", "run"), ("subprocess", "call"), ("socket", "socket")}
            or module in {"requests", "urllib", "http"}
        ):
            yield f"{inside.get(node, '')} {called}"


def test_rendering_code_goes_through_the_confinement() -> None:
    """Whoever opens a file, starts a process or asks a server for a rendering asks the confinement."""
    results = {
        f"{'/'.join(path.split('/')[-2:])} {call}"
        for path, tree in trees()
        if path.startswith(RENDERING)
        for call in goes_round(tree)
    }
    assert results == set(APART)


@pytest.mark.parametrize(
    "code",
    [
        "open('x')",
        "builtins.open('x')",
        "Path('x').read_text()",
        "os.open('x', 0)",
        "subprocess.run(['x'])",
        "subprocess.Popen(['x'])",
        "os.system('x')",
        "requests.get('x')",
        "urllib.request.urlopen('x')",
    ],
)
def test_what_goes_round_the_confinement_is_found(code: str) -> None:
    assert list(goes_round(ast.parse(f"def f():\n    {code}"))) != []
    assert list(goes_round(ast.parse("def f(c):\n    c.read('x'), c.run(['x']), start(['x'])"))) == []


# Who starts processes otherwise than by `base.programs.running`, and why.
STARTERS = {
    "commodore/base/programs/running.py": "the one runner",
    "commodore/base/programs/child_processes.py": "what it starts by",
    "commodore/base/programs/workers/pool.py": "a server that forks workers",
    "commodore/base/programs/python_children.py": "a process that answers again and again",
    "commodore/core/inventory/_reclass_process.py": "a process that answers again and again",
    "commodore/core/confinement/namespaces.py": "a first process of its own numbers of processes",
    "commodore/core/engine/kapitan/isolated.py": "Python code of components, in a child of the worker",
    "commodore/base/programs/workers/server.py": "forks workers",
    "commodore/core/confinement/programs.py": "within workers, which end with all that they have started",
    "commodore/core/lieutenant/login/browser.py": "the user's browser, which stays",
}


def called_by(call: ast.Call) -> str:
    """`name` or `module.name`; longer words for what is called are of no interest here."""
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        return f"{call.func.value.id}.{call.func.attr}"
    return call.func.id if isinstance(call.func, ast.Name) else ""


def test_programs_are_started_by_one_runner() -> None:
    """It bounds them, and ends them with the run."""
    results = {
        path
        for path, node in nodes(ast.Call)
        if called_by(node)
        in {"start_program", "Popen", "subprocess.Popen", "subprocess.run", "os.fork", "subprocess.call"}
    }
    assert results == set(STARTERS)


# Who has threads otherwise than by `base.programs.threads`, and how their programs are ended.
POOLS = {
    "commodore/base/programs/threads.py": "the one way",
    "commodore/authoring/sync/run.py": "cancels the run",
    "commodore/catalog/pipeline.py": "closes the store, which ends its git",
    "commodore/catalog/stages/checkouts.py": "works on files",
    "commodore/clusters/publishing.py": "cancels the run",
    "commodore/clusters/rollout.py": "the same",
    "commodore/core/dependencies/bundle/sources.py": "closes the store",
    "commodore/core/results/remote_store/maintenance.py": "asks servers only",
    "commodore/core/sources/git/ls_remote.py": "cancels its questions",
    "commodore/core/sources/git/store.py": "closes the store",
    "commodore/core/tools/latest.py": "asks servers only",
    "commodore/hydrate/publishing/publishing.py": "closes the store",
}


def test_threads_end_their_programs() -> None:
    """An interruption must not wait for a program that a thread waits for."""
    programs = {path for path, node in nodes(ast.Call) if called_by(node) == "ThreadPoolExecutor"}
    assert programs == set(POOLS)


INHERITS = re.compile(r"\*\*os\.environ|dict\(os\.environ\)|os\.environ\.copy\(\)|os\.environ \|")
"""How all variables of this process are handed on."""
PROCESSES = {"create_subprocess_exec", "create_subprocess_shell", "Process", "ProcessPoolExecutor", "getoutput"}


def hands_on_variables(tree: ast.Module) -> Iterator[str]:
    """The places of a module that start a program without a list of variables, or that copy all that there are."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            owner = called_by(node).rpartition(".")[0]
            env = next((ast.unparse(word.value) for word in node.keywords if word.arg == "env"), "os.environ")
            by_subprocess = called in {"Popen", "start_program"} or (
                owner == "subprocess" and called in {"run", "call", "check_call", "check_output"}
            )
            by_system = called.startswith(("spawn", "posix_spawn")) or (owner == "os" and called in {"system", "popen"})
            by_exec = owner == "os" and called.startswith("exec") and not called.endswith("e")
            if (by_subprocess and "os.environ" in env) or by_system or by_exec or called in PROCESSES:
                yield f"{node.lineno} {called}"
        if isinstance(node, ast.Call | ast.Dict | ast.BinOp) and INHERITS.search(ast.unparse(node)):
            yield f"{node.lineno} copies all variables"


def test_programs_get_a_list_of_variables() -> None:
    """So that tokens of this program, of forges and of clouds stay here: see child_processes.py."""
    assert [f"{path}:{place}" for path, tree in trees() for place in hands_on_variables(tree)] == []


@pytest.mark.parametrize(
    "code",
    [
        "subprocess.run(['x'])",
        "subprocess.run(['x'], env=os.environ)",
        "subprocess.run(['x'], env={**os.environ, 'A': '1'})",
        "subprocess.Popen(['x'], cwd='y')",
        "Popen(['x'], env=dict(os.environ))",
        "start_program(['x'], env=os.environ)",
        "os.system('x')",
        "os.execv('x', [])",
        "os.posix_spawn('x', [], {})",
        "multiprocessing.Process(target=f)",
        "variables = os.environ.copy()",
        "variables = os.environ | {'A': '1'}",
    ],
)
def test_programs_with_all_variables_are_found(code: str) -> None:
    assert list(hands_on_variables(ast.parse(code))) != []
    assert list(hands_on_variables(ast.parse("subprocess.run(['x'], env=child_environment()), run(['x'])"))) == []


def test_nothing_is_left_to_do() -> None:
    mark = re.compile(r"\b(TODO|FIXME)\b")
    marks = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in MODULES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if mark.search(line)
    ]
    assert marks == []
