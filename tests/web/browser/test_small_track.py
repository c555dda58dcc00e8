"""Pages of a track without distances and counts in a real browser, at a desk and on a phone."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser

from tests.e2e.stack import web
from tests.support import small_track
from tests.support.arena import Arena
from tests.support.small_track_pages import submitted
from tests.support.track_package import installed
from tests.web.browser.looking import DESK, PHONE, looking

pytestmark = pytest.mark.full

ORGANIZERS = ("", "/measures", "/publication", "/rescores")


@pytest.mark.full
@pytest.mark.parametrize(("language", "size"), [("en", DESK), ("ja", PHONE)])
def test_nothing_sticks_out_or_is_refused(
    client: TestClient, browser: Browser, tmp_path: Path, language: str, size: dict[str, int]
) -> None:
    (packages := tmp_path / "packages").mkdir()
    original = {"numbers": small_track.original_file()}
    with installed(small_track.SMALL, "tests.support.small_track", packages), web(tmp_path / "web") as url:
        small = Arena.opened(client, file=small_track.text(), original=original)
        sent = submitted(small, "red")
        cup = "/competitions/small"
        for session, places in (
            (
                small.session(small.team("red")),
                (f"/submissions/{sent}", f"{cup}/rules", f"{cup}/submissions"),
            ),
            (small.session(small.organizer), [f"{cup}/organize{place}" for place in ORGANIZERS]),
        ):
            for place in places:
                with looking(browser, url, session=session, language=language, size=size) as person:
                    assert person.go(place) == 200
                    assert person.faults() == [], place
