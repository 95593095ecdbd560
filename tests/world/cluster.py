"""A whole cluster: configuration, packages, components and catalog in real repositories, and the program.

    world = ClusterWorld(tmp_path)
    world.component("c-one", data={"answer": "42"})
    result = world.compile("--push")
    assert result.code == 0
    assert world.manifest("c-one/config.yaml")["data"] == {"answer": "42"}

What is included and described is plain data (`world.applications`, `world.parameters`, `world.descriptions`); a compile
commits what has changed in it first.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.world import lieutenant
from tests.world.documents import check_documents
from tests.world.program import Result, run_here
from tests.world.repos import Content, GitWorld, Remote, git

ROOT = Path(__file__).resolve().parents[2]

CLASS = """
parameters:
  kapitan:
    compile:
      - input_paths: ['${_base_directory}/component/main.jsonnet']
        input_type: jsonnet
        output_path: ${_instance}/
"""

COMMODORE_CLASS = "classes: [global.common, '${cluster:tenant}.${cluster:name}']\n"

MAIN = """
local inventory = (import 'lib/kapitan.libjsonnet').inventory();
local parameters = inventory.parameters['%(key)s'];
{
  config: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: inventory.parameters._instance },
    data: parameters.data,
  },
}
"""


class Running:
    """A command that is running, in a process group of its own. Its events are heard as they come."""

    def __init__(self, arguments: list[str], directory: Path, environment: Mapping[str, str]) -> None:
        self.mark = uuid.uuid4().hex
        self._process = subprocess.Popen(
            [sys.executable, "-m", "commodore", *arguments],
            cwd=directory,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment, "LC_TEST_MARK": self.mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._lines: list[str] = []
        self._stdout = ""
        self._heard = threading.Condition()
        self._ended = False
        self._threads = [threading.Thread(target=self._listen), threading.Thread(target=self._read)]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_for(self, stage: str, event: str = "StageStarted") -> bool:
        """Wait until a stage is announced. Returns False if the process ended without it."""
        expected = f'"event": "{event}"', f'"stage": "{stage}"'
        with self._heard:
            self._heard.wait_for(
                lambda: self._ended or any(all(part in line for part in expected) for line in self._lines), timeout=60
            )
            return any(all(part in line for part in expected) for line in self._lines)

    def signal_group(self, number: signal.Signals) -> None:
        """Everything that a terminal does at Ctrl-C: the signal reaches every process of the group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def signal_process(self, number: signal.Signals) -> None:
        """The signal reaches the program alone, not its children."""
        self._process.send_signal(number)

    def finish(self) -> Result:
        """Wait for the end."""
        code = self._process.wait(timeout=90)
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()
        return Result(code, self._stdout, "".join(self._lines))

    def orphans(self) -> list[int]:
        """Processes that this command has started and that are still there."""
        orphans = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if self.mark.encode() in (entry / "environ").read_bytes():
                        orphans.append(int(entry.name))
        return orphans

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            with self._heard:
                self._lines.append(line)
                self._heard.notify_all()
        with self._heard:
            self._ended = True
            self._heard.notify_all()

    def _read(self) -> None:
        assert self._process.stdout is not None
        self._stdout = self._process.stdout.read()


@dataclass
class ClusterWorld:
    """One cluster with its tenant. `name` and `tenant` are their ids.

    `applications` and `parameters` are those of the global defaults, `tenant_applications` and `tenant_parameters`
    those of the cluster's own class in the tenant's repository, which includes `tenant_classes`. `descriptions` become
    `parameters.components`, `packages` become `parameters.packages`. Commands run in a process of their own if they are
    started, or if the world says `apart`: for what a process inherits, or may be killed at.
    """

    root: Path
    name: str = "c-one"
    tenant: str = "t-one"
    applications: list[str] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    descriptions: dict[str, dict[str, Any]] = field(default_factory=dict)
    packages: dict[str, dict[str, Any]] = field(default_factory=dict)
    tenant_applications: list[str] = field(default_factory=list)
    tenant_classes: list[str] = field(default_factory=list)
    tenant_parameters: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    catalog_url: str = ""
    apart: bool = False
    api: lieutenant.LieutenantServer | None = None

    def __post_init__(self) -> None:
        self.git = GitWorld(self.root / "remotes")
        self.work = self.root / "work"
        self.catalog = self.git.remote("catalog")
        self.defaults = self.git.remote("defaults", {"commodore.yml": COMMODORE_CLASS})
        self.tenant_config = self.git.remote("tenant", {f"{self.name}.yml": ""})
        self.remotes: dict[str, Remote] = {}
        self._written: dict[str, str] = {}

    # What there is

    def component(
        self,
        name: str,
        files: Mapping[str, Content] | None = None,
        *,
        data: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        include: str | None = None,
        described: bool = True,
        **defaults: Any,
    ) -> Remote:
        """A component of its own repository that renders a ConfigMap of its parameter `data`, or what `files` say.

        Args:
            include: the entry of `applications`; by default the name, and none if it is empty.
            described: whether it stands in `parameters.components`.
            defaults: further parameters of its defaults class.
        """
        remote = self.remotes[name] = self.git.remote(name, self.component_files(name, data, metadata, **defaults))
        if files:
            remote.commit(files)
        if described:
            self.descriptions[name] = {"url": remote.url, "version": "master"}
        if include != "":
            self.applications.append(include or name)
        return remote

    @staticmethod
    def component_files(
        name: str, data: Mapping[str, Any] | None = None, metadata: Mapping[str, Any] | None = None, **defaults: Any
    ) -> dict[str, Content]:
        """The files of a component that renders a ConfigMap."""
        key = name.replace("-", "_")
        own = {"data": dict(data or {}), **defaults}
        if metadata:
            own["=_metadata"] = dict(metadata)
        return {
            f"class/{name}.yml": CLASS,
            "class/defaults.yml": yaml.safe_dump({"parameters": {key: own}}),
            "component/main.jsonnet": MAIN % {"key": key},
        }

    def package(self, name: str, files: Mapping[str, Content], *, include: bool = True) -> Remote:
        """A package; it is included in the global defaults and described there."""
        remote = self.remotes[f"pkg.{name}"] = self.git.remote(f"pkg-{name}", files)
        self.packages[name] = {"url": remote.url, "version": "master"}
        if include:
            self.applications.append(f"pkg.{name}")
        return remote

    # What is done

    def compile(self, *arguments: str, answer: str | None = None) -> Result:
        """Compile the catalog, with events as JSON. `answer` is typed when the program asks."""
        self.publish()
        return self.run(*self.command(*arguments), answer=answer)

    def start(self, *arguments: str) -> Running:
        """Begin to compile the catalog."""
        self.publish()
        return Running(self.command(*arguments), self.root, self.environment)

    def command(self, *arguments: str) -> list[str]:
        """The command line of a compile, without the program."""
        source = (
            ["--api-url", self.api.url, "--api-token", "opaque"]
            if self.api
            else ["--cluster-file", str(self.cluster_file())]
        )
        source = [] if "--local" in arguments else source
        words = ["-d", str(self.work), "--log-format", "json", "catalog", "compile", self.name, *source, *arguments]
        return words if "--processes" in arguments else [*words, "--processes", "1"]

    def run(self, *arguments: str, answer: str | None = None, **environment: str) -> Result:
        """Run the program with any command line."""
        variables = {**os.environ, **self.environment, **environment}
        if not self.apart:
            return run_here(arguments, self.root, variables, answer or "")
        done = subprocess.run(
            [sys.executable, "-m", "commodore", *arguments],
            cwd=self.root,
            env={**variables, "PYTHONPATH": str(ROOT)},
            input=answer or "",
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        check_documents(done.stdout)
        return Result(done.returncode, done.stdout, done.stderr)

    def publish(self) -> None:
        """Commit what has changed in the configuration."""
        parameters = {"components": self.descriptions, "packages": self.packages, **self.parameters}
        self._write(
            self.defaults,
            "common.yml",
            {
                "applications": self.applications,
                "parameters": {name: value for name, value in parameters.items() if value},
            },
        )
        self._write(
            self.tenant_config,
            f"{self.name}.yml",
            {
                "classes": self.tenant_classes,
                "applications": self.tenant_applications,
                "parameters": self.tenant_parameters,
            },
        )

    def _write(self, remote: Remote, path: str, content: Mapping[str, Any]) -> None:
        text = yaml.safe_dump(dict(content))
        if self._written.get(path) != text:
            remote.commit({path: text})
            self._written[path] = text

    # Who knows the cluster

    def cluster_object(self) -> dict[str, Any]:
        """The cluster as the API gives it."""
        made = lieutenant.cluster(self.name, self.tenant, gitRepo={"url": self.catalog_url or self.catalog.url})
        return {**made, "facts": {**made["facts"], **self.facts}}

    def tenant_object(self) -> dict[str, Any]:
        return lieutenant.tenant(
            self.tenant, gitRepo={"url": self.tenant_config.url}, globalGitRepoURL=self.defaults.url
        )

    def cluster_file(self) -> Path:
        """The file that stands in for the API."""
        path = self.root / "cluster.json"
        path.write_text(json.dumps({"cluster": self.cluster_object(), "tenant": self.tenant_object()}))
        return path

    @contextlib.contextmanager
    def lieutenant(self, **options: Any) -> Iterator[lieutenant.LieutenantServer]:
        """Ask a real API from now on, instead of a file."""
        with lieutenant.LieutenantServer([self.cluster_object()], [self.tenant_object()], **options) as self.api:
            try:
                yield self.api
            finally:
                self.api = None

    # What is seen

    def tree(self) -> dict[str, str]:
        """The pushed catalog."""
        return self.catalog.files() if self.catalog.sha(missing="") else {}

    def local_tree(self) -> dict[str, str]:
        """The catalog in the working directory, without git's own files."""
        folder = self.work / "catalog"
        return {
            str(path.relative_to(folder)): path.read_text(encoding="utf-8")
            for path in sorted(folder.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(folder).parts
        }

    def manifest(self, path: str) -> Any:
        """One manifest of the catalog in the working directory."""
        return yaml.safe_load((self.work / "catalog" / "manifests" / path).read_text(encoding="utf-8"))

    def commits(self) -> list[str]:
        """The subjects of the pushed catalog's commits, newest first."""
        return git(self.catalog.path, "log", "--format=%s", self.catalog.branch).splitlines()

    def message(self) -> str:
        """The message of the newest pushed commit."""
        return git(self.catalog.path, "log", "-1", "--format=%B", self.catalog.branch).rstrip("\n") + "\n"
