"""Pages of a track without distances and counts in a real browser, on a desktop and a phone."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser

from tests.support import small_track
from tests.support.arena import Arena
from tests.support.service_processes import run_web_server
from tests.support.small_track_pages import submit_and_score
from tests.support.track_package import install_track
from tests.web.browser.page_inspector import DESKTOP, PHONE, inspect_pages

pytestmark = pytest.mark.full

ORGANIZER_PAGES = ("", "/measures", "/publication", "/rescores")


@pytest.mark.full
@pytest.mark.parametrize(("language", "size"), [("en", DESKTOP), ("ja", PHONE)])
def test_pages_fit_the_screen_and_keep_the_policy(
    client: TestClient, browser: Browser, tmp_path: Path, language: str, size: dict[str, int]
) -> None:
    (packages := tmp_path / "packages").mkdir()
    original = {"numbers": small_track.build_original_file()}
    with (
        install_track(small_track.SMALL_TRACK, "tests.support.small_track", packages),
        run_web_server(tmp_path / "web") as url,
    ):
        small_arena = Arena.create(client, file=small_track.build_competition_toml(), original=original)
        submission_id = submit_and_score(small_arena, "red")
        competition_path = "/competitions/small"
        for session, paths in (
            (
                small_arena.get_session(small_arena.get_team_token("red")),
                (
                    f"/submissions/{submission_id}",
                    f"{competition_path}/rules",
                    f"{competition_path}/submissions",
                ),
            ),
            (
                small_arena.get_session(small_arena.organizer_token),
                [f"{competition_path}/organize{path}" for path in ORGANIZER_PAGES],
            ),
        ):
            for path in paths:
                with inspect_pages(browser, url, session=session, language=language, size=size) as inspector:
                    assert inspector.go(path) == 200
                    assert inspector.collect_faults() == [], path
