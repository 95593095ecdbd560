"""Every option of the program, declared once: flags, environment variable, default and help.

The command line, its help and the reference page are derived from these declarations. Besides the variable named here,
every option has an automatic one: `COMMODORE_`, the command's path and the option's name. Precedence: command line,
explicit variable, automatic variable, default.
"""

from commodore.cli.shell.settings.model import Kind, Setting, Settings, Source, Value

__all__ = ["Kind", "Setting", "Settings", "Source", "Value"]
