"""The web process returns unused memory to the system, and children keep what the next release needs."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.full

PROGRAM = """
import os, sys
from anoncup.runner.allocator import return_freed_memory
if sys.argv[1] == "True":
    return_freed_memory()

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

warmed = bytes(8 << 20)
del warmed
before, large, small = resident(), [], []
for _ in range(32):
    large.append(b"x" * (2 << 20))
    small.append(bytes(4000))
del large
print((resident() - before) >> 20)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("returns_memory", [True, False])
def test_large_blocks_are_returned_between_small_ones(returns_memory: bool) -> None:
    completed = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(returns_memory)], capture_output=True, text=True, check=True
    )
    kept_mb = int(completed.stdout)
    assert (kept_mb < 8) if returns_memory else (kept_mb > 32)
