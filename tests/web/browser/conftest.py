"""Fixtures for a real browser and a real web server."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from app.config import Settings
from tests.support.browser import CHROMIUM, CHROMIUM_OPTIONS
from tests.web.browser.page_inspector import TIMEOUT_MS


@pytest.fixture(scope="module")  # Playwright keeps an event loop running, in which asyncio.run fails
def browser() -> Iterator[Browser]:
    # The browser is no Python package; a machine without one still runs all other tests.
    if CHROMIUM is None:
        pytest.skip("these tests need Chromium on the PATH")
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_OPTIONS)
        yield started
        started.close()


@pytest.fixture
def site(server: str, settings: Settings) -> str:
    """The address of the server with an empty database."""
    return server
