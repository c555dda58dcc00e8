"""Fixtures for a real browser and a real web server."""

import pytest
from playwright.sync_api import expect

from app.config import Settings
from tests.browser.page_inspector import TIMEOUT_MS
from tests.support.browser import browser

__all__ = ["browser"]
expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture
def site(server: str, settings: Settings) -> str:
    """The address of the server with an empty database."""
    return server
