"""What cannot be undone or opens a way in needs the password once more: no token or session is enough."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from limits import RateLimitItemPerMinute
from sqlalchemy import select

from anoncup.competition.parser import parse_competition
from anoncup.rules.rounds import with_phases
from anoncup.schemas.roles import Role
from app.db.models import Submission, User
from app.db.transaction import transaction
from app.http import throttle
from app.http.authentication import COOKIE
from app.http.throttle import PER_ACCOUNT
from app.services.accounts import accounts
from tests.support.arena import API, PASSWORD, noisy_release
from tests.support.contest import Contest, competition_row
from tests.support.step_up import (
    Act,
    ask,
    back,
    contest,
    needs_the_password,
    organizer_in,
    organizer_out,
    other_rules,
    team_out,
)
from tests.web.reader import SAME_ORIGIN

__all__ = ["contest"]

pytestmark = pytest.mark.full


def at(days: float) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()


def nearer(contest: Contest) -> Act:
    return "POST", f"{contest.path}/phases/anonymization/extend", {"json": {"end": at(0.5)}}


def nearer_along(contest: Contest) -> Act:
    body = {"end": at(0.5), "move_following": True}
    return "POST", f"{contest.path}/phases/anonymization/extend", {"json": body}


def nearer_by_file(contest: Contest) -> Act:
    first, second = parse_competition(competition_row().file).phases
    moved = type(second)(second.name, second.start, second.end - timedelta(hours=1))
    file = with_phases(competition_row().file, (first, moved))
    return "PUT", f"{contest.path}/competition.toml", {"content": file}


def nearer_after_a_new_start(contest: Contest) -> Act:
    """A start that has passed is put ahead, as if the contest had not begun."""
    first, second = parse_competition(competition_row().file).phases
    ahead = datetime.now(UTC) + timedelta(hours=1)
    later = with_phases(competition_row().file, (type(first)(first.name, ahead, first.end), second))
    done = contest.arena.put(f"{contest.path}/competition.toml", content=later)
    assert done.status_code == 200, done.text
    moved = type(first)(first.name, ahead, first.end - timedelta(hours=1))
    return (
        "PUT",
        f"{contest.path}/competition.toml",
        {"content": with_phases(competition_row().file, (moved, second))},
    )


def gone_by_file(contest: Contest) -> Act:
    first, _ = parse_competition(competition_row().file).phases
    return (
        "PUT",
        f"{contest.path}/competition.toml",
        {"content": with_phases(competition_row().file, [first])},
    )


def submission_out(_: Contest) -> Act:
    with transaction() as session:
        return "POST", f"/submissions/{session.scalars(select(Submission.id)).one()}/disqualify", {}


def unsaid(contest: Contest) -> Act:
    said = contest.arena.post(f"{contest.path}/announcements", json={"text": {"en": "Hello"}})
    return "DELETE", f"/announcements/{said.json()['id']}", {}


def baseline_out(contest: Contest) -> Act:
    table, secret = noisy_release(99, contest.arena.table)
    made = contest.arena.post(
        f"{contest.path}/baselines",
        files={"anonymized": ("a.csv", table), "secret": ("s.csv", secret)},
        data={"name": "sample"},
    )
    return "DELETE", f"{contest.path}/baselines/{made.json()['team_id']}", {}


def link_made(contest: Contest) -> Act:
    name = contest.arena.get("/me", token=contest.arena.team("red")).json()["name"]
    return "POST", "/users/password-links", {"json": {"name": name}}


def as_administrator(contest: Contest) -> str:
    """The organizer's name, who may do everything from now on."""
    with transaction() as session:
        user = session.get_one(User, accounts.authenticate(session, contest.arena.organizer).user_id)
        user.role = Role.ADMINISTRATOR
        return user.name


def own_link_made(contest: Contest) -> Act:
    return "POST", "/users/password-links", {"json": {"name": as_administrator(contest)}}


def account_made(contest: Contest) -> Act:
    as_administrator(contest)
    body = {"name": "Thief", "password": "battery staple", "role": "administrator"}
    return "POST", "/users", {"json": body}


ACTS = (
    nearer,
    nearer_along,
    nearer_by_file,
    nearer_after_a_new_start,
    gone_by_file,
    submission_out,
    team_out,
    unsaid,
    baseline_out,
    organizer_in,
    organizer_out,
    other_rules,
    link_made,
    own_link_made,
    account_made,
)


@pytest.mark.parametrize("made", ACTS, ids=lambda one: one.__name__)
def test_a_token_or_a_session_alone_does_nothing_and_with_the_password_it_is_done(
    contest: Contest, made: Callable[[Contest], Act]
) -> None:
    needs_the_password(contest, made(contest))


def test_an_end_that_moves_later_and_what_is_not_yet_begun_need_no_password(
    contest: Contest, client: TestClient
) -> None:
    later = "POST", f"{contest.path}/phases/anonymization/extend", {"json": {"end": at(1.5)}}
    assert ask(contest, later, {}).status_code == 200
    fresh = Contest.opened(client, slug="fresh")
    fresh.move(anonymization=(48, 72), reidentification=(96, 120))
    sooner = "POST", f"{fresh.path}/phases/anonymization/extend", {"json": {"end": at(2.5)}}
    assert ask(fresh, sooner, {}).status_code == 200


@pytest.mark.parametrize("out", [submission_out, team_out], ids=lambda one: one.__name__)
def test_what_is_put_back_needs_no_password_until_there_are_targets_and_none_after_the_reveal(
    contest: Contest, out: Callable[[Contest], Act]
) -> None:
    assert ask(contest, back(contest, out(contest)), {}).is_success
    contest.attack()
    contest.close()
    assert ask(contest, back(contest, out(contest)), {}).is_success


@pytest.mark.parametrize("out", [submission_out, team_out], ids=lambda one: one.__name__)
def test_until_the_reveal_a_token_alone_brings_no_row_and_its_target_back_together(
    contest: Contest, out: Callable[[Contest], Act]
) -> None:
    act = back(contest, out(contest))
    contest.attack()
    needs_the_password(contest, act)


def test_a_password_of_any_characters_is_sent_percent_encoded(contest: Contest) -> None:
    odd = "ながい 100% パスワード "
    answer = contest.arena.put("/me/password", json={"old": PASSWORD, "new": odd})
    assert answer.status_code == 204
    assert ask(contest, team_out(contest), {"X-Confirm-Password": quote(odd)}).is_success


def by_header(contest: Contest, password: str) -> Response:
    return ask(contest, team_out(contest), {"X-Confirm-Password": quote(password)})


def by_old_password(contest: Contest, password: str) -> Response:
    return contest.arena.put("/me/password", json={"old": password, "new": "battery staple"})


def by_old_password_on_the_page(contest: Contest, password: str) -> Response:
    fields = {"old": password, "new": "battery staple"}
    headers = SAME_ORIGIN | {"Authorization": f"Bearer {contest.arena.organizer}"}
    answer: Response = contest.arena.client.post("/account/password", data=fields, headers=headers)
    return answer


@pytest.mark.parametrize("give", [by_header, by_old_password, by_old_password_on_the_page])
def test_whoever_guesses_with_a_stolen_token_has_to_wait_and_its_owner_has_not(
    contest: Contest, give: Callable[[Contest, str], Response]
) -> None:
    stolen, act = contest.arena.organizer, team_out(contest)
    for _ in range(PER_ACCOUNT.amount):
        assert give(contest, "guess").status_code == 422
    full = give(contest, PASSWORD)
    assert full.status_code == 429
    assert "retry-after" in full.headers
    with transaction() as session:
        owner = accounts.authenticate(session, stolen)
        other = accounts.begin_session(session, session.get_one(User, owner.user_id))
    signing_in = contest.arena.client.post(f"{API}/tokens", json={"name": owner.name, "password": PASSWORD})
    assert signing_in.status_code == 201
    method, path, content = act
    cookie = {"Cookie": f"{COOKIE}={other}", "X-Confirm-Password": quote(PASSWORD), **SAME_ORIGIN}
    assert contest.arena.client.request(method, API + path, headers=cookie, **content).is_success


def test_wrong_confirmations_count_for_their_address(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "PER_ADDRESS", RateLimitItemPerMinute(3, 15, "throttle"))
    assert [by_header(contest, "guess").status_code for _ in range(4)] == [422] * 3 + [429]
    assert (
        contest.arena.client.post(f"{API}/password", json={"code": "x", "password": PASSWORD}).status_code
        == 429
    )


@pytest.mark.parametrize(
    "made", [team_out, organizer_in, link_made, account_made], ids=lambda one: one.__name__
)
def test_somebody_else_is_told_that_it_is_not_theirs_and_not_of_a_password(
    contest: Contest, made: Callable[[Contest], Act]
) -> None:
    method, path, content = made(contest)
    answer = contest.arena.client.request(
        method, API + path, **content, headers={"Authorization": f"Bearer {contest.arena.team('red')}"}
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
