"""How much freed memory the allocators of a process keep, and what its garbage collector reads.

By default, every web process keeps the memory of a large table for reuse: 600 MB after a release of a million
rows, although tables of that size are rare. A scoring or parsing process by default returns too much: it maps
and clears its memory again for every release, which takes a tenth of the time of scoring it.
"""

import ctypes
import gc
import os
from collections.abc import Mapping

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Parameters of glibc's ``mallopt``: how much free memory at the end of the heap is kept; the size from which
blocks are mapped separately, which glibc otherwise raises; the number of heaps, by default one per thread."""
_TABLE_BYTES = 1 << 20
"""A table of ten thousand rows has no block as large."""
_KEPT_BYTES = 64 << 20
"""More than scoring a release of ten thousand rows allocates at a time."""
_KEPT_BLOCK_BYTES = 8 << 20


def return_freed_memory() -> None:
    """Configure the allocators to return freed memory. Call it before importing Arrow, which has its own."""
    os.environ.setdefault("MIMALLOC_PURGE_DELAY", "0")
    _set_allocator_options({_MMAP_THRESHOLD: _TABLE_BYTES, _ARENA_MAX: 2})


def keep_freed_memory() -> None:
    """Keep some freed memory for the next release. The process is ended when it is idle."""
    _set_allocator_options({_MMAP_THRESHOLD: _KEPT_BLOCK_BYTES, _TRIM_THRESHOLD: _KEPT_BYTES})


def keep_from_collector() -> None:
    """Keep what the process has loaded from the garbage collector.

    It would read (and so copy, in a forked process) all of it again and again while a board is built: half
    of the time that a board of a thousand verdicts took.
    """
    gc.collect()
    gc.freeze()


def _set_allocator_options(options: Mapping[int, int]) -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # other C libraries lack it
        for option, value in options.items():
            mallopt(option, value)
