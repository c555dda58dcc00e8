"""Whose a target could be, on the organizers' desk and on the target's own page."""

from html import unescape

import pytest
from fastapi.testclient import TestClient

from app.language import LANGUAGES
from app.web.site.languages import words_in
from tests.services.test_owners import counted, opened
from tests.web.reader import page
from tests.web.spoken import said


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_target_shows_of_how_many_teams_it_could_be(client: TestClient, language: str) -> None:
    contest = opened(client)
    contest.attack()
    for target in contest.targets("red"):
        path = f"/targets/{target['id']}"
        shown = unescape(page(contest.arena, path, team="red", language=language).text)
        assert f"<dt>{said('Possible owners', language)}</dt><dd>{target['owners']}</dd>" in shown
        assert (
            said(
                "This is how many teams on the board could own this target, judging by all that anyone can compute when the targets appear. They are not equally likely.",
                language,
            )
            in shown
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_organizers_desk_shows_the_numbers_and_what_hides_more(client: TestClient, language: str) -> None:
    contest = opened(client, at_least=9)
    path = f"{contest.path}/organize"
    shown = unescape(page(contest.arena, path, organizer=True, language=language).text)
    t = words_in(language)
    assert (
        t(
            "Teams whose a target can be, for all that the boards show and anyone can compute of it. Targets: {targets}, of {teams} teams.",
            targets=4,
            teams=4,
        )
        in shown
    )
    assert t("The finals are not taken yet: these would be the targets now.") in shown
    assert t.label("duty_owners_few").format(n=4) in shown
    number = counted()
    assert f"<dt>{t('Fewest possible owners')}</dt><dd>{number.least}</dd>" in shown
    offered = [
        t("With {digits} decimals of U and E it would be {least}.", digits=digits, least=least)
        for digits, least in number.coarser.items()
    ]
    assert all(line in shown for line in offered or [t("Fewer decimals of U and E would not make it more.")])
    contest.between()
    again = unescape(page(contest.arena, path, organizer=True, language=language).text)
    assert t("The finals are not taken yet: these would be the targets now.") not in again
