"""A browser for the person who logs in."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import webbrowser

from commodore.base.programs.child_processes import Child, child_environment

_OPEN = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


def has_browser() -> bool:
    """Whether a window with a browser can be opened here.

    Browsers that draw into the terminal do not count, as they would take it away; `BROWSER` names what the user wants.
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
    """Open the page. In a process and a thread of its own: some browsers do not return until they are closed, and what
    they write must not get between our results.
    """
    # Isolated: neither the current directory nor PYTHON* variables decide what is imported.
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
