"""Ctrl-C where Python cannot pass it on.

A signal's handler runs between any two steps of the main thread. If that is within a destructor or the callback of a
weak reference, which every import has, then the KeyboardInterrupt cannot be caught: Python reports it to
`sys.unraisablehook`, drops it, and the program goes on.

And if the signal comes after the last step before the main thread waits for something (a thread, a process, a lock, a
file), or another thread gets it, then the handler runs only when that wait is over.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator

_WAKING = signal.SIGURG  # does nothing by itself; nothing here asks for urgent data
_PAUSES = (
    0.02,
    0.1,
    0.5,
)  # seconds before the main thread is woken, each time anew: it may be falling asleep just then
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
                # Not `threading`: whatever was interrupted may hold its locks, and no thread may wait for this one.
                _thread.start_new_thread(_interrupt_soon, (main,))
            except RuntimeError:  # there can be no more threads: let Python say what it ignores
                previous(unraisable)
        else:
            previous(unraisable)

    sys.unraisablehook = report
    _wake_for_signals(main)


def stop_keeping_interruptions() -> None:
    """The work is done: what is on its way arrives no more, and SIGTERM ends the process at once."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)


@contextlib.contextmanager
def without_interruptions() -> Iterator[None]:
    """Ignore Ctrl-C and SIGTERM meanwhile, if this is the main thread: for the moment of saying that one has come."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with handling(signal.SIG_IGN, signal.SIGINT, signal.SIGTERM):
        yield


@contextlib.contextmanager
def handling(handler: signal.Handlers | Callable[..., None], *numbers: signal.Signals) -> Iterator[None]:
    """Let signals have another handler as long as the block runs. To be called by the main thread."""
    before = [(number, signal.signal(number, handler)) for number in numbers]
    try:
        yield
    finally:
        for number, former in before:
            signal.signal(number, former)


def _interrupt_soon(thread: int) -> None:
    time.sleep(_A_MOMENT)
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        # `_thread.interrupt_main` would not wake it where it sleeps or waits.
        signal.pthread_kill(thread, signal.SIGTERM)


def _wake_for_signals(main: int) -> None:
    """Let every wait of the main thread end for a moment after an interruption, so that its handler runs.

    That is a rule for all waits, wherever they are: none of them has to look up now and then.
    """
    collected, noted = os.pipe()
    os.set_blocking(noted, False)
    signal.signal(_WAKING, lambda *_: None)
    signal.set_wakeup_fd(noted, warn_on_full_buffer=False)
    try:
        _thread.start_new_thread(_wake, (collected, main))
    except RuntimeError:  # there can be no more threads: then it is as Python has it
        signal.set_wakeup_fd(-1)


def _wake(collected: int, main: int) -> None:
    while numbers := os.read(collected, 64):
        if signal.SIGINT in numbers or signal.SIGTERM in numbers:
            for pause in _PAUSES:
                time.sleep(pause)
                signal.pthread_kill(main, _WAKING)
