"""A real browser, and the real web server that it looks at."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from app.config import Settings
from tests.support.chromium import CHROMIUM, QUIET
from tests.web.browser.looking import WITHIN_MS


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    # Not a Python package: a machine to which it cannot be added still runs all other tests.
    if CHROMIUM is None:
        pytest.skip("these tests need a chromium, chromium-browser or google-chrome on the PATH")
    expect.set_options(timeout=WITHIN_MS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield started
        started.close()


@pytest.fixture
def site(server: str, settings: Settings) -> str:
    """The server over an empty database."""
    return server
