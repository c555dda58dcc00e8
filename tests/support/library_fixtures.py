"""Fixtures and profiles of tests that need the library only, which `make test-versions` loads as a plugin."""

import os
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

hypothesis_settings.register_profile("quick", max_examples=10, deadline=None, derandomize=True)
hypothesis_settings.register_profile("full", hypothesis_settings.get_profile("quick"), max_examples=200)
hypothesis_settings.load_profile("quick")


@pytest.fixture
def reference_data() -> Path:
    """The folder of reference data; tests are skipped without it."""
    folder = os.environ.get("ANONCUP_REFERENCE_DATA")
    if not folder:
        pytest.skip("ANONCUP_REFERENCE_DATA is not set")
    return Path(folder)
