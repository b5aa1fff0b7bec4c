"""What a worker process asks of the C library's memory allocator."""

from __future__ import annotations

import contextlib
import ctypes
import functools

#: Parameters of `mallopt`, as in <malloc.h>.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


@functools.cache
def keep_freed_memory() -> None:
    """Have the C library keep up to 128 MiB that a worker frees, for its next block.

    To give the pages back and to get them again takes a tenth of a worker's time, and half of that
    of a Dask worker, whose nanny asks for it by the environment variable MALLOC_TRIM_THRESHOLD_.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # not the GNU C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, 32 << 20)
        mallopt(_M_TRIM_THRESHOLD, 128 << 20)
