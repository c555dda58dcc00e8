"""The organizers' dashboard, and phase changes with a confirmation."""

from datetime import datetime, timedelta
from urllib.parse import parse_qs, parse_qsl, urlsplit
from zoneinfo import ZoneInfo

import pytest
from httpx2 import Response

from anoncup.competition.parser import parse_competition
from anoncup.messages import Message
from app.web.site.notation import format_clock_time
from tests.support.arena import Arena
from tests.support.contest import (
    Contest,
    load_competition,
    load_round,
    run_clock,
    set_berlin_windows,
)
from tests.support.organizer_pages import (
    ORGANIZE_PATH,
    build_extension_path,
    extract_hidden_fields,
    fail_evaluation,
    get_page_text,
)
from tests.support.page_requests import assert_refused, get_page, post_form, send_form
from tests.support.translations import translate, translate_message

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


def test_settling_contest_shows_what_it_waits_for(contest: Contest) -> None:
    contest.submit("red", score=False)
    contest.move_phases(anonymization=(-3, -2))
    run_clock()
    assert translate("duty_settling", n=1) in get_page_text(contest.arena)
    assert translate("Waiting for: {n}.", n=1) in get_page_text(contest.arena, "/phases")


def read_end(path: str) -> str:
    """Return the end from a confirmation's address. Computed again a minute later, it would differ."""
    return parse_qs(urlsplit(path).query)["end"][0]


def test_confirmation_shows_both_ends_and_changes_nothing(contest: Contest) -> None:
    file_before, path = load_competition().file, build_extension_path(4)
    html = get_page_text(contest.arena, path)
    first, _ = parse_competition(file_before).phases
    assert format_clock_time(first.end, "Asia/Tokyo") in html
    assert read_end(path).replace("T", " ") in html
    assert translate("Later phases move by the same time.") in html
    assert 'type="password"' not in html
    assert load_competition().file == file_before


def test_end_is_moved_after_the_confirmation(contest: Contest) -> None:
    pause = compute_pause(load_competition().file)
    fields = extract_hidden_fields(get_page_text(contest.arena, build_extension_path(4)))
    response = send_form(contest.arena, EXTENSION_PATH, fields, organizer=True)
    assert response.headers["location"] == ORGANIZE_PATH + "/phases?done=extended"
    html = get_page_text(contest.arena, "/phases")
    first, _ = parse_competition(load_competition().file).phases
    assert format_clock_time(first.end, "Asia/Tokyo") in html
    assert datetime.fromisoformat(fields["end"]) == first.end
    assert compute_pause(load_competition().file) == pause  # the next phase has moved as well
    assert translate("done_extended") in get_page_text(contest.arena, "/phases?done=extended")


def compute_pause(file: str) -> timedelta:
    first, second = parse_competition(file).phases
    return second.start - first.end


def get_confirmation(contest: Contest, path: str) -> Response:
    return get_page(contest.arena, ORGANIZE_PATH + path, organizer=True)


def send_change(contest: Contest, path: str, language: str = "en") -> Response:
    """Send the form of a confirmation, with the fields of the page's query."""
    path, _, query = path.partition("?")
    fields = dict(parse_qsl(query))
    return post_form(contest.arena, ORGANIZE_PATH + path, fields, organizer=True, language=language)


def test_invalid_phase_change_is_refused_with_a_message(contest: Contest) -> None:
    for path, problem, status in (
        (build_extension_path(-1), Message("the new end must lie ahead, after the phase's start"), 422),
        (
            build_extension_path(2.5, follow=False),
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
        assert_refused(send_change(contest, path, "ja"), status, translate_message(problem, "ja"))
    past_path = build_extension_path(-1)
    assert f'value="{read_end(past_path)}"' in send_change(contest, past_path).text
    set_berlin_windows()
    skipped = "This time does not exist: the clocks in Europe/Berlin are put forward past it"
    for request in (get_confirmation, send_change):
        assert_refused(request(contest, "/phases/anonymization/extend?end=2031-03-30T02:30"), 422, skipped)


def test_end_form_keeps_seconds_and_links_to_the_starts(contest: Contest) -> None:
    first = parse_competition(load_competition().file).phases[0]
    local = first.end.astimezone(ZoneInfo("Asia/Tokyo"))
    html = get_page_text(contest.arena, "/phases")
    assert f'value="{local:%Y-%m-%dT%H:%M:%S}"' in html
    assert f'A phase’s start is changed in the set-up: <a href="{ORGANIZE_PATH}/file">' in html


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


def test_completed_phase_offers_no_changes(contest: Contest) -> None:
    contest.publish_targets("red")
    html = get_page_text(contest.arena, "/phases")
    assert translate("This phase is completed and can no longer be changed.") in html
    assert 'id="end-anonymization"' not in html
    assert 'id="end-reidentification"' in html
    refusal = get_page_text(contest.arena, build_extension_path(4), status=409)
    assert "The anonymization phase has ended and can no longer be changed." in refusal
