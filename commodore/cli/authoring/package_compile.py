"""`commodore package compile`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from commodore.base.context import Context
from commodore.base.events import Warned
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.printable import counted
from commodore.cli.authoring.compile_settings import PACKAGE_COMPILE
from commodore.cli.authoring.facts import read_facts
from commodore.cli.shell.compile_options import compile_options
from commodore.cli.shell.completion import complete_test_classes
from commodore.cli.shell.console import console_of, working_dir
from commodore.cli.shell.options import options
from commodore.cli.shell.profile_options import profiled
from commodore.cli.shell.settings.common import LOCAL_FETCH_WARNING


@click.command("compile")
@click.argument("path", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("test_class", shell_complete=complete_test_classes)
@options(*PACKAGE_COMPILE)
@click.pass_context
def package_compile(ctx: click.Context, /, path: Path, test_class: str, **values: Any) -> None:
    """Compile TEST_CLASS of the package in the folder PATH for a fake cluster.

    TEST_CLASS is a class file relative to PATH, like tests/defaults.yml. The manifests are written to PATH/compiled.
    """
    from commodore.authoring import PackageCompile, PackageSource, compile_package

    console = console_of(ctx)
    fetch = values["fetch_dependencies"] or not values["local"]
    if not values["fetch_dependencies"] and fetch:
        console.announce(Warned("CMD-CLI-021", LOCAL_FETCH_WARNING, hint="add --local, or leave it out"))
    tmp_dir = values["tmp_dir"]
    request = PackageCompile(
        source=PackageSource.at(path, test_class),
        values=values["values"],
        output=path,
        workspace=None if tmp_dir is None else working_dir(ctx) / tmp_dir,
        keep=values["keep_dir"],
        local=values["local"],
        force=values["force"],
        facts=read_facts(values, console),
        options=compile_options(values, console, fetch=fetch),
    )
    title = f"{ctx.command_path} {request.source.name}"
    with profiled(values["profile"], title, console) as announce, console.working():
        compiled = compile_package(request, Context(announce, DEFAULT_LIMITS))
    instances = counted(len(compiled), "instance")
    console.status(f"Compiled package {request.source.name} to {path / 'compiled'}: {instances}")
