"""The organizers' dashboard, and phase changes with a confirmation."""

from datetime import datetime, timedelta

import pytest

from anoncup.competition.parser import parse_competition
from app.core.pages.notation import format_clock_time
from tests.support.arena import Arena
from tests.support.contest import Contest, load_competition, load_round
from tests.support.organizer_pages import (
    ORGANIZE_PATH,
    build_extension_path,
    extract_hidden_fields,
    fail_evaluation,
    get_page_text,
)
from tests.support.page_requests import send_form
from tests.support.translations import translate

pytestmark = pytest.mark.full

EXTENSION_PATH = f"{ORGANIZE_PATH}/phases/anonymization/extend"


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


def test_end_is_moved_after_a_confirmation_with_both_ends(contest: Contest) -> None:
    file_before, path = load_competition().file, build_extension_path(4)
    html = get_page_text(contest.arena, path)
    first, _ = parse_competition(file_before).phases
    assert format_clock_time(first.end, "Asia/Tokyo") in html
    assert translate("Later phases move by the same time.") in html
    assert 'type="password"' not in html
    assert load_competition().file == file_before
    fields = extract_hidden_fields(html)
    response = send_form(contest.arena, EXTENSION_PATH, fields, organizer=True)
    assert response.headers["location"] == ORGANIZE_PATH + "/phases?done=extended"
    html = get_page_text(contest.arena, "/phases?done=extended")
    first, _ = parse_competition(load_competition().file).phases
    assert format_clock_time(first.end, "Asia/Tokyo") in html
    assert datetime.fromisoformat(fields["end"]) == first.end
    assert compute_pause(load_competition().file) == compute_pause(
        file_before
    )  # the next phase moves as well
    assert translate("done_extended") in html


def compute_pause(file: str) -> timedelta:
    first, second = parse_competition(file).phases
    return second.start - first.end


def test_phase_is_paused_and_resumed_on_the_page(contest: Contest) -> None:
    html = get_page_text(contest.arena, "/phases/anonymization/pause")
    assert translate("run_pause_note") in html
    path = ORGANIZE_PATH + "/phases/anonymization/"
    send_form(contest.arena, path + "pause", extract_hidden_fields(html), organizer=True)
    assert load_round().paused_at is not None
    assert translate("duty_paused") in get_page_text(contest.arena)
    html = get_page_text(contest.arena, "/phases/anonymization/resume")
    assert translate("run_resume_note") in html
    assert load_round().paused_at is not None
    send_form(contest.arena, path + "resume", extract_hidden_fields(html), organizer=True)
    assert load_round().paused_at is None
