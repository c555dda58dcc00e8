"""TC400, where its folder is given."""

import os
from pathlib import Path

import pytest

reference = pytest.mark.skipif("ANONCUP_REFERENCE_DATA" not in os.environ, reason="needs the reference data")


def folder() -> Path:
    return Path(os.environ["ANONCUP_REFERENCE_DATA"])
