"""Requests that need the password again."""

from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select

from anoncup.schemas.roles import Role
from app.db.models import (
    Announcement,
    Competition,
    Grant,
    Invite,
    Organizer,
    PasswordLink,
    Rescore,
    Submission,
    Team,
    Token,
    User,
)
from app.db.transaction import transaction
from app.http.authentication import COOKIE
from app.services.accounts import accounts
from tests.support.arena import API, PASSWORD
from tests.support.contest import Contest, competition_row
from tests.support.uploads import score_everything
from tests.web.reader import SAME_ORIGIN

Act = tuple[str, str, dict[str, Any]]
Form = tuple[str, str, dict[str, str]]
"""Where it stands, where it is sent, and what is filled in."""
SAID = {403: "problem_password_needed", 422: "the password is wrong"}


@pytest.fixture
def contest(client: TestClient) -> Contest:
    made = Contest.opened(client)
    made.submit("red")
    return made


def team_out(contest: Contest) -> Act:
    with transaction() as session:
        team = session.scalars(select(Team.id)).one()
    return "POST", f"{contest.path}/teams/{team}/disqualify", {}


def organizer_in(contest: Contest) -> Act:
    with transaction() as session:
        name = accounts.create_user(session, name="Olga", password=PASSWORD, role=Role.ORGANIZER).name
    return "POST", f"{contest.path}/organizers", {"json": {"name": name}}


def organizer_out(contest: Contest) -> Act:
    _, path, content = organizer_in(contest)
    added = contest.arena.post(path, **content)
    return "DELETE", f"{contest.path}/organizers/{added.json()['user_id']}", {}


def other_rules(contest: Contest) -> Act:
    file = competition_row().file.replace("threshold = 0.2", "threshold = 0.1")
    made = contest.arena.post(f"{contest.path}/rescores", content=file)
    score_everything()
    return "POST", f"/rescores/{made.json()['id']}/apply", {}


def state() -> list[Any]:
    """All that the acts change."""
    columns = (
        Competition.file,
        Submission.disqualified_at,
        Team.disqualified_at,
        Announcement.id,
        Organizer.user_id,
        Rescore.applied_at,
        User.id,
        PasswordLink.id,
        Token.id,
        Grant.id,
        Invite.id,
    )
    with transaction() as session:
        return [session.scalars(select(column).order_by(column)).all() for column in columns]


def ask(contest: Contest, act: Act, headers: dict[str, str]) -> Response:
    method, path, content = act
    sent = {"Authorization": f"Bearer {contest.arena.organizer}"} | headers
    answer: Response = contest.arena.client.request(method, API + path, headers=sent, **content)
    return answer


def needs_the_password(contest: Contest, act: Act) -> None:
    arena = contest.arena
    cookie = {"Cookie": f"{COOKIE}={arena.session(arena.organizer)}", **SAME_ORIGIN}
    before = state()
    for headers in ({}, {"X-Confirm-Password": ""}):
        answer = ask(contest, act, headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "password_needed")
        assert "X-Confirm-Password" in answer.json()["detail"]
    method, path, content = act
    by_session = arena.client.request(method, API + path, headers=cookie, **content)
    arena.client.cookies.clear()
    assert (by_session.status_code, by_session.json()["code"]) == (403, "password_needed")
    wrong = ask(contest, act, {"X-Confirm-Password": "correct%20pony"})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "wrong_password")
    assert state() == before
    assert ask(contest, act, {"X-Confirm-Password": quote(PASSWORD)}).is_success
    assert state() != before


def back(contest: Contest, out: Act) -> Act:
    """The opposite of a disqualification, which is done."""
    assert ask(contest, out, {"X-Confirm-Password": quote(PASSWORD)}).is_success
    method, path, content = out
    return method, path.replace("disqualify", "reinstate"), content
