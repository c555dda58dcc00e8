"""A count of bytecode instructions: a measure of work that does not depend on the machine."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def count_instructions(act: Callable[[], object]) -> int:
    """Return the number of bytecode instructions that ``act`` runs in this thread. C code is not counted."""
    steps = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal steps
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode":
            steps += 1
        return trace

    previous_trace = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(previous_trace)
    return steps
