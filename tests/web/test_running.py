"""The organizers' first page, and phases that are moved after a look at what will happen."""

from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest
from fastapi.testclient import TestClient

from anoncup.competition.parser import parse_competition
from anoncup.messages import Message
from app.db.models import AuditEntry
from app.db.transaction import transaction
from app.locale.language import LANGUAGES
from app.web.site.notation import clock_time
from tests.support.arena import Arena, competition_file
from tests.support.contest import Contest, competition_row, turn
from tests.support.organizer_pages import DESK, contest, extension, failed, fields_of, read
from tests.web.reader import send
from tests.web.spoken import said, sentence

__all__ = ["contest"]

pytestmark = pytest.mark.full


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_dashboard_of_a_quiet_contest_says_so(arena: Arena, language: str) -> None:
    shown = read(arena, language=language)
    assert said("duty_no_teams", language) in shown
    assert said("duty_unswept", language) in shown
    assert said("duty_errors", language, n=1) not in shown


def test_the_dashboard_names_what_failed_and_where_to_mend_it(arena: Arena) -> None:
    failed(arena.submit("red").json()["id"])
    shown = read(arena)
    assert said("duty_errors", n=1) in shown
    assert f'href="{DESK}/submissions?state=ERROR"' in shown
    assert said("duty_no_teams") not in shown


def test_a_contest_that_settles_says_what_it_waits_for(contest: Contest) -> None:
    contest.submit("red", scored=False)
    contest.move(anonymization=(-3, -2))
    turn()
    assert said("duty_settling", n=1) in read(contest.arena)
    assert said("Waiting for: {n}.", n=1) in read(contest.arena, "/phases")


def end_in(path: str) -> str:
    """The end that is asked for: a minute later it would be another."""
    return parse_qs(urlsplit(path).query)["end"][0]


def test_a_preview_shows_every_window_and_changes_nothing(contest: Contest) -> None:
    before, asked = competition_row().file, extension(4)
    shown = read(contest.arena, asked)
    assert shown.count("<time ") >= 8  # two phases, start and end, before and after
    assert said("Teams ({n}) have that much longer to send.", n=0) in shown
    assert end_in(asked).replace("T", " ") in shown
    assert competition_row().file == before
    with transaction() as session:
        assert session.query(AuditEntry).filter_by(action="phase.extend").count() == 0


def test_what_is_confirmed_is_what_was_previewed(contest: Contest) -> None:
    pause = pause_between(competition_row().file)
    fields = fields_of(read(contest.arena, extension(4)))
    answer = send(contest.arena, DESK + "/phases/anonymization/extend", fields, organizer=True)
    assert answer.headers["location"] == DESK + "/phases?done=extended"
    shown = read(contest.arena, "/phases")
    first, _ = parse_competition(competition_row().file).phases
    assert clock_time(first.end, "Asia/Tokyo") in shown
    assert datetime.fromisoformat(fields["end"]) == first.end
    assert pause_between(competition_row().file) == pause  # what follows has moved as well
    assert said("done_extended") in read(contest.arena, "/phases?done=extended")


def pause_between(file: str) -> timedelta:
    first, second = parse_competition(file).phases
    return second.start - first.end


def test_an_earlier_end_warns_the_organizers(contest: Contest) -> None:
    contest.arena.team("red")
    assert said(
        "Teams ({n}) have less time than they were told. Teams that planned for the old end will miss it.",
        n=1,
    ) in read(contest.arena, extension(0.5))


def test_an_end_that_cannot_be_is_refused_in_words_with_what_was_typed(contest: Contest) -> None:
    for path, why, status in (
        (extension(-1), Message("the new end must lie ahead, after the phase's start"), 422),
        (
            extension(2.5, follow=False),
            Message("the phase would overlap with the next one: move that as well"),
            409,
        ),
        ("/phases/anonymization/extend?end=soon", Message("enter a date and a time"), 422),
        (
            "/phases/reidentification/pause",
            Message("the {phase} phase is not open", phase=Message("reidentification")),
            409,
        ),
        ("/phases/anonymization/resume", Message("the phase is not paused"), 409),
        ("/phases/anonymization/explode", Message("a phase is extended, paused or resumed"), 404),
        ("/phases/elsewhere/pause", Message("phases are anonymization and reidentification"), 404),
    ):
        shown = read(contest.arena, path, language="ja", status=status)
        assert sentence(why, "ja") in shown, path
    passed = extension(-1)
    assert f'value="{end_in(passed)}"' in read(contest.arena, passed, status=422)


def test_a_confirmation_of_windows_that_have_moved_since_is_refused(contest: Contest) -> None:
    fields = fields_of(read(contest.arena, extension(4)))
    contest.move(reidentification=(200, 300))
    before = competition_row().file
    answer = send(contest.arena, DESK + "/phases/anonymization/extend", fields, organizer=True)
    assert (answer.status_code, competition_row().file) == (409, before)
    assert "The phases have changed since the preview; look again." in unescape(answer.text)
    typed = datetime.fromisoformat(fields["end"]).astimezone(ZoneInfo("Asia/Tokyo"))
    assert f'step="1" required value="{typed:%Y-%m-%dT%H:%M:%S}"' in answer.text


def test_the_form_of_an_end_holds_its_seconds_and_leads_to_the_starts(contest: Contest) -> None:
    first = parse_competition(competition_row().file).phases[0]
    local = first.end.astimezone(ZoneInfo("Asia/Tokyo"))
    shown = read(contest.arena, "/phases")
    assert f'value="{local:%Y-%m-%dT%H:%M:%S}"' in shown
    assert f'{said("A phase’s start is changed in the set-up:")} <a href="{DESK}/basics">' in shown


def test_a_phase_is_paused_and_resumed_by_clicking(contest: Contest) -> None:
    shown = read(contest.arena, "/phases/anonymization/pause")
    assert (
        said(
            "Uploads are refused from this moment on, with the reason; an upload in progress may be refused, too."
        )
        in shown
    )
    path = DESK + "/phases/anonymization/"
    assert send(contest.arena, path + "pause", fields_of(shown), organizer=True).status_code == 303
    assert competition_row().paused_at is not None
    assert said("duty_paused") in read(contest.arena)
    shown = read(contest.arena, "/phases/anonymization/resume")
    assert said("Uploads are accepted again at once.") in shown
    assert competition_row().paused_at is not None
    assert send(contest.arena, path + "resume", fields_of(shown), organizer=True).status_code == 303
    assert competition_row().paused_at is None


def test_a_freeze_of_the_board_that_does_not_move_is_said(client: TestClient) -> None:
    frozen = (datetime.now(UTC) + timedelta(hours=3)).isoformat()
    more = f"[publication]\nfrozen_from = {frozen}"
    arena = Arena.opened(client, file=competition_file(more=more))
    assert said("The board still freezes at the time set for it, which does not move:") in read(
        arena, extension(4)
    )


def test_a_phase_that_has_turned_shows_what_happened_and_offers_nothing(contest: Contest) -> None:
    contest.submit("red")
    contest.attack()
    shown = read(contest.arena, "/phases")
    assert said("This phase is completed and can no longer be changed.") in shown
    assert 'id="end-anonymization"' not in shown
    assert 'id="end-reidentification"' in shown
    assert "The anonymization phase has ended and can no longer be changed." in read(
        contest.arena, extension(4), status=409
    )
