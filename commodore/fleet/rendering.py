"""Render cells with helm: to resources, or to test a chart."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.diagnostics import Diagnostics
from commodore.base.errors import CommodoreError, InputError, Location, PolicyError
from commodore.base.events import Warned
from commodore.base.yaml import load_rendered
from commodore.core.render.chart_results import ChartResults
from commodore.fleet.cells import CellValues
from commodore.fleet.chart_files import Chart
from commodore.fleet.charts import cell_chart, sample_cluster
from commodore.fleet.findings import cells_in_words, shown
from commodore.fleet.helm import Helm, HelmRefused
from commodore.fleet.merging import leaves
from commodore.fleet.repository.config import in_path
from commodore.fleet.repository.model import App, Fleet, Layer, Values
from commodore.fleet.values_text import as_yaml
from commodore.version import __version__

_APPS = "temp-chart"
_LACKING = "checking for chart dependencies"
_QUOTED = re.compile(r'"([^"]+)"')
_CELLS_SHOWN = 3
_STEPS = re.compile(
    r'.*template: [^\s:]+:\d+(?::\d+)?: executing "[^"]*" at <.*?>: |^execution error at \([^()]*\): ', re.DOTALL
)
_CALLS = re.compile(r"^error calling \w+: |\btemplate: gotpl:\d+: ")
_TEMPLATE = re.compile(r"templates/([^\s:]+):(\d+)")
_POSITION = re.compile(r":\d+(:\d+)?")


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A cell to render: its values, and their text."""

    cell: CellValues
    cluster: Mapping[str, str]
    text: str

    @property
    def name(self) -> str:
        return f"{self.cell.type}/{in_path(self.cell.cell)}"


class Renderer:
    """Renders cells with helm, with a cache.

    Args:
        pool: runs several cells in parallel.
    """

    def __init__(self, fleet: Fleet, chart: Chart, helm: Helm, results: ChartResults, pool: Executor) -> None:
        self._fleet = fleet
        self._chart = chart
        self._helm = helm
        self._results = results
        self._pool = pool
        self._folder = helm.folder
        self._place = helm.folder / chart.name
        self._alike: dict[tuple[str, str], list[str]] = {}
        _write(self._place, chart.files)

    # resources

    def resources(self, jobs: Sequence[Job], report: Diagnostics) -> list[dict[str, bytes]]:
        """Return the files of `templates/` of each cell; empty for failures, which are reported."""
        return self._each(jobs, self._passes, report)

    def _passes(self, job: Job) -> dict[str, bytes]:
        return _as_files(self._twice(job.cell.type, job.text, job.name))

    def _twice(self, kind: str, values: str, name: str) -> str:
        """Return the output of both passes: the second one renders the expressions left by the first one."""
        first = self._helm.template(f"{kind}-apps", self._place, values)
        if "{{" not in first:
            return first
        place = self._folder / "second" / hashlib.sha256(f"{name}\n{values}".encode()).hexdigest() / _APPS
        about = {
            "apiVersion": "v2",
            "name": _APPS,
            "description": f"Resources of {name}",
            "type": "application",
            "version": "0.1.0",
        }
        _write(place, {"Chart.yaml": as_yaml(about).encode(), "templates/apps.yaml": first.encode()})
        return self._helm.template(f"{kind}-apps-final", place, values)

    # proofs

    def prove(self, jobs: Sequence[Job], report: Diagnostics) -> list[list[Any]]:
        """Return the objects of each distinct chart for a fake cluster; empty for failures, which are reported."""
        distinct = list({(job.cell.type, job.text): job for job in jobs}.values())
        for job in jobs:
            self._alike.setdefault((job.cell.type, job.text), []).append(job.name)
        files = self._each(distinct, lambda job: {"out": self._once(job.cell.type, job.text, job).encode()}, report)
        return [
            load_rendered(output["out"], place=job.name) if output else []
            for job, output in zip(distinct, files, strict=True)
        ]

    def _once(self, kind: str, values: str, job: Job) -> str:
        digest = hashlib.sha256(f"{job.name}\n{values}".encode()).hexdigest()
        place = self._folder / "proof" / digest / self._chart.name
        _write(place, cell_chart(self._fleet, self._chart, kind, job.cell.cell, values))
        return self._helm.template(f"{kind}-apps", place, self._sample(job))

    def _sample(self, job: Job) -> str:
        texts = [job.text, *(text.decode("utf-8", "replace") for text in self._chart.templates.values())]
        return as_yaml({"cluster": sample_cluster(self._fleet, job.cell.cell, texts)})

    # both

    def _each(
        self, jobs: Sequence[Job], make: Callable[[Job], dict[str, bytes]], report: Diagnostics
    ) -> list[dict[str, bytes]]:
        keys = [self._key(job) for job in jobs]
        results = [self._results.find(key) for key in keys]
        todo = [number for number, files in enumerate(results) if files is None]

        def attempt(number: int) -> dict[str, bytes] | HelmRefused | CommodoreError:
            try:
                files = make(jobs[number])
            except (HelmRefused, CommodoreError) as refused:
                return refused
            self._results.add(keys[number], files)
            return files

        refused: list[tuple[Job, str]] = []
        for number, made in zip(todo, self._pool.map(attempt, todo), strict=True):
            if isinstance(made, HelmRefused):
                refused.append((jobs[number], made.reason))
            elif isinstance(made, CommodoreError):
                report.add(made.about(jobs[number].name))
            else:
                results[number] = made
        if refused:
            self._report_refused(refused, report)
        return [files or {} for files in results]

    def _key(self, job: Job) -> str:
        described = [
            __version__,
            self._fleet.choices.output,
            self._chart.digest,
            job.cell.type,
            hashlib.sha256(job.text.encode()).hexdigest(),
            "" if self._fleet.choices.output == "manifests" else self._sample(job),
        ]
        return self._results.key((*self._chart.files.values(), job.text.encode()), described)

    def _report_refused(self, refused: Sequence[tuple[Job, str]], report: Diagnostics) -> None:
        """Report each reason once, with its cells, and with the application that causes it alone."""
        groups: dict[str, list[tuple[Job, str]]] = {}
        for job, reason in refused:
            groups.setdefault(_POSITION.sub("", reason), []).append((job, reason))
        for failures in groups.values():
            job, reason = failures[0]
            names = [self._alike.get((job.cell.type, job.text), [job.name]) for job, _ in failures]
            cells = cells_in_words([name for alike in names for name in alike], _CELLS_SHOWN)
            if _LACKING in reason:
                report.add(self._without_dependencies(cells, reason))
                continue
            if self._fails_without_items(job, reason):
                template = self._template_of(reason)
                folder = self._fleet.choices.chart
                chart = f"the chart {f'in {folder}' if folder else 'that is built in'} fails whatever the applications"
                message = f"{_cause(reason)}; {chart}, in {cells}"
                hint = "look at the template that is named"
                report.add(InputError("CMD-FLT-056", message, hint=hint, locations=template))
                continue
            for section, name, alone in self._guilty(job) or [("", "", reason)]:
                place = self._place_of(job.cell, section, name, alone)
                what = f"application {name} ({place[0]}) in {cells}" if place else f"in {cells}"
                report.add(
                    InputError(
                        "CMD-FLT-056",
                        f"{_cause(alone)}; {what}",
                        hint="look at the expressions in its values, and at the chart's templates",
                        locations=[*place, *self._template_of(alone)],
                    )
                )

    def _without_dependencies(self, cells: str, reason: str) -> CommodoreError | Warned:
        """Return the finding about a chart with missing dependencies; those of a cell are fetched by Argo CD."""
        folder = self._fleet.choices.chart
        place = f"{folder}/Chart.yaml"
        if self._fleet.choices.output == "manifests":
            hint = f"fetch them: helm dependency build {folder}"
        elif b"file://" in self._chart.files["Chart.yaml"]:
            hint = "a cell has templates only: copy those of the other chart there"
        else:
            message = f"charts are not tried out: the dependencies in {place} are not there, Argo CD fetches them"
            return Warned("CMD-FLT-029", message, "look at a cell with them: helm dependency build FOLDER")
        return InputError("CMD-FLT-056", f"{cells}: helm says {reason}", hint=hint, locations=[place])

    def _place_of(self, cell: CellValues, section: str, name: str, reason: str) -> list[Location]:
        """Return the place of an item, or of the expression with a word that helm quotes."""
        words = [word for word in _QUOTED.findall(reason) if len(word) > 1]
        layers = [
            layer
            for kind in self._fleet.types
            for app in kind.apps
            if kind.name == cell.type and (section, name) in app.items
            for layer in (
                app.base,
                *(layer_of_level for level in app.levels(cell.cell) for layer_of_level in level),
                *_patched(cell, app),
            )
        ]
        for layer in layers:
            for path, value in leaves(layer.values.get(section, {}).get(name), (section, name)):
                if isinstance(value, str) and "{{" in value and any(word in value for word in words):
                    return [layer.at(path)]
        return [layer.at((section, name)) for layer in layers if name in layer.values.get(section, {})][:1]

    def _fails_without_items(self, job: Job, reason: str) -> bool:
        """Return True if helm fails in the same way without any items: no application is the cause."""
        said = self._said_of(job, {section: {} for section in job.cell.values})
        return said is not None and _POSITION.sub("", said) == _POSITION.sub("", reason)

    def _said_of(self, job: Job, values: Mapping[str, Any]) -> str | None:
        """Return helm's error for other values of a cell; None if it succeeds."""
        text = as_yaml({**({"cluster": dict(job.cluster)} if job.cluster else {}), **values})
        try:
            if self._fleet.choices.output == "manifests":
                _as_files(self._twice(job.cell.type, text, job.name))
            else:
                self._once(job.cell.type, text, Job(job.cell, job.cluster, text))
        except HelmRefused as refused:
            return refused.reason
        except CommodoreError as error:
            return error.message
        return None

    def _template_of(self, reason: str) -> list[Location]:
        """Return the innermost template of the repository's chart in helm's message."""
        folder = self._fleet.choices.chart
        whole = folder is not None and (self._fleet.root / folder / "templates").is_dir()
        for path, line in reversed(_TEMPLATE.findall(reason)):
            place = f"{folder}/{'templates/' if whole else ''}{path}"
            if folder is not None and (self._fleet.root / place).is_file():
                return [Location(place, int(line))]
        return []

    def _guilty(self, job: Job) -> list[tuple[str, str, str]]:
        """Return the items that fail alone, with helm's message."""
        items = [(section, name) for section, members in job.cell.values.items() for name in members]

        def attempt(item: tuple[str, str]) -> tuple[str, str, str] | None:
            section, name = item
            values: dict[str, Any] = {other: {} for other in job.cell.values}
            values[section] = {name: job.cell.values[section][name]}
            said = self._said_of(job, values)
            return None if said is None else (section, name, said)

        return [item for item in self._pool.map(attempt, items) if item is not None]


def _cause(reason: str) -> str:
    """Shorten helm's message to the innermost cause."""
    return "helm fails: " + _CALLS.sub("", _STEPS.sub("", reason))


def _patched(cell: CellValues, app: App) -> list[Layer]:
    files = {file for patch in app.patches for file in patch.files}
    return [file.layer for file in cell.applied if file in files]


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


def _as_files(printed: str) -> dict[str, bytes]:
    """Return each document with a name as a file.

    Raises:
        InputError: CMD-FLT-057, two have the same name; CMD-YAML-001.
        PolicyError: CMD-FLT-058, a name cannot be a file.
    """
    files: dict[str, bytes] = {}
    kinds: dict[str, str] = {}
    for document in load_rendered(printed, place="what helm has made"):
        name = _name_of(document)
        if name is None:
            continue
        path = f"{name}.yaml"
        kind = str(document.get("kind"))
        if path in files:
            raise InputError(
                "CMD-FLT-057",
                f"two resources are called {name!r}: {kinds[path]} and {kind}",
                hint="rename one of them",
            )
        kinds[path], files[path] = kind, as_yaml(document).encode()
    return files


def _name_of(document: Any) -> str | None:
    """Return the file name of a resource; None without a name.

    A chart that writes names without quotes turns some into numbers, which `check_names` reports.
    """
    metadata = document.get("metadata") if isinstance(document, dict) else None
    if not isinstance(metadata, dict) or "name" not in metadata:
        return None
    name = metadata["name"]
    text = str(name) if name and not isinstance(name, (dict, list)) else ""
    if text in ("", ".", "..") or not _may_be_file(text):
        raise PolicyError(
            "CMD-FLT-058",
            f"the name {shown(name)} of a resource cannot be that of a file",
            hint="look at the names of applications, and at what the chart makes of them; names are texts, so charts "
            "put them in quotes",
        )
    return text


def _may_be_file(name: str) -> bool:
    return "/" not in name and name.isprintable() and len(name.encode()) <= 240


def names_twice(values: Values) -> list[tuple[str, tuple[str, str]]]:
    """Return names of items in two sections: their resources would have the same name."""
    first: dict[str, str] = {}
    names = []
    for section, items in values.items():
        for name, item in items.items():
            if item is not None and name in first:
                names.append((name, (first[name], section)))
            first.setdefault(name, section)
    return names
