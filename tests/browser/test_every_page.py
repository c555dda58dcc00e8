"""Every page for every audience is accessible, fits the screen and violates no content security policy."""

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser

from tests.browser.page_inspector import DESKTOP, PHONE, inspect_pages
from tests.security.access_scenario import AccessScenario
from tests.security.access_table import AUDIENCES, TABLE

pytestmark = pytest.mark.full

NON_PAGE_ROUTES = (
    "GET /api",
    "GET /healthz",
    "GET /readyz",
    "GET /metrics",
    "GET /static",
    "GET /downloads",
    "GET /competitions/{slug}/submissions/state",  # only the ETag of that page
    "GET /submissions/{submission_id}/row",  # a fragment of the page of submissions
    "GET /competitions/{slug}/calendar.ics",  # a download
    "GET /competitions/{slug}/organize/competition.toml",  # a download
)
DISPLAYS = {
    "a desk in English": ("en", DESKTOP, False),
    "a phone in English, dark": ("en", PHONE, True),
    "a phone in Japanese": ("ja", PHONE, False),
    "a desk in Japanese, dark": ("ja", DESKTOP, True),
}


def list_page_routes(audience: str) -> list[str]:
    """Return the routes of pages that answer 200 to the audience."""
    column = AUDIENCES.index(audience)
    routes = [route for route, row in TABLE.items() if row[column] == 200 and route.startswith("GET ")]
    return [route for route in routes if not route.startswith(NON_PAGE_ROUTES)]


@pytest.mark.parametrize(
    ("audience", "display"),
    [
        ("visitor", "a phone in Japanese"),
        ("other team", "a phone in English, dark"),
        ("own team", "a phone in Japanese"),
        ("own team", "a desk in Japanese, dark"),
        ("organizer", "a desk in English"),
        ("organizer", "a phone in English, dark"),
        ("other organizer", "a desk in Japanese, dark"),
        ("administrator", "a phone in English, dark"),
    ],
)
def test_pages_are_accessible_fit_the_screen_and_keep_the_policy(
    client: TestClient, browser: Browser, site: str, audience: str, display: str
) -> None:
    language, size, is_dark = DISPLAYS[display]
    stage = AccessScenario.open(client)
    assert stage.request("POST /api/v1/competitions/{slug}/rescores", "organizer").status_code == 202
    with inspect_pages(
        browser, site, session=stage.begin_session(audience), language=language, size=size, is_dark=is_dark
    ) as inspector:
        faults = {}
        for route in list_page_routes(audience):
            path = route.removeprefix("GET ").format(**stage.build_path_params(route))
            status = inspector.go(path)
            faults[path] = ([f"status {status}"] if status != 200 else []) + inspector.collect_faults()
    assert {path: page_faults for path, page_faults in faults.items() if page_faults} == {}


def test_reference_is_accessible_and_fits_the_screen(browser: Browser, site: str) -> None:
    language, size, is_dark = DISPLAYS["a phone in English, dark"]
    with inspect_pages(browser, site, language=language, size=size, is_dark=is_dark) as inspector:
        inspector.check_page("/api/v1/reference")
