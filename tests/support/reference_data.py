"""The folder of reference data, and the mark of tests that need it."""

import os
from pathlib import Path

import pytest

needs_reference_data = pytest.mark.skipif(
    "ANONCUP_REFERENCE_DATA" not in os.environ, reason="needs the reference data"
)


def get_reference_folder() -> Path:
    return Path(os.environ["ANONCUP_REFERENCE_DATA"])
