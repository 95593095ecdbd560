"""Ctrl-C where Python cannot pass it on.

A signal's handler runs between any two steps of the main thread. If that is within a destructor or the callback of a
weak reference, which every import has, then nobody can catch the KeyboardInterrupt: Python reports it to
`sys.unraisablehook`, drops it, and the program goes on.
"""

from __future__ import annotations

import _thread
import signal
import sys
import time

_A_MOMENT = 0.05  # seconds: what could not pass the interruption on is over by then


def keep_interruptions() -> None:
    """From now on an interruption that Python would drop is delivered again a moment later, and once more if it meets
    another such place, until `stop_keeping_interruptions`.

    It comes as SIGTERM, whose handler must raise KeyboardInterrupt: a program that a shell has put in the background
    ignores SIGINT. To be called by the main thread.
    """
    previous = sys.unraisablehook
    main = _thread.get_ident()

    def report(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            try:
                # Not `threading`: whatever was interrupted may hold its locks, and nobody shall wait for this thread.
                _thread.start_new_thread(_interrupt_soon, (main,))
            except RuntimeError:  # there can be no more threads: let Python say what it ignores
                previous(unraisable)
        else:
            previous(unraisable)

    sys.unraisablehook = report


def stop_keeping_interruptions() -> None:
    """The work is done: what is on its way arrives no more, and SIGTERM ends the process at once."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt_soon(thread: int) -> None:
    time.sleep(_A_MOMENT)
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        # `_thread.interrupt_main` would not wake it where it sleeps or waits.
        signal.pthread_kill(thread, signal.SIGTERM)
