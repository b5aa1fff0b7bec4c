"""Control-C and SIGTERM: end a run cleanly, but not within a step that must be completed."""

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
#: Seconds until a lost interruption is raised again: enough to leave a destructor.
_AGAIN = 0.01


class Interrupted(KeyboardInterrupt):
    """Control-C, or the system's request to end (SIGTERM).

    If a plain KeyboardInterrupt passes through an `exec`, as while a dataclass is being created,
    Python exits by the signal instead of with our status.
    """


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let Control-C or SIGTERM stop the block cleanly. A second one kills the process.

    Raises:
        Interrupted: Control-C or SIGTERM came.
    """
    interrupted = over = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        signal.signal(number, signal.SIG_DFL)
        raise Interrupted(number)

    def notice(lost: UnraisableHookArgs) -> None:
        if isinstance(lost.exc_value, Interrupted):
            # It was raised in a destructor, where Python drops exceptions.
            signal.signal(lost.exc_value.args[0], interrupt)
            # Starting a `threading.Thread` takes a lock that may be held at this moment.
            _thread.start_new_thread(strike_again, lost.exc_value.args)
        else:
            hook(lost)

    def strike_again(number: int) -> None:
        time.sleep(_AGAIN)
        if not over:
            _send_to_main_thread(number)

    before = {signum: signal.signal(signum, interrupt) for signum in _ENDING}
    hook, sys.unraisablehook = sys.unraisablehook, notice
    try:
        yield
    except Exception as error:
        if interrupted:  # which caused this error, for example in a half-imported module
            raise Interrupted from error
        raise
    finally:
        over = True
        sys.unraisablehook = hook
        for signum, handler in before.items():
            signal.signal(signum, handler)


def _send_to_main_thread(number: int) -> None:
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)  # wakes it if it waits
    else:  # Windows
        signal.raise_signal(number)


@contextlib.contextmanager
def defer_signals() -> Iterator[None]:
    """Defer Control-C and SIGTERM to the end of a block that must not be left half done.

    Masking the signals is not enough: another thread, without the mask, could receive them.
    """
    if threading.current_thread() is not threading.main_thread():  # it handles no signals
        yield
        return
    came: list[int] = []
    # None stands for a handler that was not installed from Python and cannot be put back.
    handlers = {signum: signal.getsignal(signum) for signum in _ENDING}
    before = {signum: handler for signum, handler in handlers.items() if handler is not None}
    try:
        for signum in before:
            signal.signal(signum, lambda number, frame: came.append(number))
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
        for number in came[:1]:
            signal.raise_signal(number)
