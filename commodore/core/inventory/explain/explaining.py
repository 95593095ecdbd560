"""Explanations from chains: sources, effects, winners, and the explanations of references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.names import BOOTSTRAP_TARGET, parameter_key
from commodore.core.inventory.explain._chains import Chains, Link, UnexplainedError
from commodore.core.inventory.explain._merging import Unresolved, marked
from commodore.core.inventory.explain._nodes import ListNode, MapNode, Node, as_written
from commodore.core.inventory.explain.model import (
    ClassFilePlace,
    Contribution,
    Effect,
    ExplainedPart,
    Explanation,
    Outcome,
    ParameterReference,
    agrees,
)
from commodore.core.inventory.explain.provenance import OriginFinder
from commodore.core.inventory.explain.references import Ref, parse_references, references_in
from commodore.core.inventory.parameter_path import ParameterPath, key_text, look_up
from commodore.core.inventory.preview import Preview
from commodore.core.inventory.render import render_with_files

_FACTS = "params.cluster"


def target_of(path: ParameterPath, targets: Sequence[str]) -> str:
    """Return the target to explain a parameter in: that of the instance whose key it begins with, else the cluster's.

    Only an instance's own target has the values of its component class and its overrides.

    Args:
        targets: the targets of the last compile (`compiled_targets`).
    """
    owners = [name for name in targets if name != BOOTSTRAP_TARGET and parameter_key(name) == path[0]]
    return owners[0] if len(owners) == 1 else BOOTSTRAP_TARGET


def explain_parameter(
    preview: Preview, path: ParameterPath, context: Context, *, ignore_missing_classes: bool = False
) -> Explanation:
    """Explain the value of a parameter.

    Args:
        preview: the inventory and the target.
        path: the parameter.

    Raises:
        InputError: the hierarchy cannot be rendered (see `render_node`); CMD-INV-041, nothing sets such a parameter.
    """
    explaining = Explaining.of(preview, context, ignore_missing_classes=ignore_missing_classes)
    return explaining.explain(path)


@dataclass(slots=True)
class Explaining:
    """Explainer of the parameters of one target, which is rendered once. `parameters` are the rendered ones."""

    preview: Preview
    parameters: Mapping[Any, Any]
    chains: Chains
    provenance: OriginFinder
    context: Context
    _sources: dict[Path, ClassFilePlace] = field(default_factory=dict)

    @classmethod
    def of(cls, preview: Preview, context: Context, *, ignore_missing_classes: bool = False) -> Explaining:
        """Render the target of a preview.

        Raises:
            InputError: see `render_node`.
        """
        try:
            files, node = render_with_files(
                preview.inventory, preview.node, context, ignore_missing_classes=ignore_missing_classes
            )
            chains = Chains.of(files, preview.node)
        except CommodoreError as error:
            raise preview.explain(error) from error
        return cls(preview, node.parameters, chains, OriginFinder(context), context)

    def explain(self, path: ParameterPath) -> Explanation:
        """Explain the value of a parameter.

        Raises:
            InputError: CMD-INV-041, nothing sets it.
        """
        keys = self._keys(path)
        explanation = _ExplanationBuilder(self).explain(keys)
        if not explanation.is_set and not explanation.chain:
            look_up(self.parameters, path)
        return explanation

    def _keys(self, path: ParameterPath) -> tuple[Any, ...]:
        """Return the path with keys as in the hierarchy, including their types."""
        value: Any = self.parameters
        keys: list[Any] = []
        for segment in path:
            if isinstance(value, Mapping):
                known = [key for key in value if key == segment or key_text(key) == segment]
                keys.append(known[0] if known and segment not in value else segment)
            else:
                keys.append(segment)
            value = _inside(value, keys[-1])
        return tuple(keys)

    def rendered(self, keys: Sequence[Any]) -> tuple[bool, Any]:
        """Return if a parameter is set in the rendered hierarchy, and its value."""
        value: Any = self.parameters
        for key in keys:
            value = _inside(value, key)
        return (value is not _NOTHING, None if value is _NOTHING else value)

    def source(self, link: Link) -> ClassFilePlace:
        """Return the place of a link in the user's own file."""
        file = link.document.file
        if file not in self._sources:
            self._sources[file] = self._source_of_file(link)
        return replace(self._sources[file], line=link.place.line, column=link.place.column)

    def _source_of_file(self, link: Link) -> ClassFilePlace:
        document = link.document
        if document.by_reclass:
            return ClassFilePlace("reclass", Path("reclass"), 1, 1, "added by reclass-rs for every target")
        original = self.preview.original(document.file)
        if document.is_target:
            return ClassFilePlace(
                document.name, document.file, 1, 1, f"written by commodore for target {document.name!r}"
            )
        if original is None:
            return ClassFilePlace(
                document.name, document.file, 1, 1, self.preview.generated.get(document.file, "generated")
            )
        if document.name == _FACTS:
            return ClassFilePlace(document.name, document.file, 1, 1, "the facts of the cluster")
        file = original.resolve()
        return ClassFilePlace(document.name, file, 1, 1, "", self.provenance.of(file))


@dataclass(slots=True)
class _ExplanationBuilder:
    """Builder of one explanation. Each parameter is explained once, references in the order of the chain."""

    base: Explaining
    done: dict[tuple[Any, ...], None] = field(default_factory=dict)

    def explain(self, keys: tuple[Any, ...], depth: int = 0) -> Explanation:
        self.done[keys] = None
        is_set, value = self.base.rendered(keys)
        chain: tuple[Contribution, ...] = ()
        parts: tuple[ExplainedPart, ...] = ()
        try:
            links = self.base.chains.links(keys)
            chain = tuple(self._contributions(keys, links, depth))
            parts = tuple(self._parts(keys, value)) if not depth else ()
        except (UnexplainedError, RecursionError):
            pass  # the explanation is marked as incomplete
        explanation = Explanation(keys, self.base.preview.node, is_set, value, chain, parts)
        return replace(explanation, complete=agrees(explanation))

    def _contributions(self, keys: tuple[Any, ...], links: Sequence[Link], depth: int) -> Iterator[Contribution]:
        chains = self.base.chains
        try:
            effective = {id(link) for link in chains.effective(keys)}
        except UnexplainedError:
            effective = set()
        kinds = [self._kind(link) for link in links]
        whole = bool(kinds) and kinds[-1] in ("plain", "null")
        before = "missing"
        for link, kind in zip(links, kinds, strict=True):
            counts = id(link) in effective or (link is links[-1] and not link.gives)
            yield Contribution(
                source=self.base.source(link),
                path=link.path,
                key=link.written,
                overwrites=link.overrides,
                constant=link.constant,
                value=as_written(link.node),
                resolved=_public(marked(chains.resolve(link))) if link.gives else None,
                effect=_effect(link, kind, before),
                resets=link.resets,
                counts=counts,
                wins=counts and link.gives and (whole or len(effective) == 1),
                references=tuple(self._references(link, depth, counts=counts)),
            )
            # A dangling reference counts as a value for later links.
            before = "plain" if kind == "missing" and link.gives else kind

    def _kind(self, link: Link) -> str:
        try:
            return self.base.chains.kind_of(link) if link.gives else "missing"
        except UnexplainedError:
            return "missing"

    def _references(self, link: Link, depth: int, *, counts: bool) -> Iterator[ParameterReference]:
        """Yield the references of a link's value, each once, with explanations if the value is effective."""
        if link.target is not None:
            yield self._reference(_first_reference(link.node), link.target, depth, counts=counts)
            return
        if not link.gives:
            return
        seen: dict[tuple[Any, ...], None] = {}
        for ref in _references_of(link.node):
            try:
                path, default = self.base.chains.reference(ref)
            except UnexplainedError:
                yield ParameterReference(ref.written, (), "overwritten" if not counts else "missing")
                continue
            if path not in seen:
                seen[path] = None
                missing: Outcome = "missing" if default is None else "default"
                yield self._reference(ref.written, path, depth, counts=counts, missing=missing)

    def _reference(
        self, written: str, path: tuple[Any, ...], depth: int, *, counts: bool, missing: Outcome = "missing"
    ) -> ParameterReference:
        outcome: Outcome = "followed"
        if not counts:
            outcome = "overwritten"
        elif path in self.done:
            outcome = "repeated"
        elif not self.base.rendered(path)[0]:
            outcome = missing
        elif depth >= self.base.context.limits.explain_depth:
            outcome = "deep"
        elif len(self.done) > self.base.context.limits.explain_references:
            outcome = "many"
        if outcome != "followed":
            return ParameterReference(written, path, outcome)
        return ParameterReference(written, path, outcome, self.explain(path, depth + 1))

    def _parts(self, keys: tuple[Any, ...], value: Any) -> Iterator[ExplainedPart]:
        inner: Iterable[Any] = (
            value if isinstance(value, Mapping) else range(len(value) if isinstance(value, list) else 0)
        )
        for key in inner:
            links = [link for link in self.base.chains.links((*keys, key)) if link.gives]
            if links:
                link, through = self._last((*keys, key))
                yield ExplainedPart(key, self.base.source(link), through, len(links))

    def _last(self, keys: tuple[Any, ...]) -> tuple[Link, str]:
        """Return the last place that sets a parameter, and the reference that leads to it, if any."""
        chains, through = self.base.chains, ""
        link = chains.effective(keys)[-1]
        while link.target is not None:
            through = through or _first_reference(link.node)
            link = chains.effective(link.target)[-1]
        return link, through


_NOTHING = object()


def _inside(value: Any, key: Any) -> Any:
    if isinstance(value, Mapping) and key in value:
        return value[key]
    if isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
        return value[key]
    return _NOTHING


def _effect(link: Link, kind: str, before: str) -> Effect:
    if not link.gives:
        return "removes"
    if before == "missing":
        return "sets"
    if not link.resets and kind == before == "map":
        return "merges"
    return "appends" if not link.resets and kind == before == "list" else "replaces"


def _public(value: Any) -> Any:
    """Return a value with dangling references as they are written."""
    if isinstance(value, Unresolved):
        return value.written
    if isinstance(value, dict):
        return {key: _public(inner) for key, inner in value.items()}
    return [_public(item) for item in value] if isinstance(value, list) else value


def _first_reference(node: Node) -> str:
    return next((ref.written for ref in _references_of(node)), "")


def _references_of(node: Node) -> Iterator[Ref]:
    """Yield all references in a value, in the order in which they are written."""
    if isinstance(node, MapNode):
        for entry in node.entries:
            yield from _references_of(entry.value)
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from _references_of(item)
    elif isinstance(node.value, str):
        parts = parse_references(node.value)
        yield from references_in(parts) if parts is not None else ()
