"""What `make test` leaves out, and `make test-long` and CI (ANONCUP_TRIES=1) do not: cases of laws, looks."""

import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings

Test = TypeVar("Test", bound=Callable[..., Any])
ROOM = Path(__file__).parent
MUCH_ALIKE = ("api", "cli", "security", "services", "web")
"""Rooms whose cases each ask a whole service."""
CASES = 4
SHARE = float(os.environ.get("ANONCUP_TRIES", "0.2"))
LEFT_OUT = () if SHARE >= 1 else (pytest.mark.long,)
"""The marks of a case much like another one."""


def left_out(test: Test) -> Test:
    """A test of a law that a shorter one holds to, too."""
    return pytest.mark.long(test) if LEFT_OUT else test


def tries(number: int) -> settings:
    """So many cases, the same ones in every run, however long they take."""
    return settings(max_examples=max(10, round(SHARE * number)), deadline=None, derandomize=True)


def shortened(items: Sequence[pytest.Item]) -> None:
    """Of a test with many cases the short run takes a few, from the first to the last."""
    tests: defaultdict[tuple[Path, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        alike = item.path.relative_to(ROOM).parts[0] in MUCH_ALIKE
        if LEFT_OUT and alike and not item.get_closest_marker("long"):
            tests[item.path, item.name.partition("[")[0]].append(item)
    for cases in tests.values():
        taken = {round(place * (len(cases) - 1) / (CASES - 1)) for place in range(CASES)}
        for place, case in enumerate(cases):
            if len(cases) > CASES and place not in taken:
                case.add_marker(pytest.mark.long)
