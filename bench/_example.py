"""The cluster of this repository's examples, with an API on loopback and a copy of everything for each tool."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from _api import serve_api
from _measure import measuring, read_costs
from _tools import ROOT, BenchError, Sample, Tool, digest_tree, end_of, home_environment

OPTIONS = {"dry": [], "local": ["--local"], "nofetch": ["--local", "--no-fetch-dependencies"]}
CHANGING = ("change", "dry")

# `environment` sets up its own repository's folder; the working directory next to `examples` is the current one then.
_IN_ENVIRONMENT = '. ./examples/environment; cd work; exec "$@"'


def run_example(tool: Tool, phases: Sequence[str], folder: Path) -> list[Sample]:
    """Run one tool through the phases on a copy of the examples.

    Args:
        tool: the tool.
        phases: phases in their order, each once.
        folder: an empty folder for everything that is made.

    Returns:
        One sample for each phase; its result is the digest of the catalog.

    Raises:
        BenchError: the examples cannot be set up, or the tool failed.
    """
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "work").mkdir()
    environment = home_environment(folder / "home")
    _run([str(folder / "examples" / "setup")], folder, environment)
    facts: dict[str, Any] = yaml.safe_load((folder / "examples" / "cluster.yml").read_text())
    cluster, tenant = (_absolute(facts[each], folder / "examples") for each in ("cluster", "tenant"))
    samples = []
    with serve_api([cluster], [tenant]) as url:
        environment |= {"COMMODORE_API_URL": url, "COMMODORE_API_TOKEN": "token"}
        for number, phase in enumerate(phases):
            if phase in CHANGING:
                _change_parameter(tenant["gitRepo"]["url"], cluster["id"], number, folder / "tenant", environment)
            samples.append(_compile(tool, phase, phases, cluster["id"], folder, environment))
    return samples


def _compile(
    tool: Tool, phase: str, phases: Sequence[str], cluster: str, folder: Path, environment: Mapping[str, str]
) -> Sample:
    record, log = folder / "costs.jsonl", folder / f"{phase}.log"
    empty_at = phases.index("warm") + 1 if "warm" in phases else 0
    command = [*tool.command, "catalog", "compile", cluster, *OPTIONS.get(phase, ["--push"])]
    measured = measuring(command, record, path_prefix=tool.path_prefix, empty_folder_at=empty_at)
    with log.open("wb") as output:
        code = subprocess.run(
            ["sh", "-c", _IN_ENVIRONMENT, "sh", *measured],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        ).returncode
    if code != 0:
        raise BenchError(f"{tool.name}: phase {phase} failed:\n{end_of(log)}")
    return Sample(phase, read_costs(record)[-1], digest_tree(folder / "work" / "catalog"))


def _absolute(entry: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """An object of the cluster file as an API has it: its relative repositories as file URLs."""

    def resolve(url: str) -> str:
        return (folder / url).resolve().as_uri() if url.startswith(("./", "../")) else url

    resolved = dict(entry) | {"gitRepo": {"url": resolve(entry["gitRepo"]["url"])}}
    if "globalGitRepoURL" in entry:
        resolved["globalGitRepoURL"] = resolve(entry["globalGitRepoURL"])
    return resolved


def _change_parameter(url: str, cluster: str, value: int, clone: Path, environment: dict[str, str]) -> None:
    """Commit and push another number of replicas to the tenant's repository."""
    if not clone.exists():
        _run(["git", "clone", "--quiet", url, str(clone)], clone.parent, environment)
    path = clone / f"{cluster}.yml"
    classes: dict[str, Any] = yaml.safe_load(path.read_text())
    classes["parameters"]["ingress"]["helm_values"]["replicas"] = 10 + value
    path.write_text(yaml.safe_dump(classes, sort_keys=False))
    dates = {f"GIT_{role}_DATE": "2026-01-02T12:00:00Z" for role in ("AUTHOR", "COMMITTER")}
    _run(["git", "commit", "--quiet", "--all", "-m", "Change the replicas"], clone, environment | dates)
    _run(["git", "push", "--quiet", "origin", "HEAD"], clone, environment)


def _run(command: list[str], folder: Path, environment: Mapping[str, str]) -> None:
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if ended.returncode != 0:
        raise BenchError(f"{' '.join(command[:2])} failed:\n{ended.stdout}{ended.stderr}")
