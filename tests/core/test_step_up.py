"""Step-up authentication: irreversible acts and new accounts or links need the password again."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select

from anoncup.competition.parser import parse_competition
from anoncup.rules.timetable import replace_phases
from anoncup.schemas.fields import Role
from app.core.db.models import Submission, User
from app.core.db.transaction import transaction
from app.core.http.throttle import ACCOUNT_LIMIT
from app.core.identity import tokens
from app.core.identity.session_cookie import COOKIE
from tests.support.arena import API, PASSWORD, build_noisy_release, load_principal
from tests.support.contest import Contest, load_competition
from tests.support.database_rows import load_one, load_team_id
from tests.support.page_requests import SAME_ORIGIN
from tests.support.step_up import (
    ApiRequest,
    check_password_required,
    request_disqualification,
    request_organizer,
    request_organizer_removal,
    request_reinstatement,
    request_rule_change,
    send_request,
)

pytestmark = [pytest.mark.full, pytest.mark.contest(teams=("red",))]


def days_from_now(days: float) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()


def shorten_phase(contest: Contest) -> ApiRequest:
    return "POST", f"{contest.path}/phases/anonymization/extend", {"json": {"end": days_from_now(0.5)}}


def shorten_phase_by_file(contest: Contest) -> ApiRequest:
    first, second = parse_competition(load_competition().file).phases
    moved_phase = type(second)(second.name, second.start, second.end - timedelta(hours=1))
    file = replace_phases(load_competition().file, (first, moved_phase))
    return "PUT", f"{contest.path}/competition.toml", {"content": file}


def shorten_phase_after_a_new_start(contest: Contest) -> ApiRequest:
    """Move the past start into the future first, so that the contest seems not to have begun."""
    first, second = parse_competition(load_competition().file).phases
    new_start = datetime.now(UTC) + timedelta(hours=1)
    later_file = replace_phases(
        load_competition().file, (type(first)(first.name, new_start, first.end), second)
    )
    response = contest.arena.put(f"{contest.path}/competition.toml", content=later_file)
    assert response.status_code == 200, response.text
    moved_phase = type(first)(first.name, new_start, first.end - timedelta(hours=1))
    return (
        "PUT",
        f"{contest.path}/competition.toml",
        {"content": replace_phases(load_competition().file, (moved_phase, second))},
    )


def remove_phase_by_file(contest: Contest) -> ApiRequest:
    first, _ = parse_competition(load_competition().file).phases
    return (
        "PUT",
        f"{contest.path}/competition.toml",
        {"content": replace_phases(load_competition().file, [first])},
    )


def disqualify_submission(_: Contest) -> ApiRequest:
    return "POST", f"/submissions/{load_one(select(Submission.id))}/disqualify", {}


def adjust_team(_: Contest) -> ApiRequest:
    body = {"team_id": str(load_team_id("red")), "points": -1.0, "reason": "late"}
    return "POST", "/competitions/small/adjustments", {"json": body}


def withdraw_announcement(contest: Contest) -> ApiRequest:
    response = contest.arena.post(f"{contest.path}/announcements", json={"text": {"en": "Hello"}})
    return "DELETE", f"/announcements/{response.json()['id']}", {}


def remove_baseline(contest: Contest) -> ApiRequest:
    table, secret = build_noisy_release(99, contest.arena.table)
    response = contest.arena.post(
        f"{contest.path}/baselines",
        files={"anonymized": ("a.csv", table), "secret": ("s.csv", secret)},
        data={"name": "sample"},
    )
    return "DELETE", f"{contest.path}/baselines/{response.json()['team_id']}", {}


def create_password_link(contest: Contest) -> ApiRequest:
    name = contest.arena.get("/me", team="red").json()["name"]
    return "POST", "/users/password-links", {"json": {"name": name}}


def create_account(contest: Contest) -> ApiRequest:
    """Make the organizer an administrator, and return the request."""
    with transaction() as session:
        user = session.get_one(User, load_principal(session, contest.arena.organizer_token).user_id)
        user.role = Role.ADMINISTRATOR
    body = {"name": "Thief", "role": "administrator"}
    return "POST", "/users", {"json": body}


PROTECTED_ACTIONS = (
    shorten_phase,
    shorten_phase_by_file,
    shorten_phase_after_a_new_start,
    remove_phase_by_file,
    disqualify_submission,
    request_disqualification,
    adjust_team,
    withdraw_announcement,
    remove_baseline,
    request_organizer,
    request_organizer_removal,
    request_rule_change,
    create_password_link,
    create_account,
)


@pytest.mark.parametrize("prepare_act", PROTECTED_ACTIONS, ids=lambda case: case.__name__)
def test_protected_action_needs_the_password(
    contest: Contest, prepare_act: Callable[[Contest], ApiRequest]
) -> None:
    check_password_required(contest, prepare_act(contest))


def test_later_end_or_future_phase_needs_no_password(contest: Contest, client: TestClient) -> None:
    later_act = "POST", f"{contest.path}/phases/anonymization/extend", {"json": {"end": days_from_now(1.5)}}
    assert send_request(contest, later_act, {}).status_code == 200
    fresh_contest = Contest.create(client, slug="fresh")
    fresh_contest.move_phases(anonymization=(48, 72), reidentification=(96, 120))
    sooner_act = (
        "POST",
        f"{fresh_contest.path}/phases/anonymization/extend",
        {"json": {"end": days_from_now(2.5)}},
    )
    assert send_request(fresh_contest, sooner_act, {}).status_code == 200


@pytest.mark.parametrize(
    "prepare_act", [disqualify_submission, request_disqualification], ids=lambda case: case.__name__
)
def test_reinstating_without_an_active_target_needs_no_password(
    contest: Contest, prepare_act: Callable[[Contest], ApiRequest]
) -> None:
    assert send_request(contest, request_reinstatement(contest, prepare_act(contest)), {}).is_success
    contest.open_attacks()
    contest.close_attacks()
    assert send_request(contest, request_reinstatement(contest, prepare_act(contest)), {}).is_success


@pytest.mark.parametrize(
    "prepare_act", [disqualify_submission, request_disqualification], ids=lambda case: case.__name__
)
def test_reinstating_with_a_target_needs_the_password(
    contest: Contest, prepare_act: Callable[[Contest], ApiRequest]
) -> None:
    act = request_reinstatement(contest, prepare_act(contest))
    contest.open_attacks()
    check_password_required(contest, act)


def confirm_by_header(contest: Contest, password: str) -> Response:
    return send_request(contest, request_disqualification(contest), {"X-Confirm-Password": quote(password)})


def change_password(contest: Contest, password: str) -> Response:
    return contest.arena.put("/me/password", json={"old": password, "new": "battery staple"})


@pytest.mark.parametrize("send_password", [confirm_by_header, change_password])
def test_password_guesses_with_a_stolen_token_are_throttled(
    contest: Contest, send_password: Callable[[Contest, str], Response]
) -> None:
    token, act = contest.arena.organizer_token, request_disqualification(contest)
    for _ in range(ACCOUNT_LIMIT.amount):
        assert send_password(contest, "guess").status_code == 422
    throttled = send_password(contest, PASSWORD)
    assert throttled.status_code == 429
    assert "retry-after" in throttled.headers
    with transaction() as session:
        owner = load_principal(session, token)
        other_session = tokens.begin_session(session, session.get_one(User, owner.user_id))
    sign_in_response = contest.arena.client.post(
        f"{API}/tokens", json={"name": owner.name, "password": PASSWORD}
    )
    assert sign_in_response.status_code == 201
    method, path, content = act
    cookie = {"Cookie": f"{COOKIE}={other_session}", "X-Confirm-Password": quote(PASSWORD), **SAME_ORIGIN}
    assert contest.arena.client.request(method, API + path, headers=cookie, **content).is_success


@pytest.mark.parametrize(
    "prepare_act",
    [request_disqualification, request_organizer, create_password_link, create_account],
    ids=lambda case: case.__name__,
)
def test_permission_is_checked_before_the_password(
    contest: Contest, prepare_act: Callable[[Contest], ApiRequest]
) -> None:
    method, path, content = prepare_act(contest)
    response = contest.arena.client.request(
        method,
        API + path,
        **content,
        headers={"Authorization": f"Bearer {contest.arena.get_team_token('red')}"},
    )
    assert (response.status_code, response.json()["code"]) == (403, "scope_missing")
