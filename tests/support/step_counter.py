"""How much a piece of Python works, counted: the same on every machine, whatever else that does."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps_of(act: Callable[[], object]) -> int:
    """How many bytecode instructions of this thread ``act`` takes; what runs in C counts as its call."""
    steps = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal steps
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode":
            steps += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return steps
