"""Requests that need step-up authentication."""

from typing import Any
from urllib.parse import quote

from httpx2 import Response
from sqlalchemy import select

from anoncup.schemas.fields import Role
from app.accounts.models import PasswordLink
from app.core.db.models import (
    Adjustment,
    Announcement,
    Competition,
    Member,
    Organizer,
    Rescore,
    Submission,
    Team,
    Token,
    User,
)
from app.core.db.transaction import transaction
from app.core.identity import users
from app.core.identity.session_cookie import COOKIE
from app.submissions.models import Grant
from app.teams.models import Invite
from tests.support.arena import API, PASSWORD
from tests.support.contest import Contest, load_competition
from tests.support.database_rows import load_all, load_team_id
from tests.support.page_requests import SAME_ORIGIN
from tests.support.uploads import score_everything

ApiRequest = tuple[str, str, dict[str, Any]]
PasswordForm = tuple[str, str, dict[str, str]]
"""The page of the form, its action and its values."""
PROBLEM_MESSAGES = {403: "problem_password_needed", 422: "the password is wrong"}


def request_disqualification(contest: Contest) -> ApiRequest:
    team = load_team_id("red")
    return "POST", f"{contest.path}/teams/{team}/disqualify", {}


def request_organizer(contest: Contest) -> ApiRequest:
    with transaction() as session:
        name = users.create_user(session, name="Olga", password=PASSWORD, role=Role.ORGANIZER).name
    return "POST", f"{contest.path}/organizers", {"json": {"name": name}}


def request_organizer_removal(contest: Contest) -> ApiRequest:
    _, path, content = request_organizer(contest)
    response = contest.arena.post(path, **content)
    return "DELETE", f"{contest.path}/organizers/{response.json()['user_id']}", {}


def request_rule_change(contest: Contest) -> ApiRequest:
    file = load_competition().file.replace("threshold = 0.2", "threshold = 0.1")
    response = contest.arena.post(f"{contest.path}/rescores", content=file)
    score_everything()
    return "POST", f"/rescores/{response.json()['id']}/apply", {}


def read_state() -> list[Any]:
    """Return everything that the requests change."""
    columns = (
        Competition.file,
        Submission.disqualified_at,
        Team.disqualified_at,
        Adjustment.id,
        Announcement.id,
        Organizer.user_id,
        Rescore.applied_at,
        User.id,
        User.role,
        Member.team_id,
        PasswordLink.id,
        Token.id,
        Grant.id,
        Invite.id,
    )
    return [load_all(select(column).order_by(column)) for column in columns]


def send_request(contest: Contest, request: ApiRequest, headers: dict[str, str]) -> Response:
    method, path, content = request
    all_headers = {"Authorization": f"Bearer {contest.arena.organizer_token}"} | headers
    response: Response = contest.arena.client.request(method, API + path, headers=all_headers, **content)
    return response


def check_password_required(contest: Contest, request: ApiRequest) -> None:
    arena = contest.arena
    session_headers = {"Cookie": f"{COOKIE}={arena.get_session(arena.organizer_token)}", **SAME_ORIGIN}
    state_before = read_state()
    for headers in ({}, {"X-Confirm-Password": ""}):
        response = send_request(contest, request, headers)
        assert (response.status_code, response.json()["code"]) == (403, "password_needed")
        assert "X-Confirm-Password" in response.json()["detail"]
    method, path, content = request
    session_response = arena.client.request(method, API + path, headers=session_headers, **content)
    arena.client.cookies.clear()
    assert (session_response.status_code, session_response.json()["code"]) == (403, "password_needed")
    wrong_response = send_request(contest, request, {"X-Confirm-Password": "correct%20pony"})
    assert (wrong_response.status_code, wrong_response.json()["code"]) == (422, "wrong_password")
    assert read_state() == state_before
    assert send_request(contest, request, {"X-Confirm-Password": quote(PASSWORD)}).is_success
    assert read_state() != state_before


def request_reinstatement(contest: Contest, disqualification: ApiRequest) -> ApiRequest:
    """Disqualify, and return the request that reinstates."""
    assert send_request(contest, disqualification, {"X-Confirm-Password": quote(PASSWORD)}).is_success
    method, path, content = disqualification
    return method, path.replace("disqualify", "reinstate"), content
