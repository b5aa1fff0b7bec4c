"""A later clock for a process: rows that follow the date or the second differ under it."""

from __future__ import annotations

import datetime
import time
from typing import Any

#: Another year, month, day of the week, hour, minute and second.
LATER = datetime.timedelta(days=400, hours=5, minutes=7, seconds=11)


def set_later() -> None:
    """Let `time` and `datetime` read a later clock, for modules that are imported from now on."""
    seconds = int(LATER.total_seconds())
    now, now_ns = time.time, time.time_ns
    setattr(time, "time", lambda: now() + seconds)  # noqa: B010
    setattr(time, "time_ns", lambda: now_ns() + seconds * 10**9)  # noqa: B010
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _of_seconds(getattr(time, name)))
    strftime = time.strftime
    setattr(  # noqa: B010
        time, "strftime", lambda form, *at: strftime(form, *(at or [time.localtime()]))
    )
    real_date, real_datetime = datetime.date, datetime.datetime
    datetime.datetime = _later_class(real_datetime, ("now", "utcnow", "today"))  # type: ignore[misc]
    datetime.date = _later_class(real_date, ("today",))  # type: ignore[misc]


def _of_seconds(function: Any) -> Any:
    """A function of seconds that reads the clock if these are not given."""
    return lambda at=None: function(time.time() if at is None else at)


def _later_class(real: Any, readers: tuple[str, ...]) -> Any:
    """A class like `real` whose methods read a later clock."""

    class Kind(type):
        def __instancecheck__(cls, value: object) -> bool:  # values of the real class, too
            return isinstance(value, real)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, real)

    def reader(name: str) -> Any:
        def read(cls: Any, *arguments: Any, **options: Any) -> Any:
            return getattr(super(later, cls), name)(*arguments, **options) + LATER

        return classmethod(read)

    members = {name: reader(name) for name in readers}
    # The real class is written with its module.
    members["__repr__"] = lambda value: f"{real.__module__}.{real.__repr__(value)}"
    later: Any = Kind(real.__name__, (real,), {"__module__": real.__module__, **members})
    return later
