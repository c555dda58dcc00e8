"""What `make test` leaves out, and `make test-long` and CI (ANONCUP_TRIES=1) do not: cases of laws, looks."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import settings

Test = TypeVar("Test", bound=Callable[..., Any])
SHARE = float(os.environ.get("ANONCUP_TRIES", "0.2"))
LEFT_OUT = () if SHARE >= 1 else (pytest.mark.long,)
"""The marks of a case much like another one."""


def left_out(test: Test) -> Test:
    """A test of a law that a shorter one holds to, too."""
    return pytest.mark.long(test) if LEFT_OUT else test


def tries(number: int) -> settings:
    """So many cases, the same ones in every run, however long they take."""
    return settings(max_examples=max(10, round(SHARE * number)), deadline=None, derandomize=True)
