"""Run helm for cells, and shorten its errors."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.base.printable import printable
from commodore.base.programs.running import OutOfBounds
from commodore.core.confinement.chart_schemas import refers_elsewhere
from commodore.core.render.programs import Program, Unavailable, command_of, run_program, why_it_failed


class HelmRefused(Exception):
    """Helm has failed. `reason` is its message, without paths of temporary files."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def helm_path() -> str:
    """Return the executable of helm.

    Raises:
        EnvironmentFault: CMD-FLT-055, it is missing.
    """
    try:
        return command_of("helm")[0]
    except Unavailable as error:
        raise _unavailable(error) from error


@dataclass(frozen=True, slots=True)
class Helm:
    """Renders charts.

    Attributes:
        folder: the folder for helm's temporary files.
    """

    folder: Path
    context: Context

    def template(self, release: str, chart: Path, values: str) -> str:
        """Return the output of `helm template`.

        Args:
            release: the name of the release.
            chart: the chart's folder.
            values: YAML or JSON, in addition to the chart's own values.

        Raises:
            HelmRefused: it has failed.
            EnvironmentFault: CMD-FLT-055, it cannot be started; CMD-FLT-027, it takes too long.
            PolicyError: CMD-FLT-128, it writes too much.
        """
        arguments = ["template", release, str(chart), "--values", "-"]
        if refers_elsewhere(chart):  # helm would contact servers, and read any file
            arguments.append("--skip-schema-validation")
        limits = self.context.limits
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            home = Path(name, "home")
            home.mkdir()
            program = Program("helm", arguments, home, home, values.encode())
            try:
                ended = run_program(program, limits.helm_timeout, limits, self.context.cancellation)
            except Unavailable as error:
                raise _unavailable(error) from error
            except OutOfBounds as hit:
                if hit.bound == "seconds":
                    raise EnvironmentFault(
                        "CMD-FLT-027",
                        f"helm did not end within {limits.helm_timeout:g} seconds (helm_timeout)",
                        hint="look at the chart's templates",
                    ) from None
                raise PolicyError(
                    "CMD-FLT-128",
                    f"helm writes more than {limits.program_output_bytes} bytes (program_output_bytes)",
                    hint="look at the chart's templates",
                ) from None
        if ended.code:
            said = ended.said.decode("utf-8", "replace")
            raise HelmRefused(_reason(said, str(chart)) or why_it_failed(ended, {}))
        return ended.output.decode("utf-8", "replace")


def _unavailable(error: Unavailable) -> EnvironmentFault:
    what = f"helm cannot be started: {error.reason}" if error.reason else "helm is needed and is not there"
    return EnvironmentFault("CMD-FLT-055", what, hint="install it: commodore tool install helm")


def _reason(said: str, chart: str) -> str:
    lines = [
        line
        for line in said.splitlines()
        if line.strip() and not line.startswith(("WARNING:", "level=", "Use --debug"))
    ]
    text = " ".join(lines).removeprefix("Error: ")
    return printable(text.replace(chart, Path(chart).name).replace(str(Path(chart).parent), "")).strip()
