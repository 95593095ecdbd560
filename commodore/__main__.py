"""Entry point of the command `commodore` and of `python -m commodore`."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the program. An interruption before it can answer one ends the process at once, and without a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a program in the background ignores it
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    from commodore.cli.main import main as run

    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    # Python puts the current folder first where modules are looked for: what lies there would be run as a part of us.
    if not sys.flags.safe_path:
        del sys.path[0]
    main()
