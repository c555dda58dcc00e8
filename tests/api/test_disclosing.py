"""What is shown cannot be unsaid, nor what is guessed: to show or to let guess more needs the password."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from anoncup.competition.parser import parse_competition
from anoncup.competition.writer import with_publication
from anoncup.rules.rounds import with_phases
from app.db.models import Competition, Team
from app.db.transaction import transaction
from tests.support.confirmation_forms import refusals
from tests.support.contest import Contest, competition_row
from tests.support.setup_pages import PUBLICATION
from tests.support.step_up import Act, Form, ask, needs_the_password, state
from tests.web.reader import page, send

pytestmark = pytest.mark.full

MODEST = {"board": "public", "shuffle_targets": "", "digits": "2", "owners": "hidden"}
MODEST |= {"reveal_notice_hours": "24", "feedback": "hidden", "frozen_from": "", "guesses_per_target": "3"}


@pytest.fixture
def contest(client: TestClient) -> Contest:
    made = Contest.opened(client, more='[publication]\nowners = "hidden"')
    made.submit("red")
    return made


def filed(contest: Contest, **settings: object) -> Act:
    """The file with other settings, those of ``[publication]`` or of ``[limits]``."""
    file = competition_row().file
    found = parse_competition(file)
    parts: list[Any] = [found.publication, found.ranking, found.limits]
    changed = [
        replace(part, **{name: value for name, value in settings.items() if hasattr(part, name)})
        for part in parts
    ]
    return "PUT", f"{contest.path}/competition.toml", {"content": with_publication(file, *changed)}


def owners_shown(contest: Contest) -> Act:
    return filed(contest, owners="shown")


def feedback_at_once(contest: Contest) -> Act:
    return filed(contest, feedback="immediate")


def more_digits(contest: Contest) -> Act:
    return filed(contest, digits=4)


def more_guesses_by_file(contest: Contest) -> Act:
    return filed(contest, guesses_per_target=4)


def more_finals(contest: Contest) -> Act:
    """Of a team that marks none each further valid submission would become a table that all teams get."""
    return filed(contest, finals=100)


def fewer_finals(contest: Contest) -> Act:
    """What the freeze has not taken is never a target."""
    return filed(contest, finals=1)


def longer_notice(contest: Contest) -> Act:
    """It never becomes shorter again: an end that somebody put off would come back a year later."""
    return filed(contest, reveal_notice_hours=8760)


def other_order(contest: Contest) -> Act:
    return filed(contest, rule="rank_sum")


def targets_sooner(contest: Contest) -> Act:
    """The second phase begins nearer, and ends where it did."""
    file = competition_row().file
    first, then = parse_competition(file).phases
    moved = with_phases(file, (first, replace(then, start=then.start - timedelta(hours=1))))
    return "PUT", f"{contest.path}/competition.toml", {"content": moved}


def midnight_sooner(contest: Contest) -> Act:
    """Scores of guesses that are shown at midnight, by a zone where that comes sooner."""
    _, _, daily = filed(contest, feedback="daily")
    assert contest.arena.put(f"{contest.path}/competition.toml", content=daily["content"]).is_success
    moved = competition_row().file.replace('timezone = "Asia/Tokyo"', 'timezone = "Pacific/Kiritimati"')
    return "PUT", f"{contest.path}/competition.toml", {"content": moved}


def put_right(contest: Contest) -> Act:
    """What replaces a file that cannot be read, which nobody can compare with it."""
    with transaction() as session:
        row = session.scalars(select(Competition)).one()
        kept, row.file = row.file, row.file + "\n[[["
    return "PUT", f"{contest.path}/competition.toml", {"content": kept}


def granted(contest: Contest, cap: str) -> Act:
    with transaction() as session:
        team = session.scalars(select(Team.id)).one()
    return "POST", f"{contest.path}/grants", {"json": {"team_id": str(team), "cap": cap, "amount": 1000}}


def more_guesses(contest: Contest) -> Act:
    return granted(contest, "guesses_per_target")


def invited(contest: Contest) -> Act:
    return "POST", f"{contest.path}/invites", {"json": {}}


def invited_late(contest: Contest) -> Act:
    """While the first phase settles, before the clock has turned it."""
    contest.move(anonymization=(-3, -2))
    return invited(contest)


def invited_to_guess(contest: Contest) -> Act:
    contest.attack()
    return invited(contest)


ACTS = (
    owners_shown,
    feedback_at_once,
    more_digits,
    more_guesses_by_file,
    more_finals,
    fewer_finals,
    longer_notice,
    other_order,
    targets_sooner,
    midnight_sooner,
    put_right,
    more_guesses,
    invited_late,
    invited_to_guess,
)


@pytest.mark.parametrize("made", ACTS, ids=lambda one: one.__name__)
def test_a_token_or_a_session_alone_neither_shows_more_nor_lets_guess_more(
    contest: Contest, made: Callable[[Contest], Act]
) -> None:
    needs_the_password(contest, made(contest))


def test_what_shows_less_other_caps_and_teams_that_still_submit_need_no_password(contest: Contest) -> None:
    for act in (
        filed(contest, digits=1, board="organizers", guesses_per_target=2),
        granted(contest, "valid_total"),
        invited(contest),
    ):
        assert ask(contest, act, {}).is_success


def test_before_anybody_has_submitted_nothing_is_disclosed(client: TestClient) -> None:
    contest = Contest.opened(client)
    act = filed(contest, owners="shown", feedback="immediate", digits=4, guesses_per_target=100)
    assert ask(contest, act, {}).is_success


def publication_form(contest: Contest) -> Form:
    path = f"{contest.path}/organize/publication"
    return path, path, PUBLICATION | MODEST | {"owners": "shown"}


def grant_form(contest: Contest) -> Form:
    with transaction() as session:
        shown = f"{contest.path}/organize/teams/{session.scalars(select(Team.id)).one()}"
    return shown, f"{shown}/grants", {"cap": "guesses_per_target", "amount": "7"}


def invite_form(contest: Contest) -> Form:
    contest.between()
    shown = f"{contest.path}/organize/teams"
    return shown, f"{shown}/invites", {"uses": "2"}


@pytest.mark.parametrize("made", [publication_form, grant_form, invite_form], ids=lambda one: one.__name__)
def test_so_do_their_forms(contest: Contest, made: Callable[[Contest], Form]) -> None:
    for said, text in refusals(contest, made(contest), field='name="password" type="password"'):
        assert made is publication_form or said in unescape(text)


def test_the_forms_of_publication_and_of_invites_ask_only_when_it_may_be_needed(client: TestClient) -> None:
    contest = Contest.opened(client)
    for step in ("publication", "teams"):
        shown = page(contest.arena, f"{contest.path}/organize/{step}", organizer=True).text
        form = shown.split('<form method="post" action="')
        assert not any(
            one.startswith((f"{contest.path}/organize/publication", f"{contest.path}/organize/teams/invites"))
            and 'name="password"' in one.split("</form>")[0]
            for one in form
        )


def test_the_whole_file_is_saved_with_the_password_where_it_shows_more(contest: Contest) -> None:
    path = f"{contest.path}/organize/file"
    _, _, content = owners_shown(contest)
    compared = send(
        contest.arena, path, {"text": content["content"], "do": "compare", "password": ""}, organizer=True
    ).text
    assert 'name="password"' in compared
    of = compared.split('name="of" value="')[1].split('"')[0]
    fields = {"text": content["content"], "of": of, "do": "save"}
    before = state()
    refused = send(contest.arena, path, fields | {"password": ""}, organizer=True)
    assert (refused.status_code, state()) == (403, before)
    assert 'name="password"' in refused.text
    assert send(contest.arena, path, fields, organizer=True).status_code == 303
    assert state() != before
