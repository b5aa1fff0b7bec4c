"""Control-C and SIGTERM: they end what runs, cleanly, and wait where a step must be whole."""

from __future__ import annotations

import _thread
import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_ENDING = (signal.SIGINT, signal.SIGTERM)
#: Seconds until an interruption that was lost comes again: enough to leave a destructor.
_AGAIN = 0.01


class Interrupted(KeyboardInterrupt):
    """Control-C, or the system's request to end (SIGTERM).

    Of a plain KeyboardInterrupt Python remembers that it passed through an `exec`, as in a
    dataclass that is being made, and then ends with the signal instead of our status.
    """


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let Control-C and SIGTERM stop what runs, cleanly; the second one kills.

    Raises:
        Interrupted: one of them came.
    """
    interrupted = over = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        signal.signal(number, signal.SIG_DFL)
        raise Interrupted(number)

    def notice(lost: UnraisableHookArgs) -> None:
        if isinstance(lost.exc_value, Interrupted):
            # It struck while an object was being destroyed, out of which Python lets nothing pass.
            signal.signal(lost.exc_value.args[0], interrupt)
            # A thread of `threading` needs a lock that may just be held, if this came in there.
            _thread.start_new_thread(strike_again, lost.exc_value.args)
        else:
            hook(lost)

    def strike_again(number: int) -> None:
        time.sleep(_AGAIN)
        if not over:
            _send_to_main_thread(number)

    before = {one: signal.signal(one, interrupt) for one in _ENDING}
    hook, sys.unraisablehook = sys.unraisablehook, notice
    try:
        yield
    except Exception as error:
        if interrupted:  # and this came of it, say from a module half imported
            raise Interrupted from error
        raise
    finally:
        over = True
        sys.unraisablehook = hook
        for one, handler in before.items():
            signal.signal(one, handler)


def _send_to_main_thread(number: int) -> None:
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)  # wakes it if it waits
    else:  # Windows
        signal.raise_signal(number)


@contextlib.contextmanager
def defer_signals() -> Iterator[None]:
    """Let Control-C and SIGTERM wait for the end of a block that must not be left half done.

    A mask would not do: the signals could come by another thread that has none.
    """
    if threading.current_thread() is not threading.main_thread():  # they never strike there
        yield
        return
    came: list[int] = []
    # No handler is one that was not installed from Python: it cannot be put back.
    handlers = {one: signal.getsignal(one) for one in _ENDING}
    before = {one: handler for one, handler in handlers.items() if handler is not None}
    try:
        for one in before:
            signal.signal(one, lambda number, frame: came.append(number))
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
        for number in came[:1]:
            signal.raise_signal(number)
