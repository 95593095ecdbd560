"""Runs of helm and kustomize for sources, and errors for their failures."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError, PolicyError
from commodore.base.programs.running import OutOfBounds
from commodore.core.render.causes import cause_of, plain
from commodore.core.render.programs import Program, Unavailable, run_program, why_it_failed


def run_for(
    program: Program, code: str, rename: Mapping[str, str], context: Context, report: Callable[[str], None]
) -> bytes:
    """Run a program that renders a source, and return its standard output.

    Args:
        code: code of the error if it fails.
        rename: see `why_it_failed`.
        report: gets the whole output of a failure if the error is shorter.

    Raises:
        InputError: it fails; the message begins with the cause.
        EnvironmentFault: CMD-ARGO-413, it is not installed or does not start; CMD-ARGO-418, it exceeds the time limit.
        PolicyError: CMD-ARGO-403, its output is too large.
    """
    limits = context.limits
    with explained(program.name, limits.argocd_source_seconds, limits.program_output_bytes):
        ended = run_program(program, limits.argocd_source_seconds, limits, context.cancellation)
    if ended.code == 0:
        return ended.output
    said = why_it_failed(ended, rename)
    why, hint = cause_of(program.name, said)
    if not plain(said).startswith(why):
        report(said)
        hint = f"{hint}; --diagnostics all shows the whole output of {program.name}"
    raise InputError(code, f"{program.name} {program.arguments[0]} fails: {why}", hint=hint)


@contextlib.contextmanager
def explained(name: str, seconds: float, output: int) -> Iterator[None]:
    """Raise errors for a program that is missing or exceeds its limits.

    Raises:
        EnvironmentFault: CMD-ARGO-413, it is not installed or does not start; CMD-ARGO-418, it exceeds the time limit.
        PolicyError: CMD-ARGO-403, its output is too large.
    """
    try:
        yield
    except Unavailable as error:
        raise unavailable(error) from error
    except OutOfBounds as hit:
        if hit.bound == "seconds":
            raise takes_too_long(name, seconds) from None
        raise PolicyError("CMD-ARGO-403", f"{name} writes more than {output} bytes", hint="split the source") from None


def unavailable(error: Unavailable) -> EnvironmentFault:
    """Return the error for a program that is not installed or does not start."""
    if error.reason:
        message, hint = f"{error.program} does not start: {error.reason}", "install it again"
    else:
        message, hint = f"{error.program} is not installed", f"install it with: commodore tool install {error.program}"
    return EnvironmentFault("CMD-ARGO-413", message, hint=hint)


def takes_too_long(name: str, seconds: float) -> EnvironmentFault:
    """Return the error for a program, or Jsonnet, that exceeds its time limit."""
    return EnvironmentFault(
        "CMD-ARGO-418",
        f"{name} exceeds the time limit of {seconds:g} s",
        hint="look for endless loops and for expressions that multiply, or raise --timeout or "
        "argocd_source_seconds with COMMODORE_LIMITS",
    )
