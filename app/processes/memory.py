"""Return the memory of a large table to the system when the table is freed.

By default, every web process keeps such memory for reuse: 600 MB after a release of a million rows, although
tables of that size are rare.
"""

import ctypes
import os

_M_MMAP_THRESHOLD = -3
"""Parameter of glibc's ``mallopt``: blocks from this size on are mapped separately and unmapped when freed.
Setting it also stops glibc from raising the threshold."""
_MMAP_THRESHOLD_BYTES = 1 << 20
"""A table of ten thousand rows has no block as large."""


def return_freed_memory() -> None:
    """Configure the allocators to return freed memory. Call it before importing Arrow, which has its own."""
    os.environ.setdefault("MIMALLOC_PURGE_DELAY", "0")
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # other C libraries lack it
        mallopt(_M_MMAP_THRESHOLD, _MMAP_THRESHOLD_BYTES)
