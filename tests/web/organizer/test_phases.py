"""The organizers' dashboard, and phase changes with a preview."""

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
from tests.support.page_requests import post_form, send_form
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
    """Return the end from a preview's address. Computed again a minute later, it would differ."""
    return parse_qs(urlsplit(path).query)["end"][0]


def test_preview_shows_all_windows_and_changes_nothing(contest: Contest) -> None:
    file_before, preview_path = load_competition().file, build_extension_path(4)
    html = get_page_text(contest.arena, preview_path)
    assert html.count("<time ") >= 8  # two phases, start and end, before and after
    assert "Teams (0) have that much longer to send." in html
    assert read_end(preview_path).replace("T", " ") in html
    assert load_competition().file == file_before
    with transaction() as session:
        assert session.query(AuditEntry).filter_by(action="phase.extend").count() == 0


def test_confirmed_change_equals_its_preview(contest: Contest) -> None:
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


def test_preview_warns_of_an_earlier_end_and_of_the_freeze_that_does_not_move(client: TestClient) -> None:
    frozen_from = (datetime.now(UTC) + timedelta(hours=3)).isoformat()
    arena = Arena.create(client, extra_toml=f"[publication]\nfrozen_from = {frozen_from}")
    arena.get_team_token("red")
    freeze_note = "The board still freezes at the time set for it, which does not move:"
    assert freeze_note in get_page_text(arena, build_extension_path(4))
    note = "Teams (1) have less time than they were told."
    assert note in get_page_text(arena, build_extension_path(0.5))


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
        html = get_page_text(contest.arena, path, language="ja", status=status)
        assert translate_message(problem, "ja") in html, path
    set_berlin_windows()
    skipped = get_page_text(contest.arena, "/phases/anonymization/extend?end=2031-03-30T02:30", status=422)
    assert "This time does not exist: the clocks in Europe/Berlin are put forward past it" in skipped
    past_path = build_extension_path(-1)
    assert f'value="{read_end(past_path)}"' in get_page_text(contest.arena, past_path, status=422)


def test_outdated_confirmation_is_refused(contest: Contest) -> None:
    fields = extract_hidden_fields(get_page_text(contest.arena, build_extension_path(4)))
    contest.move_phases(reidentification=(200, 300))
    file_before = load_competition().file
    response = post_form(contest.arena, EXTENSION_PATH, fields, organizer=True)
    assert (response.status_code, load_competition().file) == (409, file_before)
    assert "The phases have changed since the preview; look again." in unescape(response.text)
    local_end = datetime.fromisoformat(fields["end"]).astimezone(ZoneInfo("Asia/Tokyo"))
    assert f'step="1" required value="{local_end:%Y-%m-%dT%H:%M:%S}"' in response.text


def test_end_form_keeps_seconds_and_links_to_the_starts(contest: Contest) -> None:
    first = parse_competition(load_competition().file).phases[0]
    local = first.end.astimezone(ZoneInfo("Asia/Tokyo"))
    html = get_page_text(contest.arena, "/phases")
    assert f'value="{local:%Y-%m-%dT%H:%M:%S}"' in html
    assert f'A phase’s start is changed in the set-up: <a href="{ORGANIZE_PATH}/basics">' in html


def test_phase_is_paused_and_resumed_on_the_page(contest: Contest) -> None:
    html = get_page_text(contest.arena, "/phases/anonymization/pause")
    assert "Uploads are refused from this moment on, with the reason" in html
    path = ORGANIZE_PATH + "/phases/anonymization/"
    send_form(contest.arena, path + "pause", extract_hidden_fields(html), organizer=True)
    assert load_round().paused_at is not None
    assert translate("duty_paused") in get_page_text(contest.arena)
    html = get_page_text(contest.arena, "/phases/anonymization/resume")
    assert translate("Uploads are accepted again at once.") in html
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
