"""Shell completion of parameters."""

from __future__ import annotations

from collections.abc import Iterator

import click

from commodore.cli.shell.completion import quick


@quick
def complete_parameters(ctx: click.Context, incomplete: str) -> Iterator[str]:
    """Parameters of the cluster that was last compiled in the working directory, one key at a time.

    Nothing is offered for a fake cluster: what was compiled is another one, and generating one leaves files in a
    temporary folder if the shell does not wait for the end.

    A map is offered with a dot behind it too, so that the shell does not take it for the end of the word.
    """
    from commodore.base.context import Context
    from commodore.base.events import ignore
    from commodore.base.files.workspace import Workspace
    from commodore.base.limits import DEFAULT_LIMITS
    from commodore.core.inventory import compiled_preview, format_path, look_up, parse_path

    if ctx.params.get("global_config") is not None or ctx.args:  # where click leaves arguments before `--path`
        return
    above, dot, _ = incomplete.rpartition(".")
    path = parse_path(above) if dot else ()
    instance = ctx.params.get("instance")
    preview = compiled_preview(Workspace.at(ctx.find_root().params["working_dir"]), instance)
    parameters = preview.render(Context(ignore, DEFAULT_LIMITS)).parameters
    value = look_up(parameters, path)
    for key in sorted(key for key in value if isinstance(key, str)) if isinstance(value, dict) else ():
        name = format_path((*path, key))
        if name.startswith(incomplete) and '"' not in name:
            yield name
            if isinstance(value[key], dict):
                yield f"{name}."
