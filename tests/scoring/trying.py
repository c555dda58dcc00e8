"""How many drawn cases a law is tried on: a third of what it says by `make test`, all by `make test-long`."""

import os

from hypothesis import settings

SHARE = float(os.environ.get("ANONCUP_TRIES", "0.34"))


def tries(number: int) -> settings:
    """So many cases, the same ones in every run, however long they take."""
    return settings(max_examples=max(10, round(SHARE * number)), deadline=None, derandomize=True)
