"""Browser of the user who logs in."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import webbrowser

from commodore.base.programs.child_processes import Child, child_environment

_OPEN = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


def has_browser() -> bool:
    """Check if a browser window can be opened here.

    Browsers in the terminal do not count, because they would occupy it; `BROWSER` names the user's browser.
    """
    display = sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    if not display and not os.environ.get("BROWSER"):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def open_browser(url: str) -> None:
    """Open a page, in a separate process and thread: some browsers do not return until they are closed, and their
    output must not mix with that of this program.
    """
    # Isolated: imports depend neither on the current directory nor on PYTHON* variables.
    command = [sys.executable, "-I", "-c", _OPEN, url]
    nothing = subprocess.DEVNULL
    threading.Thread(
        target=lambda: subprocess.run(
            command,
            env=child_environment(Child.DESKTOP),
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            start_new_session=True,
            check=False,
        ),
        daemon=True,
    ).start()
