"""Run Python code of components in a child of the worker, without network and with its own files only. Runs in workers
only.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.abc
import json
import logging
import os
import posix
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from commodore.base.documents import plain
from commodore.base.errors import (
    CommodoreError,
    EnvironmentFault,
    Findings,
    InputError,
    Location,
    PolicyError,
    raise_all,
)
from commodore.core.confinement import NAMESPACES, Confinement, View, cannot_isolate, isolation
from commodore.core.confinement.namespaces import close_others, enter
from commodore.core.engine.tasks import BatchRun

_FAMILIES: tuple[type[CommodoreError], ...] = (InputError, EnvironmentFault, PolicyError)
_PLACE_OF_VARIABLES = 47  # index in /proc/self/stat after the name, of the start of the initial environment (env_start)
_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR")


def run_isolated(
    confinement: Confinement, work: Callable[[], None], explain: Callable[[Exception], CommodoreError]
) -> None:
    """Run a function that executes a component's Python code, isolated if this machine supports it.

    Written files stay. Log messages are logged in this process.

    Args:
        explain: converts an exception of `work` to an error.

    Raises:
        CommodoreError: an error of `explain`; CMD-CONF-013, the policy requires isolation, and this machine lacks it.
        Exception: an exception of `work`, if it runs in this process.
    """
    if confinement.policy.isolated is False or isolation() != NAMESPACES:
        if confinement.policy.isolated:
            raise cannot_isolate()
        work()
        return
    logged, errors = _in_child(work, explain, confinement.view(os.environ))
    for name, level, message in logged:
        logging.getLogger(name).log(level, "%s", message)
    raise_all(errors)


def _in_child(
    work: Callable[[], None], explain: Callable[[Exception], CommodoreError], view: View
) -> tuple[list[tuple[str, int, str]], list[CommodoreError]]:
    source, sink = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _work_in_child(work, explain, view, sink)
    os.close(sink)
    with open(source, "rb") as file:
        content = file.read()
    _, status = os.waitpid(child, 0)
    try:
        answer = json.loads(content)
        logged = [(str(name), int(level), str(message)) for name, level, message in answer["logged"]]
        return logged, [_error(fields) for fields in answer["errors"]]
    except (ValueError, KeyError, TypeError):  # it ended too early, or the component's code wrote to the pipe
        code = os.waitstatus_to_exitcode(status)
        raise EnvironmentFault(
            "CMD-ENG-061",
            f"the process that runs the component's Python code ended with code {code}",
            hint="it may have used up memory, or ended itself",
        ) from None


def _work_in_child(
    work: Callable[[], None], explain: Callable[[Exception], CommodoreError], view: View, sink: int
) -> NoReturn:
    logged = _Logged()
    errors: list[CommodoreError] = []
    try:
        close_others([sink])
        logging.getLogger().handlers = [logged]
        _WithoutGo.install()
        _forget_variables()
        enter(view)
        work()
    except Exception as error:
        fault = error if isinstance(error, CommodoreError) else explain(error)
        errors = list(fault.errors) if isinstance(fault, Findings) else [fault]
    except BaseException as error:
        errors = [InputError("CMD-ENG-022", f"it ends with {type(error).__name__}", hint="let it return its objects")]
    finally:
        answer = {"logged": logged.records, "errors": plain(errors)}
        with open(sink, "w", encoding="utf-8") as file:
            json.dump(answer, file)
        os._exit(0)


def _forget_variables() -> None:
    """Remove all variables but a few, and other secrets of the run, from the memory of the process."""
    for name in set(os.environ) - set(_VARIABLES):
        del os.environ[name]
    posix.environ.clear()
    for item in gc.get_objects():
        if isinstance(item, BatchRun):
            object.__setattr__(item, "environment", {})
            object.__setattr__(item, "remote", None)
    for name, value in os.environ.items():
        os.putenv(name, value)  # copies the value
    with open("/proc/self/stat", "rb") as file:
        start, end = map(int, file.read().rpartition(b")")[2].split()[_PLACE_OF_VARIABLES : _PLACE_OF_VARIABLES + 2])
    ctypes.memset(start, 0, end - start)


class _WithoutGo(importlib.abc.MetaPathFinder):
    """Makes imports of go-jsonnet fail: its runtime has lost its threads with the fork, and would wait for them."""

    _MODULE = "_gojsonnet"

    @classmethod
    def install(cls) -> None:
        sys.modules.pop(cls._MODULE, None)
        sys.meta_path.insert(0, cls())

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == self._MODULE:
            raise ImportError(
                "go-jsonnet does not work in isolated Python code: use the module _jsonnet, or let the trust"
                " policy have `isolated = false`"
            )


class _Logged(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[tuple[str, int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append((record.name, record.levelno, record.getMessage()))


def _error(fields: Any) -> CommodoreError:
    """Return an error that the child has reported."""
    kind = next((family for family in _FAMILIES if family.family == fields["family"]), InputError)
    places = [Location(location["place"], location["line"], location["column"]) for location in fields["locations"]]
    return kind(str(fields["code"]), str(fields["message"]), hint=str(fields["hint"]), locations=places)
