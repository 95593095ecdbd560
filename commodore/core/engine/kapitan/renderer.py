"""The renderer: runs Kapitan's own input compilers for one instance after the other. Runs in workers only.

Kapitan keeps its state in modules (`kapitan.cached`, caches, the process's temporary folder). All of it is in worker
processes only, is set at the start of a run and reset between instances. `patches` replaces the few functions that are
slow, write outside of the output, or leave files behind; everything else is Kapitan's.
"""

from __future__ import annotations

import contextlib
import functools
import glob
import os
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kapitan import cached
from kapitan.errors import RefBackendError
from kapitan.inputs import base, get_compiler, kadet
from kapitan.refs.base import PlainRef, PlainRefBackend, RefController, Revealer
from kapitan.utils import normalise_join_path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, did_you_mean
from commodore.base.events import Warned
from commodore.base.files.workspace import remove_tree
from commodore.core.confinement import Confinement
from commodore.core.engine.cache.partial_results import Parts
from commodore.core.engine.cache.portable_paths import MISSING
from commodore.core.engine.cache.remote_identity import SourceIdentities
from commodore.core.engine.cache.static_key import OBSERVED_INPUTS, WRAPPER
from commodore.core.engine.cache.trace import TraceRecorder
from commodore.core.engine.jsonnet.evaluator import Evaluator
from commodore.core.engine.kapitan import patches
from commodore.core.engine.kapitan.chart_dependencies import ChartDependencies
from commodore.core.engine.kapitan.commands import check_kustomization, is_of_machine, prepare_external
from commodore.core.engine.kapitan.confining import Confinements
from commodore.core.engine.kapitan.context import CurrentWork, SearchPaths, current, working
from commodore.core.engine.kapitan.errors import EntryPlace, explain, explain_cause
from commodore.core.engine.kapitan.fetch import chart_source
from commodore.core.engine.kapitan.inventory import RenderedInventory
from commodore.core.engine.kapitan.isolated import run_isolated
from commodore.core.engine.kapitan.kustomize_trace import Kustomize
from commodore.core.engine.tasks import BatchRun, KapitanDependency
from commodore.core.render.kustomizations import is_remote
from commodore.core.render.tool_identity import Programs
from commodore.core.results.result_store import read_folder, write_folder
from commodore.core.sources.git import redact

# Inputs that may iterate over all targets, so they need them as one plain map.
_READ_ALL_TARGETS = ("jinja2", "kadet")

# Inputs that may create links in the output.
_RUN_CODE = ("external", "kadet")

# The program's files for components, without suggestions for misspelt names.
_OWN_FILES = str(WRAPPER.parent.parent)


class _FakeReference(PlainRef):  # type: ignore[misc]
    """A reference whose secret is its own path."""

    def reveal(self) -> str:
        return str(self.data)


class _FakeVault(PlainRefBackend):  # type: ignore[misc]
    """Replacement for Vault if secrets do not matter: `?{vaultkv:a/b}` is revealed as `a/b`."""

    def __init__(self, path: str) -> None:
        super().__init__(path, _FakeReference)
        self.type_name = "vaultkv"

    def __getitem__(self, path: str) -> _FakeReference:
        if "@" in path:
            raise RefBackendError(f"{path}: a part of a secret cannot be revealed without Vault")
        reference = _FakeReference(path)
        reference.path, reference.hash, reference.token = path, "", f"vaultkv:{path}"
        return reference


class InstanceRenderer:
    """Renders the instances of one run.

    Args:
        run: the run.
    """

    def __init__(self, run: BatchRun) -> None:
        request = run.request
        self._run = run
        self.inventory = RenderedInventory(run)
        self.confinements = Confinements(run)
        kept = run.result_cache
        here = request.directory or request.root
        self.programs = Programs(os.environ, here, kept / "programs.json", run.limits) if kept is not None else None
        self.sources = SourceIdentities(run.dependency_cache, run.context())
        self.sources.known.update(run.sources)
        self.parts = Parts(run, self.inventory.nodes, self.programs, self.sources)
        self._arguments = Namespace(
            inventory_backend="reclass-rs",
            inventory_path=str(request.root / "inventory"),
            output_path=str(request.output),
            multiline_string_style="literal",
            yaml_dump_null_as_empty=False,
            indent=2,
            reveal=request.reveal_fake,
            cache=False,
            use_go_jsonnet=True,
            jinja2_filters="lib/jinja2_filters.py",
            verbose=request.verbose,
        )
        self._charts = ChartDependencies(chart_source(run, self.parts.dependencies), run.limits)
        self._references = RefController(str(request.refs), embed_refs=False)
        if request.reveal_fake:
            self._references.register_backend(_FakeVault(str(request.refs)))
        patches.install()
        cached.reset_cache()
        cached.args = self._arguments
        cached.inv = self.inventory
        cached.ref_controller_obj = self._references
        cached.revealer_obj = Revealer(self._references)
        cached.inventory_global_kadet = {}
        kadet.inventory_global.cache_clear()

    def node(self, instance: str) -> dict[str, Any]:
        """Return an instance's node as reclass-rs rendered it, which filters see."""
        return self.inventory.node(instance)

    def dependencies(self, instance: str) -> tuple[KapitanDependency, ...]:
        """Return the dependencies to fetch for an instance, with absolute output paths.

        Raises:
            InputError: `parameters.kapitan` is missing or invalid.
        """
        entries = self._settings(instance).dependencies or []
        if not self.inventory.is_fetched(instance):
            return ()
        output = str(self._run.request.output)
        return tuple(
            KapitanDependency(
                instance,
                index,
                str(entry.type.value),
                entry.source,
                Path(normalise_join_path(output, entry.output_path)),
                entry.model_dump(exclude={"type", "source", "output_path"}),
            )
            for index, entry in enumerate(entries)
        )

    def _settings(self, instance: str) -> Any:
        if not isinstance(self.node(instance)["parameters"].get("kapitan"), dict):
            raise InputError(
                "CMD-ENG-010",
                f"instance {instance!r} has no parameters.kapitan",
                hint="the component's class lists what to compile under parameters.kapitan.compile",
            )
        return self.inventory.targets[instance].parameters.kapitan

    def compile(
        self, instance: str, reads: TraceRecorder, evaluator: Evaluator, confinement: Confinement, context: Context
    ) -> None:
        """Render an instance's compile entries in order. Without entries, the folder is empty.

        Args:
            reads: records inputs.
            evaluator: evaluates Jsonnet files.
            confinement: the permissions of the instance.
            context: announces skipped entries, and allowed problems.

        Raises:
            CommodoreError: an entry failed; later ones are not tried, because they may use its output.
        """
        workplace, output = self._run.workplace(instance), self._run.rendered(instance)
        scratch = workplace / "tmp"
        output.mkdir(parents=True)
        scratch.mkdir()
        directory = self._run.jobs[instance].directory
        search = SearchPaths(map(str, self._run.request.search_paths), str(workplace), str(directory))
        tempfile.tempdir = str(scratch)
        base._ENSURED_DIRS.clear()  # a folder may have been removed since Kapitan created it
        reads.fetched(str(dependency.output) for dependency in self.dependencies(instance))
        try:
            limits, paths = self._run.limits, (str(self._run.request.root), str(directory), str(WRAPPER))
            work = CurrentWork(
                self.inventory,
                confinement,
                instance,
                {},
                limits,
                reads,
                [],
                evaluator,
                self.parts,
                context,
                paths,
                charts=self._charts,
            )
            with working(work):
                # Inputs change their entry while they work; the inventory must not change with it.
                entries = self._settings(instance).model_copy(deep=True).compile
                for index, entry in enumerate(entries):
                    place = EntryPlace(instance, index, str(entry.input_type.value), entry.output_path or "")
                    try:
                        self._compile_entry(entry, place, confinement, search)
                    except CommodoreError as error:
                        if not entry.continue_on_compile_error or error.exit_code != 1:
                            raise
                        message = f"{error.message} (the entry is skipped: continue_on_compile_error)"
                        context.announce(Warned("CMD-ENG-051", message))
                        reads.refuse("an entry was skipped")  # its further inputs are unknown
        finally:
            tempfile.tempdir = None
            remove_tree(scratch)

    def _compile_entry(self, entry: Any, place: EntryPlace, confinement: Confinement, search: SearchPaths) -> None:
        reads = current().reads
        if place.input_type in _READ_ALL_TARGETS:
            cached.global_inv = self.inventory.inventory
        if place.input_type not in OBSERVED_INPUTS:
            reads.refuse(f"an input of type {place.input_type}")
        folder = os.path.join(confinement.output, place.output_path)
        path = ""
        try:
            confinement.make_folder(folder)
            # Kapitan appends the folder with the earlier outputs to the search paths.
            compiler = get_compiler(entry.input_type)(
                str(confinement.output.parent), search, self._references, place.instance, self._arguments
            )
            for position, input_path in enumerate(entry.input_paths):
                is_program = place.input_type == "external" and is_of_machine(input_path, confinement)
                matches = [input_path] if is_program else find_inputs(input_path, search, reads, confinement)
                if not matches and not entry.ignore_missing:
                    raise _missing(place, position, input_path, search, confinement)
                for path in matches:
                    if place.input_type == "remove":
                        confinement.check(path, "path to remove")
                    _note_current_work(self._run, place, path)
                    own, program = entry, path
                    if place.input_type == "external":
                        own = entry.model_copy(deep=True)
                        program = prepare_external(confinement, own, path, current().known_paths)
                    run = functools.partial(compiler.compile_input_path, own, program, folder)
                    with self._observed(entry, place, path, folder):
                        if _runs_python(place, confinement):
                            run_isolated(confinement, run, functools.partial(explain_cause, place=place, path=path))
                        else:
                            run()
                if place.input_type == "helm":  # Kapitan takes these out of the entry with its first chart
                    for key in ("name", "output_file"):
                        entry.helm_params.pop(key, None)
            if place.input_type in _RUN_CODE:
                confinement.check_links(confinement.output)
        except Exception as error:
            raise explain(error, place, path) from error

    @contextlib.contextmanager
    def _observed(self, entry: Any, place: EntryPlace, path: str, folder: str) -> Iterator[None]:
        """Record the inputs of an entry, except for ones that Jsonnet and helm record while they run."""
        work = current()
        writes_elsewhere = work.reads.places.name(folder) is not None
        if writes_elsewhere and place.input_type not in ("jsonnet", "helm"):
            work.reads.refuse(f"an input of type {place.input_type} writes to {folder}", unseen=False)
        if place.input_type not in ("jsonnet", "remove", "external"):
            is_copied = place.input_type == "copy"
            work.confinement.check_tree(os.path.join(os.getcwd(), path), "input", is_copied=is_copied)
        if place.input_type == "kustomize":
            check_kustomization(work.confinement, os.path.join(os.getcwd(), path))
        if place.input_type == "kadet":
            work.confinement.policy.require("kadet", work.confinement.component, f"the module {path}")
        whole = {"helm": work.reads.tree, "copy": work.reads.copied}.get(place.input_type, lambda _: None)
        whole(os.path.join(os.getcwd(), path))
        if place.input_type == "remove" and work.reads.places.name(path) is not None:
            work.reads.refuse(f"{path} is removed", unseen=False)
        if place.input_type != "external":
            yield
            whole(os.path.join(os.getcwd(), path))  # recorded again: a change in between shows as two digests
            return
        if Path(path) != WRAPPER or not entry.args:
            work.reads.refuse(f"the command {path}")
            yield
            return
        with self._building(entry, place, folder):
            yield

    @contextlib.contextmanager
    def _building(self, entry: Any, place: EntryPlace, folder: str) -> Iterator[None]:
        """Observe a run of the kustomize wrapper, or write its cached result."""
        work, cache = current(), self._run.dependency_cache
        source, output = (
            patches.fill_in(folder, text) for text in (entry.env_vars.get("INPUT_DIR", ""), entry.args[0])
        )
        path = os.path.abspath(source)
        named = source if is_remote(source) else work.reads.places.name(path) or os.path.relpath(path, output)
        others = {name: value for name, value in entry.env_vars.items() if name != "INPUT_DIR"}
        part = work.parts.begin(f"kustomize {redact(named)}", [named, entry.args[1:], others], work.reads)
        watch = Kustomize(
            part.reads,
            self._run.workplace(place.instance) / "tmp" / f"kustomize-{place.index}",
            cache / "kustomize" if cache is not None else None,
            self.sources,
            self._run.context(),
        )
        watch.begin(source, entry.args, entry.env_vars)
        is_alone = not part.reads.refusal and _is_new(output, work.confinement.output)
        known = part.take() if is_alone else None
        if known is not None:
            if os.path.isdir(output):
                os.rmdir(output)
            write_folder(known, Path(output))
            watch.is_taken = True
        work.watches.append(watch)
        try:
            yield
        finally:
            work.watches.pop()
        if work.reads.places.name(output) is not None:
            work.reads.refuse(f"kustomize writes to {entry.args[0]}", unseen=False)
        if known is None:
            watch.conclude(source)
            part.conclude(read_folder(Path(output)) if is_alone else None)


def _runs_python(place: EntryPlace, confinement: Confinement) -> bool:
    """Check if an input executes Python code of a component."""
    if place.input_type == "jinja2":
        return confinement.policy.allows("jinja2_filters", confinement.component)
    return place.input_type == "kadet"


def _note_current_work(run: BatchRun, place: EntryPlace, path: str) -> None:
    """Write the current step to its file, for the error if the worker has to be killed."""
    about = f"compile entry {place.index} ({place.input_type} to {place.output_path or '.'}), {path}"
    run.step_file(place.instance).write_text(about, encoding="utf-8", errors="replace")


def _is_new(folder: str, output: Path) -> bool:
    """Check that a folder is below an instance's output, and is empty or missing."""
    real = Path(os.path.realpath(folder))
    if output not in real.parents or not os.path.isabs(folder):
        return False
    if os.path.islink(folder) or not os.path.isdir(folder):
        return not os.path.lexists(folder)
    return not os.listdir(folder)


def find_inputs(name: str, search: SearchPaths, reads: TraceRecorder, confinement: Confinement) -> list[str]:
    """Return the files and folders of an input path, in the order in which they are compiled.

    Kapitan compiles every match in every search path, in random order, and later ones overwrite equal outputs. Here
    the order is from the last search path to the first (matches of a pattern in one path from last to first name), so
    that the first one wins, as everywhere else; a file that several paths lead to by the same name is compiled once. A
    link with another name than its target is an input of its own, as names of outputs derive from it.

    Raises:
        PolicyError: none of the matches may be read.
    """
    matches: dict[tuple[str, str], str] = {}
    candidates = [os.path.join(folder, name) for folder in search.for_name(name)]
    for candidate in filter(confinement.is_open, candidates):
        known, rest = search.split(candidate)
        if glob.has_magic(rest):
            hits = reads.pattern(known, rest)
        else:
            hits = [candidate] if reads.kind(candidate) != MISSING else []
        for hit in hits:
            matches.setdefault((os.path.realpath(hit), os.path.basename(os.path.normpath(hit))), hit)
    if not matches:
        confinement.explain_missing(candidates, "input path")
    return list(matches.values())[::-1]


def _missing(
    place: EntryPlace, position: int, input_path: str, search: SearchPaths, confinement: Confinement
) -> InputError:
    folders = [folder for folder in search.for_name(input_path) if folder != search.workplace]  # which is temporary
    near: set[str] = set()
    for folder in (*folders, search.workplace):
        parent = os.path.dirname(os.path.join(folder, input_path))
        if folder != _OWN_FILES and confinement.is_open(parent) and os.path.isdir(parent):
            near.update(os.path.join(os.path.dirname(input_path), name) for name in os.listdir(parent))
    looked_up = dict.fromkeys(os.path.join(folder, input_path) for folder in folders)
    return InputError(
        "CMD-ENG-011",
        f"{place}: the input path {input_path!r} does not exist",
        hint=did_you_mean(input_path, near) or "it is looked up in the search paths listed here",
        locations=[place.setting("input_paths", position), *looked_up],
    )
