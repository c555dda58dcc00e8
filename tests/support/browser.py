"""Chromium for tests, and the files that they serve and upload."""

import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, FilePayload, Page, Route, sync_playwright

from app.core.http.middleware import SECURITY_HEADERS
from app.core.pages.pages import static_files

CHROMIUM = next(
    filter(
        None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))
    ),
    None,
)
"""The first takes a third of the processor time of the others."""
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
]


@pytest.fixture(scope="module")  # Playwright keeps an event loop running, in which asyncio.run fails
def browser() -> Iterator[Browser]:
    # The browser is no Python package; a machine without one still runs all other tests.
    if CHROMIUM is None:
        pytest.skip("this test needs Chromium on the PATH")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_OPTIONS)
        yield started
        started.close()


def build_csv_payload(content: bytes) -> FilePayload:
    return {"name": "file.csv", "mimeType": "text/csv", "buffer": content}


SITE = "https://charts.test"
STYLESHEET_LINKS = "".join(
    f'<link rel="stylesheet" href="/static/{name}.css">'
    for name in ("tokens", "site", "parts", "charts", "matrix")
)
CONTENT_TYPES = {"css": "text/css", "svg": "image/svg+xml", "js": "text/javascript", "woff2": "font/woff2"}


def serve_page(page: Page, build_document: Callable[[], str]) -> None:
    """Answer requests of a page: a document at ``/``, the files of the site, and the headers of the site."""

    def fulfill(route: Route) -> None:
        path = route.request.url.removeprefix(SITE)
        if path == "/":
            content_type = "text/html; charset=utf-8"
            route.fulfill(body=build_document(), content_type=content_type, headers=SECURITY_HEADERS)
        else:
            file, _ = static_files.lookup_path(path.removeprefix("/static/"))
            route.fulfill(path=file, content_type=CONTENT_TYPES[path.rpartition(".")[2]])

    page.route("**/*", fulfill)
