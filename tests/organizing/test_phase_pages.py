"""The organizers' dashboard, and phase changes."""

from zoneinfo import ZoneInfo

import pytest

from anoncup.competition.parser import parse_competition
from app.core.pages.notation import format_clock_time
from tests.support.arena import Arena
from tests.support.contest import Contest, load_competition, load_round
from tests.support.organizer_pages import ORGANIZE_PATH, fail_evaluation, format_future_time, get_page_text
from tests.support.page_requests import send_form
from tests.support.translations import translate

pytestmark = pytest.mark.full


def test_dashboard_lists_what_needs_attention(arena: Arena) -> None:
    html, failed = get_page_text(arena), f'href="{ORGANIZE_PATH}/submissions?state=ERROR"'
    for text in ("duty_no_teams", "duty_unswept"):
        assert translate(text) in html
    assert translate("duty_errors", n=1) not in html
    fail_evaluation(arena.submit("red").json()["id"])
    html = get_page_text(arena)
    assert translate("duty_errors", n=1) in html
    assert failed in html
    assert translate("duty_no_teams") not in html


def test_end_is_moved_on_the_page(contest: Contest) -> None:
    assert format_future_time(2)[:10] in get_page_text(contest.arena, "/phases")
    fields = {"end": format_future_time(4), "move_following": "true"}
    path = f"{ORGANIZE_PATH}/phases/anonymization/extend"
    response = send_form(contest.arena, path, fields, organizer=True)
    assert response.headers["location"] == ORGANIZE_PATH + "/phases?done=extended"
    first, second = parse_competition(load_competition().file).phases
    end = first.end.astimezone(ZoneInfo("Asia/Tokyo"))
    assert f"{end:%Y-%m-%dT%H:%M}" == fields["end"]
    assert second.start > first.end  # the next phase moves as well
    html = get_page_text(contest.arena, "/phases?done=extended")
    assert format_clock_time(first.end, "Asia/Tokyo") in html
    assert translate("done_extended") in html


def test_phase_is_paused_and_resumed_on_the_page(contest: Contest) -> None:
    path = ORGANIZE_PATH + "/phases/anonymization/"
    assert translate("run_pause_note") in get_page_text(contest.arena, "/phases")
    send_form(contest.arena, path + "pause", organizer=True)
    assert load_round().paused_at is not None
    assert translate("duty_paused") in get_page_text(contest.arena)
    assert translate("run_resume_note") in get_page_text(contest.arena, "/phases")
    send_form(contest.arena, path + "resume", organizer=True)
    assert load_round().paused_at is None
