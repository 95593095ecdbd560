"""Options of showing options."""

from __future__ import annotations

from commodore.cli.shell.settings.common import OUTPUT_FORMAT
from commodore.cli.shell.settings.model import Setting

CONFIG_SHOW = (
    Setting("everything", ("--all",), "Show options that keep their defaults, too.", kind="switch", default=False),
    OUTPUT_FORMAT,
)
