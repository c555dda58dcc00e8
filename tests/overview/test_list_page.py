"""The front page lists competitions with their state, the reader's own and the leaders."""

import re
from datetime import UTC, datetime

import pytest

from app.core.db.models import Competition, Round
from app.core.db.transaction import transaction
from tests.support.arena import Arena, build_competition_toml
from tests.support.page_requests import get_page
from tests.support.translations import translate

pytestmark = pytest.mark.full


def list_headings(html: str) -> list[str]:
    """Return the headings of groups and the titles below them, in order."""
    matches = re.findall(r"<h2[^>]*>(.*?)</h2>|<h3><a [^>]*>(.*?)</a>", html)
    return [group or title for group, title in matches]


def add_competition(
    slug: str, title: str, *, opens: float, closes: float, more: str = "", is_over: bool = False
) -> None:
    """Add a competition that has no organizer and no team."""
    handed_over_columns = dict.fromkeys(("frozen_at", "published_at"), datetime.now(UTC)) if is_over else {}
    file = build_competition_toml(slug, opens=opens, closes=closes, extra_toml=more).replace(
        "Small cup", title
    )
    with transaction() as session:
        competition = Competition(slug=slug, file=file, published_at=datetime.now(UTC))
        session.add(Round(competition=competition, scales={}, original={}, **handed_over_columns))


def test_running_competitions_precede_upcoming_and_past_ones(arena: Arena) -> None:
    add_competition("later", "Later", opens=3, closes=4)
    add_competition("soon", "Soon", opens=1, closes=4)
    add_competition("ending", "Ending", opens=-3, closes=0.5)
    add_competition("old", "Old", opens=-9, closes=-8, is_over=True)
    add_competition("recent", "Recent", opens=-9, closes=-2, is_over=True)
    html = get_page(arena, "/").text
    running = ["Open now", "Ending", "Small cup", "Coming up", "Soon", "Later"]
    assert list_headings(html) == [*running, "Past competitions", "Recent", "Old"]
    assert "Anonymization starts" in html  # the next event of an upcoming competition
    assert html.count('Ended <time datetime="') == 2
    small_entry = html.partition('<a href="/competitions/small">Small cup</a>')[2].partition("</li>")[0]
    assert "Anonymization phase" in small_entry


def test_own_competitions_come_first(arena: Arena) -> None:
    add_competition("ending", "Ending", opens=-3, closes=0.5)
    html = get_page(arena, "/", team="red").text
    assert list_headings(html) == ["Your competitions", "Small cup", "Open now", "Ending"]
    assert "Your team: red" in html
    organizers_html = get_page(arena, "/", organizer=True).text
    assert list_headings(organizers_html)[0] == "Your competitions"
    for text in (translate("You organize it"), 'href="/organize/new"'):
        assert text in organizers_html
        assert text not in html + get_page(arena, "/").text
