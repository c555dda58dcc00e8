"""Memory that a large table has taken goes back to the system when the table is gone.

Left to themselves the allocators keep it, in every web process, for the next large table, which comes once in
a contest: 600 MB after a release of a million rows.
"""

import ctypes
import os

M_MMAP_THRESHOLD = -3
"""Of ``mallopt`` in glibc: a piece from this size on is mapped by itself, and unmapped when it is freed. Once
set it grows no more; nothing of a table of ten thousand rows is as large."""
LARGE = 1 << 20


def give_back() -> None:
    """To be called before Arrow, which has an allocator of its own, is loaded."""
    os.environ.setdefault("MIMALLOC_PURGE_DELAY", "0")
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # another C library
        mallopt(M_MMAP_THRESHOLD, LARGE)
