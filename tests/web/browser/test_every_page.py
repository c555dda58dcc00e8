"""Every page, for every audience: accessible, within the screen, refused nothing by its policy."""

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser

from tests.security.stage import Stage
from tests.security.table import AUDIENCES, TABLE
from tests.web.browser.looking import DESK, PHONE, looking

pytestmark = pytest.mark.full

NO_PAGES = (
    "GET /api",
    "GET /healthz",
    "GET /readyz",
    "GET /metrics",
    "GET /static",
    "GET /competitions/{slug}/submissions/state",  # the tag of that page
    "GET /submissions/{submission_id}/row",  # a part of the page of submissions
    "GET /competitions/{slug}/picture.png",  # what a link shows
    "GET /competitions/{slug}/calendar.ics",  # downloads
    "GET /competitions/{slug}/announcements.atom",
    "GET /competitions/{slug}/organize/competition.toml",  # a download
)
LOOKS = {
    "a desk in English": ("en", DESK, False),
    "a phone in Japanese": ("ja", PHONE, False),
}
MORE_LOOKS = {
    "a phone in English, dark": ("en", PHONE, True),
    "a desk in Japanese, dark": ("ja", DESK, True),
}


def pages_of(audience: str) -> list[str]:
    """The routes of pages that answer 200 to it."""
    place = AUDIENCES.index(audience)
    shown = [route for route, row in TABLE.items() if row[place] == 200 and route.startswith("GET ")]
    return [route for route in shown if not route.startswith(NO_PAGES)]


def look_at_everything(
    client: TestClient,
    browser: Browser,
    site: str,
    audience: str,
    look: tuple[str, dict[str, int], bool],
    *also: str,
) -> None:
    stage = Stage.opened(client)
    assert stage.ask("POST /api/v1/competitions/{slug}/rescores", "organizer").status_code == 202
    language, size, dark = look
    session = stage.session(audience)
    with looking(browser, site, session=session, language=language, size=size, dark=dark) as looker:
        faults = {}
        for route in (*pages_of(audience), *also):
            path = route.removeprefix("GET ").format(**stage.places(route))
            status = looker.go(path)
            faults[path] = ([f"status {status}"] if status != 200 else []) + looker.faults()
    assert {path: found for path, found in faults.items() if found} == {}


@pytest.mark.parametrize(
    ("audience", "look"),
    [
        pytest.param("own team", "a desk in English", marks=pytest.mark.full),
        ("organizer", "a phone in Japanese"),
        pytest.param("visitor", "a phone in Japanese", marks=pytest.mark.full),
        pytest.param("visitor", "a desk in English", marks=pytest.mark.full),
        pytest.param("own team", "a phone in Japanese", marks=pytest.mark.full),
        pytest.param("organizer", "a desk in English", marks=pytest.mark.full),
    ],
)
def test_a_page_is_accessible_fits_and_is_refused_nothing(
    client: TestClient, browser: Browser, site: str, audience: str, look: str
) -> None:
    look_at_everything(client, browser, site, audience, LOOKS[look])


@pytest.mark.full
@pytest.mark.parametrize("audience", AUDIENCES)
@pytest.mark.parametrize("look", MORE_LOOKS.values(), ids=MORE_LOOKS.keys())
def test_so_it_is_in_the_dark_and_for_everybody(
    client: TestClient, browser: Browser, site: str, audience: str, look: tuple[str, dict[str, int], bool]
) -> None:
    # The long reference is the same for everybody, and takes a while.
    also = ("GET /api/v1/reference",) if audience == "visitor" else ()
    look_at_everything(client, browser, site, audience, look, *also)
