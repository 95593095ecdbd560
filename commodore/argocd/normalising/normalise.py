"""Remove the fields that the rules of an Application and of the installation ignore."""

from __future__ import annotations

import copy
import fnmatch
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.model.application import Application
from commodore.argocd.model.fields import Fields
from commodore.argocd.normalising.jq import Jq, reads_environment
from commodore.argocd.normalising.known_types import BUILT_IN, is_known, rewrite
from commodore.argocd.normalising.paths import checked_pointer, remove_paths, remove_pointer
from commodore.base.diagnostics import Diagnostic, Diagnostics, Subject
from commodore.base.errors import InputError, Location
from commodore.base.kubernetes import ObjectKey, key_of
from commodore.base.values.units import parse_go_duration
from commodore.base.yaml.kube_yaml import read_documents

_LONGEST = 60.0


@dataclass(frozen=True, slots=True)
class _Rule:
    """Ignored fields of some objects. An empty `name` or `namespace` matches all."""

    group: str
    kind: str
    name: str
    namespace: str
    pointers: tuple[tuple[str, ...], ...]
    expressions: tuple[str, ...]
    managers: tuple[str, ...]
    place: Location | None

    def fits(self, key: ObjectKey) -> bool:
        return (
            fnmatch.fnmatchcase(key.group, self.group)
            and fnmatch.fnmatchcase(key.kind, self.kind)
            and self.name in ("", key.name)
            and self.namespace in ("", key.namespace)
        )


class Normaliser:
    """Normalises the objects of an Application. Must be closed.

    Raises:
        InputError: CMD-ARGO-702, an expression does not compile; CMD-ARGO-103, a setting cannot be read.
        EnvironmentFault: CMD-ARGO-413, there are expressions and jq is not installed.
    """

    def __init__(self, application: Application, settings: ArgoSettings, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics
        self._label = settings.label(application.namespace, application.name)
        self._jq = Jq(_seconds(settings.parameter("controller.ignore.normalizer.jq.timeout")))
        options = _compare_options(settings)
        self._aggregated = options.flag("ignoreAggregatedRoles")
        self._status = _ignored_status(options)
        self._rules = [*self._own_rules(application), *self._rules_of_settings(settings)]
        self._types = {
            **BUILT_IN,
            **{key: override.known_types for key, override in settings.overrides.items() if override.known_types},
        }
        self._report_unknown_types()
        try:
            for rule in self._rules:
                for expression in rule.expressions:
                    self._jq.check(expression)
                    if reads_environment(expression):
                        self._report_environment(expression, rule)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Stop the process that evaluates expressions."""
        self._jq.close()

    def __enter__(self) -> Normaliser:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def normalise(self, data: Mapping[str, Any], *, rules: bool = True) -> dict[str, Any]:
        """Return a copy of an object without ignored fields.

        Args:
            rules: whether the rules apply; an ignored status is removed in any case.
        """
        result: dict[str, Any] = copy.deepcopy(dict(data))
        key = key_of(result)
        for path, kind in self._types.get(f"{key.group}/{key.kind}" if key.group else key.kind, ()):
            rewrite(result, path, kind)
        if self._status == "all" or (self._status == "crd" and key.kind == "CustomResourceDefinition"):
            result.pop("status", None)
        if self._aggregated and key.kind == "ClusterRole" and "aggregationRule" in result:
            result.pop("rules", None)
        for rule in self._rules if rules else ():
            if rule.fits(key):
                self._apply(rule, result, key)
        return result

    def by_rule(
        self, old: Mapping[str, Any], new: Mapping[str, Any]
    ) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
        """Yield the place of each rule, and the old and the new object without the fields that this rule ignores."""
        for rule in self._rules:
            sides = []
            for data in (old, new):
                result, key = copy.deepcopy(dict(data)), key_of(data)
                if rule.fits(key):
                    self._apply(rule, result, key)
                sides.append(result)
            yield str(rule.place or "the settings"), sides[0], sides[1]

    def _apply(self, rule: _Rule, data: dict[str, Any], key: ObjectKey) -> None:
        for steps in rule.pointers:
            remove_pointer(data, steps)
        for expression in rule.expressions:
            answer = self._jq.paths(expression, data)
            if answer.outcome == "paths":
                remove_paths(data, answer.paths)
            elif answer.outcome == "slow":
                hint = "controller.ignore.normalizer.jq.timeout is the limit"
                message = f"the jq expression {expression!r} exceeds the time limit, and ignores nothing of {key}"
                self._report(Diagnostic("CMD-ARGO-704", message, "warning", hint), rule, key)
            else:
                message = f"the jq expression {expression!r} fails, and ignores nothing of {key}: {answer.message}"
                self._report(Diagnostic("CMD-ARGO-703", message, "info"), rule, key)
        if rule.managers:
            names = ", ".join(rule.managers)
            message = f"the fields of {key} that {names} manages are known only to a cluster, and are compared"
            self._report(Diagnostic("CMD-ARGO-705", message, "boundary"), rule, key)

    def _report(self, diagnostic: Diagnostic, rule: _Rule, key: ObjectKey) -> None:
        places = (rule.place,) if rule.place is not None else ()
        self._diagnostics.add(replace(diagnostic, subject=Subject(self._label, object=str(key)), locations=places))

    def _own_rules(self, application: Application) -> Iterator[_Rule]:
        for ignored in application.ignored:
            pointers = self._steps(ignored.pointers, ignored.place)
            yield _Rule(
                ignored.group,
                ignored.kind,
                ignored.name,
                ignored.namespace,
                pointers,
                ignored.expressions,
                ignored.managers,
                ignored.place,
            )

    def _rules_of_settings(self, settings: ArgoSettings) -> Iterator[_Rule]:
        for name in sorted(settings.overrides):
            ignored = settings.overrides[name].ignored
            group, _, kind = name.rpartition("/")
            pointers = self._steps(ignored.pointers, ignored.place)
            yield _Rule(group, kind, "", "", pointers, ignored.expressions, ignored.managers, ignored.place)

    def _steps(self, pointers: Iterable[str], place: Location | None) -> tuple[tuple[str, ...], ...]:
        """Return the steps of the valid pointers. Invalid ones are reported and ignore nothing, as in Argo CD."""
        valid = []
        for pointer in pointers:
            try:
                valid.append(tuple(checked_pointer(pointer)))
            except InputError as error:
                message = f"{error.message}, and ignores nothing"
                places = (place,) if place is not None else ()
                self._diagnostics.add(
                    Diagnostic(error.code, message, "warning", error.hint, "", Subject(self._label), places)
                )
        return tuple(valid)

    def _report_environment(self, expression: str, rule: _Rule) -> None:
        message = f"the jq expression {expression!r} reads the environment, which is empty, here as in Argo CD"
        places = (rule.place,) if rule.place is not None else ()
        hint = "write the value itself"
        self._diagnostics.add(Diagnostic("CMD-ARGO-702", message, "warning", hint, "", Subject(self._label), places))

    def _report_unknown_types(self) -> None:
        for name, types in sorted(self._types.items()):
            for path, kind in types:
                if not is_known(kind):
                    message = f"the type {kind} of {path} of {name} is unknown; its values are compared as they are"
                    self._diagnostics.add(Diagnostic("CMD-ARGO-707", message, "warning"))


def _compare_options(settings: ArgoSettings) -> Fields:
    key = "resource.compareoptions"
    setting = settings.config.get(key)
    place = (setting.place if setting is not None else None) or Location(key)
    value: Any = next(read_documents(settings[key], place=key), {})
    return Fields.of(value, key, place)


def _ignored_status(options: Fields) -> str:
    """Return the objects whose status is ignored: `all`, `crd` or `none`."""
    raw = options.raw("ignoreResourceStatusField")
    if raw is False or raw in ("none", "off", "false"):
        return "none"
    return "crd" if raw in ("crd", "crds") else "all"


def _seconds(text: str) -> float:
    nanoseconds = parse_go_duration(text.strip())
    return 1.0 if nanoseconds is None or nanoseconds < 0 else min(nanoseconds / 1e9, _LONGEST)


def read_objects(content: bytes, place: str) -> list[dict[str, Any]]:
    """Return the objects of a YAML stream.

    Raises:
        InputError: CMD-YAML-001, it is invalid; CMD-ARGO-103, a document is not a mapping.
    """
    objects = []
    for value in read_documents(content, place=place):
        if not isinstance(value, dict):
            raise InputError(
                "CMD-ARGO-103", f"a document of {place} must be a mapping", hint="every document is a Kubernetes object"
            )
        objects.append(value)
    return objects
