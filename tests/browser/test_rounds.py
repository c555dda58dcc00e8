"""The pages of a competition with several rounds are accessible and fit the screen."""

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser

from tests.browser.page_inspector import DESKTOP, PHONE, inspect_pages
from tests.support.two_rounds import build_round, create_two_rounds

pytestmark = pytest.mark.full

ROUNDS = build_round("try", begins=-0.5, practice=True) + build_round("preliminary", begins=7, weight=0.3)
OWN_RULES = "[rounds.excessive]\nthreshold = 0.3\n"
PATHS = (
    "/",
    "/competitions/small.try",
    "/competitions/small.final/rules",
    "/competitions/small.try/boards/anonymization",
    "/competitions/small.try/organize/phases",
    "/competitions/small.final/organize/data",
    "/competitions/small.final/organize/threshold",
    "/competitions/small.try/organize/rescores",
    "/competitions/small.final/organize/file",
)


@pytest.mark.parametrize(("language", "size"), [("en", DESKTOP), ("ja", PHONE)])
def test_pages_of_rounds_have_no_faults(
    client: TestClient, browser: Browser, site: str, language: str, size: dict[str, int]
) -> None:
    final = build_round("final", begins=14, weight=0.7, data="previous") + OWN_RULES
    contest = create_two_rounds(client, preliminary=ROUNDS, final=final)["try"]
    contest.submit("red")
    session = contest.arena.get_session(contest.arena.organizer_token)
    with inspect_pages(browser, site, session=session, language=language, size=size) as inspector:
        for path in PATHS:
            assert inspector.go(path) == 200, path
            assert inspector.collect_faults() == [], path
