"""Progress bars and notes, on standard error.

Services and `pythonw` lack standard error: `sys.stderr` is None or closed, and nothing is shown.
`rich` draws the bars. It is imported for the first bar.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from synthbench.text.lines import printable
from synthbench.text.tables import takes_colors

if TYPE_CHECKING:
    from rich.progress import Progress

#: Seconds between redraws of a bar. No thread draws it, because worker processes are forked.
_REDRAW = 0.1
#: Columns of the shortest bar, with the spaces around it.
_SHORTEST = 6
#: The display of all bars that are shown now. A bar within another bar is a line below it.
_DRAWN_BY: list[Progress] = []


class Bar:
    """A progress bar. It does nothing if `progress` is None.

    Args:
        progress: the display that draws the bar, or None.
        title: the activity.
        unit: the counted things, in the plural.
        total: number of units to do.
        done: number of units done before.

    Attributes:
        title: the activity. May be set later.
        total: number of units to do. May be set later.
        done: number of finished units, if the bar is shown.
    """

    def __init__(
        self, progress: Progress | None, title: str, unit: str, total: int, done: int
    ) -> None:
        self._progress, self.title, self._unit = progress, title, unit
        self.total, self._before, self.done = total, done, done
        self._started, self._drawn, self._now = time.monotonic(), 0.0, ""
        if progress is not None:
            self._line = progress.add_task(printable(title), total=total, figures=self._figures())

    @property
    def is_shown(self) -> bool:
        """True if the bar is shown."""
        return self._progress is not None

    def update(self, done: int = 1, now: str | None = None) -> None:
        """Count finished units, and redraw the bar unless it was redrawn a moment ago.

        Args:
            done: number of units finished since the last call.
            now: the present activity, shown behind the title. Default: as in the last call.
        """
        if self._progress is None:
            return
        self.done += done
        self._now = self._now if now is None else now
        if now is None and time.monotonic() - self._drawn < _REDRAW:
            return
        self._drawn = time.monotonic()
        figures = self._figures()
        title = printable(f"{self.title} {self._now}".rstrip())
        room = self._progress.console.width - len(figures) - _SHORTEST
        self._progress.update(
            self._line,
            description=title if len(title) <= room else f"{title[: room - 1]}…",
            total=self.total,
            completed=self.done,
            figures=figures,
        )
        self._progress.refresh()

    def rate(self, count: int, unit: str) -> str:
        """So many of something a second since the bar was made: `195 tokens/s`."""
        return f"{count / max(time.monotonic() - self._started, 1e-9):,.0f} {unit}/s"

    def remove(self) -> None:
        """Take the bar off the terminal."""
        if self._progress is not None:
            self._progress.remove_task(self._line)

    def _figures(self) -> str:
        """Finished units, rate and time left."""
        text = f"{self.done:,}/{self.total:,} {self._unit}"
        done, seconds = self.done - self._before, time.monotonic() - self._started
        if not done:
            return text
        speed = f"{done / seconds:,.0f}/s" if done > 2 * seconds else f"{seconds / done:.1f} s each"
        left = round(max(0, self.total - self.done) * seconds / done)
        hours = f"{left // 3600}:" if left >= 3600 else ""
        return f"{text} {speed} {hours}{left // 60 % 60:02}:{left % 60:02} left"


@contextlib.contextmanager
def progress_bar(shown: bool, title: str, unit: str, total: int, done: int = 0) -> Iterator[Bar]:
    """A progress bar on standard error, with rate and time left, as long as the block lasts.

    Args:
        shown: whether to show the bar. It is shown only if standard error is a terminal.
        title: the activity.
        unit: the counted things, in the plural.
        total: number of units to do.
        done: number of units done before.
    """
    if not (shown and on_terminal()):
        yield Bar(None, title, unit, total, done)
        return
    with _drawing() as progress:
        bar = Bar(progress, title, unit, total, done)
        try:
            yield bar
        finally:
            bar.remove()


@contextlib.contextmanager
def _drawing() -> Iterator[Progress]:
    """The display of all bars that are shown at the same time."""
    if _DRAWN_BY:
        yield _DRAWN_BY[0]
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None, complete_style="cyan", finished_style="cyan"),
        TextColumn("{task.fields[figures]}", markup=False),
        console=Console(stderr=True, color_system="auto" if takes_colors(sys.stderr) else None),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        expand=True,
    )
    with progress:
        _DRAWN_BY.append(progress)
        try:
            yield progress
        finally:
            _DRAWN_BY.clear()


def on_terminal() -> bool:
    """True if standard error is a terminal on which a bar can be drawn."""
    stream = _standard_error()
    is_terminal = stream is not None and hasattr(stream, "isatty") and stream.isatty()
    return is_terminal and os.environ.get("TERM") != "dumb"


def note(text: str) -> None:
    """Write a line to standard error, if it exists."""
    if (stream := _standard_error()) is not None:
        with contextlib.suppress(OSError):  # its reader has gone
            print(text, file=stream, flush=True)


def _standard_error() -> TextIO | None:
    stream: TextIO | None = sys.stderr
    return None if getattr(stream, "closed", False) else stream
