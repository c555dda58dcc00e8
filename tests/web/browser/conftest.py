"""A real browser, and the real web server that it looks at."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from app.config import Settings
from tests.e2e.stack import web

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    # Not a Python package: a machine to which it cannot be added still runs all other tests.
    if CHROMIUM is None:
        pytest.skip("these tests need a chromium, chromium-browser or google-chrome on the PATH")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield started
        started.close()


@pytest.fixture
def site(settings: Settings, tmp_path: Path) -> Iterator[str]:
    """The address of a web server over the test's own database."""
    with web(tmp_path) as url:
        yield url
