"""Pages of a competition with several rounds."""

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient

from tests.support.contest import Contest
from tests.support.page_requests import get_page
from tests.support.two_rounds import create_two_rounds

pytestmark = pytest.mark.full


@pytest.fixture
def rounds(client: TestClient) -> dict[str, Contest]:
    return create_two_rounds(client)


def list_round_links(html: str) -> list[tuple[str, str, str, bool]]:
    """Return path, title and state of each round in the list of rounds, and whether it is the one shown."""
    (navigation,) = re.findall(r'<nav class="rounds".*?</nav>', html, re.DOTALL)
    entries = re.findall(
        r'<a href="([^"]*)"([^>]*)>([^<]*)</a> <span class="quiet">([^<]*)</span>', navigation
    )
    return [(path, unescape(title), state, "aria-current" in more) for path, more, title, state in entries]


def test_pages_list_the_rounds_with_their_states(rounds: dict[str, Contest]) -> None:
    arena = rounds["final"].arena
    entries = [
        ("/competitions/small.preliminary", "Preliminary", "Anonymization phase", False),
        ("/competitions/small.final", "Final", "Not begun", True),
    ]
    assert list_round_links(get_page(arena, "/competitions/small.final").text) == entries
    current = list_round_links(get_page(arena, "/competitions/small").text)
    assert [is_shown for *_, is_shown in current] == [True, False]
    japanese = list_round_links(get_page(arena, "/competitions/small.final", language="ja").text)
    assert [title for _, title, *_ in japanese] == ["予選", "本戦"]


def test_menu_and_links_of_a_page_stay_within_its_round(rounds: dict[str, Contest]) -> None:
    rounds["preliminary"].submit("red")
    for page in ("", "/rules", "/boards/anonymization", "/organize", "/organize/phases", "/organize/teams"):
        html = get_page(rounds["final"].arena, f"/competitions/small.final{page}", organizer=True).text
        rest = re.sub(
            r'<nav class="rounds".*?</nav>|<section class="schedule".*?</ol>', "", html, flags=re.DOTALL
        )
        paths = set(re.findall(r'(?:href|action)="(?:/api/v1)?/competitions/([\w.-]+)', rest))
        assert paths == {"small.final"}, page
    front_html = get_page(rounds["final"].arena, "/").text
    assert set(re.findall(r'href="/competitions/([\w.-]+)', front_html)) == {"small.preliminary"}
