"""Counts bytecode instructions, a measure of work that does not depend on the machine."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def count_instructions(action: Callable[[], object]) -> int:
    """Return the number of bytecode instructions that ``action`` runs in this thread, without C code."""
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
        action()
    finally:
        sys.settrace(previous_trace)
    return steps
