"""What cannot be undone or opens a way in needs the password once more: no token or session is enough."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from limits import RateLimitItemPerMinute
from sqlalchemy import select

from app import throttle
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
from app.http.dependencies import COOKIE
from app.roles import Role
from app.scoring.competition_file import parse_competition
from app.scoring.timetable import with_phases
from app.services import accounts
from app.throttle import PER_ACCOUNT
from app.transaction import transaction
from app.web import words
from tests.api.test_submissions import score_everything
from tests.arena import API, PASSWORD, noisy_release
from tests.contest import Contest, competition_row
from tests.web.reader import SAME_ORIGIN, page, send

Act = tuple[str, str, dict[str, Any]]
Form = tuple[str, str, dict[str, str]]
"""Where it stands, where it is sent, and what is filled in."""
SAID = {403: "problem_password_needed", 422: "invalid_wrong_password"}


@pytest.fixture
def contest(client: TestClient) -> Contest:
    made = Contest.opened(client)
    made.submit("red")
    return made


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


def team_out(contest: Contest) -> Act:
    with transaction() as session:
        team = session.scalars(select(Team.id)).one()
    return "POST", f"{contest.path}/teams/{team}/disqualify", {}


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


@pytest.mark.parametrize("made", ACTS, ids=lambda one: one.__name__)
def test_a_token_or_a_session_alone_does_nothing_and_with_the_password_it_is_done(
    contest: Contest, made: Callable[[Contest], Act]
) -> None:
    needs_the_password(contest, made(contest))


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


def test_an_end_that_moves_later_and_what_is_not_yet_begun_need_no_password(
    contest: Contest, client: TestClient
) -> None:
    later = "POST", f"{contest.path}/phases/anonymization/extend", {"json": {"end": at(1.5)}}
    assert ask(contest, later, {}).status_code == 200
    fresh = Contest.opened(client, slug="fresh")
    fresh.move(anonymization=(48, 72), reidentification=(96, 120))
    sooner = "POST", f"{fresh.path}/phases/anonymization/extend", {"json": {"end": at(2.5)}}
    assert ask(fresh, sooner, {}).status_code == 200


def test_what_is_put_back_needs_no_password(contest: Contest) -> None:
    method, path, content = team_out(contest)
    assert ask(contest, (method, path, content), {"X-Confirm-Password": quote(PASSWORD)}).is_success
    assert ask(contest, (method, path.replace("disqualify", "reinstate"), {}), {}).is_success


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


def test_the_forms_of_the_organizers_ask_for_it(contest: Contest) -> None:
    with transaction() as session:
        team = session.scalars(select(Team.id)).one()
    path = f"{contest.path}/organize/teams/{team}/disqualify"
    form = page(contest.arena, path, organizer=True).text
    assert 'name="password" type="password" required' in form
    before = state()
    for password, status in (("", 403), ("wrong", 422)):
        answer = send(contest.arena, path, {"reason": "x", "password": password}, organizer=True)
        assert answer.status_code == status
        assert 'name="password" type="password" required' in answer.text
    assert state() == before
    assert send(contest.arena, path, {"reason": "x"}, organizer=True).status_code == 303
    assert state() != before


@pytest.mark.parametrize("made", [organizer_out, other_rules], ids=lambda one: one.__name__)
def test_so_do_the_forms_of_a_re_score_set_and_of_the_organizers(
    contest: Contest, made: Callable[[Contest], Act]
) -> None:
    _, path, _ = made(contest)
    if made is other_rules:
        path = f"{contest.path}/organize{path}"
        shown = page(contest.arena, path.removesuffix("/apply"), organizer=True).text
    else:
        path = path.replace("/organizers/", "/organize/teams/organizers/") + "/remove"
        shown = page(contest.arena, f"{contest.path}/organize/teams", organizer=True).text
    form = shown.split(f'action="{path}"')[1].split("</form>")[0]
    assert 'name="password" type="password" required' in form
    before = state()
    for password, status, language in (("", 403, "en"), ("wrong", 422, "ja")):
        sent = {"password": password}
        answer = send(contest.arena, path, sent, organizer=True, language=language)
        assert answer.status_code == status
        assert words.WORDS[SAID[status]][language] in unescape(answer.text)
        assert state() == before
    assert send(contest.arena, path, organizer=True).status_code == 303
    assert state() != before


def organizer_form(contest: Contest) -> Form:
    _, _, content = organizer_in(contest)
    shown = f"{contest.path}/organize/teams"
    return shown, f"{shown}/organizers", content["json"]


def link_form(contest: Contest) -> Form:
    person = contest.arena.get("/me", token=contest.arena.team("red")).json()["user_id"]
    with transaction() as session:
        shown = f"{contest.path}/organize/teams/{session.scalars(select(Team.id)).one()}"
    return shown, f"{shown}/members/{person}/password-link", {}


def token_form(_: Contest) -> Form:
    return "/account", "/account/tokens", {"name": "mine", "scopes": "organize", "days": "365"}


@pytest.mark.parametrize("made", [organizer_form, link_form, token_form], ids=lambda one: one.__name__)
def test_so_do_the_forms_that_open_a_way_in(contest: Contest, made: Callable[[Contest], Form]) -> None:
    where, path, fields = made(contest)
    shown = page(contest.arena, where, organizer=True).text
    form = shown.split(f'action="{path}"')[1].split("</form>")[0]
    assert 'name="password" type="password" required' in form
    before = state()
    for password, status, language in (("", 403, "en"), ("wrong", 422, "ja")):
        sent = fields | {"password": password}
        answer = send(contest.arena, path, sent, organizer=True, language=language)
        assert (answer.status_code, state()) == (status, before)
        assert words.WORDS[SAID[status]][language] in unescape(answer.text)
        assert all(f'value="{typed}"' in answer.text for typed in fields.values())
    assert send(contest.arena, path, fields, organizer=True).status_code in {200, 201, 303}
    assert state() != before


def test_a_token_alone_makes_no_further_token_anywhere(contest: Contest) -> None:
    """It opens pages, too, where the form asks for the password; as a cookie it opens nothing."""
    token = contest.arena.organizer
    before = state()
    bearer, cookie = {"Authorization": f"Bearer {token}"}, {"Cookie": f"{COOKIE}={token}"}
    for headers, status in ((bearer, 403), (cookie, 303)):
        sent = headers | SAME_ORIGIN
        fields = {"name": "mine", "scopes": "read"}
        answer = contest.arena.client.post(
            "/account/tokens", data=fields, headers=sent, follow_redirects=False
        )
        assert answer.status_code == status
    assert contest.arena.client.post(f"{API}/tokens", headers=bearer, json={"name": "x"}).status_code == 422
    assert state() == before


@pytest.mark.parametrize("password", ["", "wrong"])
def test_the_form_of_the_dates_asks_for_it_once_the_contest_has_begun(
    contest: Contest, password: str
) -> None:
    path = f"{contest.path}/organize/basics"
    fields = {
        "title_en": "Small cup",
        "zone": "UTC",
        **{
            f"{phase.name}_{which}": f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M}"
            for phase in parse_competition(competition_row().file).phases
            for which, moment in (("start", phase.start), ("end", phase.end - timedelta(hours=1)))
        },
    }
    assert 'name="password"' in page(contest.arena, path, organizer=True).text
    before = state()
    answer = send(contest.arena, path, fields | {"password": password}, organizer=True)
    assert (answer.status_code, state()) == (422 if password else 403, before)
    assert send(contest.arena, path, fields, organizer=True).status_code == 303


def test_the_form_of_a_nearer_end_asks_for_it_and_that_of_a_later_one_does_not(contest: Contest) -> None:
    path = f"{contest.path}/organize/phases/anonymization/extend"
    for days, asks in ((0.5, True), (1.5, False)):
        moment = (datetime.now(UTC) + timedelta(days=days, hours=9)).strftime("%Y-%m-%dT%H:%M")
        shown = page(contest.arena, f"{path}?end={moment}", organizer=True).text
        assert ('name="password"' in shown) is asks
