"""A competition in each phase, somebody of every audience, and what each route is sent."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from string import Formatter
from typing import Any
from urllib.parse import quote
from uuid import UUID

from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select

from anoncup.schemas.roles import Role
from anoncup.tables.csv_text import table_csv
from app.db.models import (
    Clarification,
    Competition,
    Member,
    Organizer,
    Rescore,
    Submission,
    Team,
    ThresholdReport,
    User,
)
from app.db.transaction import transaction
from app.http.authentication import COOKIE
from app.services.accounts import accounts
from tests.security.table import AREAS
from tests.support.arena import API, PASSWORD, ROWS, Arena, competition_file, noisy_release, numbers
from tests.support.contest import Contest, turn
from tests.support.uploads import score_everything


@dataclass
class Stage:
    """One scored submission of ``own team`` in one competition, and somebody of every audience."""

    arena: Arena
    users: dict[str, UUID]
    submission_id: str
    secret: bytes
    second: Contest
    target_id: str

    @classmethod
    def opened(cls, client: TestClient, *, team: str = "red", seed: int = 11) -> "Stage":
        elsewhere = Arena.opened(client, slug="elsewhere")
        arena = Arena.opened(client)
        tokens = {
            "other team": arena.team("blue"),
            "own team": arena.team(team),
            "organizer": arena.organizer,
            "other organizer": elsewhere.organizer,
        }
        users = {audience: owner_of(token) for audience, token in tokens.items()}
        with transaction() as session:
            name = f"administrator {next(numbers)}"
            made = accounts.create_user(session, name=name, password=PASSWORD, role=Role.ADMINISTRATOR)
            users["administrator"] = made.id
        receipt = arena.submit(team, seed=seed)
        assert receipt.status_code == 202, receipt.text
        second = a_second_competition(client, users, team)
        (target,) = second.arena.get(f"{second.path}/targets").json()
        secret = noisy_release(seed, arena.table)[1]
        stage = cls(arena, users, receipt.json()["id"], secret, second, target["id"])
        score_all(stage)
        return stage

    def token(self, audience: str) -> str | None:
        """A fresh token each time: some routes end the one that asks."""
        if audience == "visitor":
            return None
        with transaction() as session:
            user = session.get_one(User, self.users[audience])
            return accounts.issue_token(session, user, name="route table")

    def session(self, audience: str) -> str | None:
        """A fresh session in a browser."""
        if audience == "visitor":
            return None
        with transaction() as session:
            return accounts.begin_session(session, session.get_one(User, self.users[audience]))

    def announcement(self) -> str:
        """A new one each time: whoever may withdraws it."""
        path = f"/competitions/{self.arena.slug}/announcements"
        return str(self.arena.post(path, json={"text": {"en": "Hello"}}).json()["id"])

    def clarification(self) -> str:
        """What the own team has asked."""
        with transaction() as session:
            sent = session.get_one(Submission, UUID(self.submission_id))
            asked = Clarification(
                competition_id=sent.competition_id,
                team_id=sent.team_id,
                user_id=sent.user_id,
                question="How many rows?",
            )
            session.add(asked)
            session.flush()
            return str(asked.id)

    def telling(self) -> dict[str, Any]:
        """Let the own team tell how it did it."""
        with transaction() as session:
            session.get_one(Team, team_of(self.submission_id)).approach = "Noise."
        return {}

    def places(self, route: str) -> dict[str, Any]:
        """What the names in the route's path stand for."""
        path = route.split(" ")[1]
        known: dict[str, Callable[[], Any]] = {
            "slug": lambda: self.second.arena.slug if path.endswith(OF_THE_SECOND) else self.arena.slug,
            "name": lambda: "anonymization",
            "target_id": lambda: self.target_id,
            "team_id": lambda: team_of(self.submission_id),
            "rescore_id": lambda: latest(Rescore),
            "report_id": lambda: latest(ThresholdReport),
            "file": lambda: "original.csv" if "original" in path else "anonymized.csv",
            "submission_id": lambda: self.submission_id,
            "announcement_id": self.announcement,
            "clarification_id": self.clarification,
            "path": lambda: "site.css",
        }
        made = PLACES[route](self) if route in PLACES else {}
        names = {name for _, name, _, _ in Formatter().parse(path) if name}
        return {name: known[name]() for name in names & known.keys()} | made

    def ask(self, route: str, audience: str) -> Response:
        """The route as this audience asks it: pages with the cookie, the API with a bearer token."""
        method, path = route.split(" ")
        places = self.places(route)
        headers = {"Sec-Fetch-Site": "same-origin", "X-Confirm-Password": quote(PASSWORD)}
        if path.startswith(API) and (token := self.token(audience)):
            headers["Authorization"] = f"Bearer {token}"
        elif not path.startswith(API) and (cookie := self.session(audience)):
            headers["Cookie"] = f"{COOKIE}={cookie}"
        content = CONTENT[route](self) if route in CONTENT else {}
        answer: Response = self.arena.client.request(
            method, path.format(**places), headers=headers, follow_redirects=False, **content
        )
        self.arena.client.cookies.clear()
        if route in {"PUT /api/v1/me/password", "POST /account/password"}:
            self.renew_tokens()
        return answer

    def renew_tokens(self) -> None:
        """A new password has ended all others of the one who set it."""
        self.arena.organizer = str(self.token("organizer"))
        for team in self.arena.tokens:
            self.arena.tokens[team] = str(self.token("other team" if team == "blue" else "own team"))


OF_THE_SECOND = ("/targets", "/targets.zip", "/manifest", "/reveal", "/guesses")


def a_second_competition(client: TestClient, users: dict[str, UUID], team: str) -> Contest:
    """One in its second phase, with the same people: ``own team``'s one release is its target."""
    second = Contest.opened(client, slug="second")
    second.submit(team)
    second.arena.team("blue")
    with transaction() as session:
        row = session.scalars(select(Competition).where(Competition.slug == "second")).one()
        session.add(Organizer(competition_id=row.id, user_id=users["organizer"]))
        for audience, name in (("own team", team), ("other team", "blue")):
            of_it = session.scalars(select(Team).where(Team.competition_id == row.id, Team.name == name))
            member = {"competition_id": row.id, "team_id": of_it.one().id}
            session.add(Member(user_id=users[audience], **member))
    second.attack()
    return second


def team_of(submission_id: str) -> UUID:
    with transaction() as session:
        return session.get_one(Submission, UUID(submission_id)).team_id


def latest(kind: type[Rescore] | type[ThresholdReport]) -> UUID:
    with transaction() as session:
        found = session.scalar(select(kind.id).order_by(kind.created_at.desc()).limit(1))
        return found or UUID(int=0)


def score_all(stage: Stage) -> None:
    score_everything()
    found = stage.arena.get(f"/submissions/{stage.submission_id}", token=stage.token("own team")).json()
    assert found["status"] == "SCORED", found


def owner_of(token: str) -> UUID:
    with transaction() as session:
        return accounts.authenticate(session, token).user_id


def a_sign_up(stage: Stage) -> dict[str, Any]:
    code = stage.arena.post(f"/competitions/{stage.arena.slug}/invites", json={}).json()["code"]
    number = next(numbers)
    body = {"invite": code, "team": f"team {number}", "name": f"person {number}", "password": PASSWORD}
    return {"json": body}


def a_person(stage: Stage, role: Role = Role.PARTICIPANT) -> str:
    with transaction() as session:
        return accounts.create_user(
            session, name=f"person {next(numbers)}", password=PASSWORD, role=role
        ).name


def a_join(stage: Stage) -> dict[str, Any]:
    """Into a competition that none of the audiences has to do with yet."""
    number = next(numbers)
    body = {"name": a_person(stage, Role.ORGANIZER), "password": PASSWORD}
    token = stage.arena.client.post(f"{API}/tokens", json=body).json()["token"]
    stage.arena.post("/competitions", token=token, content=competition_file(f"join-{number}"))
    invite = stage.arena.post(f"/competitions/join-{number}/invites", token=token, json={}).json()["code"]
    return {"json": {"invite": invite, "team": f"team {number}"}}


def a_password_link(stage: Stage) -> dict[str, Any]:
    answer = stage.arena.post(
        "/users/password-links", token=stage.token("administrator"), json={"name": a_person(stage)}
    )
    return {"json": {"code": answer.json()["code"], "password": PASSWORD}}


def a_user(stage: Stage) -> dict[str, Any]:
    return {"json": {"name": f"person {next(numbers)}", "password": PASSWORD, "role": "organizer"}}


def a_participant(stage: Stage) -> dict[str, Any]:
    body = a_sign_up(stage)["json"]
    stage.arena.client.post(f"{API}/signup", json=body)
    return {"json": {"name": body["name"]}}


def a_token_of_own_team(stage: Stage) -> dict[str, str]:
    token = stage.token("own team")
    found = stage.arena.get("/tokens", token=token).json()
    return {"token_id": next(one["id"] for one in found if one["current"])}


def a_colleague_in_own_team(stage: Stage) -> dict[str, str]:
    path = f"/competitions/{stage.arena.slug}/team/invites"
    code = stage.arena.post(path, token=stage.token("own team"), json={}).json()["code"]
    body = {"invite": code, "name": f"person {next(numbers)}", "password": PASSWORD}
    return {"user_id": stage.arena.client.post(f"{API}/signup", json=body).json()["user_id"]}


def another_organizer(stage: Stage) -> dict[str, str]:
    body = {"name": a_person(stage, Role.ORGANIZER)}
    answer = stage.arena.post(f"/competitions/{stage.arena.slug}/organizers", json=body)
    return {"user_id": answer.json()["user_id"]}


def an_upload(stage: Stage) -> dict[str, Any]:
    table, secret = noisy_release(next(numbers), stage.arena.table)
    return {"files": {"anonymized": ("a.csv", table), "secret": ("s.csv", secret)}}


def a_guess(_: Stage) -> dict[str, Any]:
    return {"files": {"guess": ("g.csv", b"original_row\n" + b"0\n" * ROWS)}}


def a_beat(_: Stage) -> dict[str, Any]:
    turn()
    return {}


CONTENT: dict[str, Callable[[Stage], dict[str, Any]]] = {
    "POST /api/v1/signup": a_sign_up,
    "POST /api/v1/join": a_join,
    "POST /api/v1/password": a_password_link,
    "PUT /api/v1/me/password": lambda _: {"json": {"old": PASSWORD, "new": PASSWORD}},
    "POST /api/v1/users": a_user,
    "POST /api/v1/users/password-links": a_participant,
    "POST /api/v1/competitions/{slug}/team/invites": lambda _: {"json": {}},
    "POST /api/v1/competitions/{slug}/organizers": lambda stage: {
        "json": {"name": a_person(stage, Role.ORGANIZER)}
    },
    "POST /api/v1/tokens": lambda stage: {"json": {"name": a_person(stage), "password": PASSWORD}},
    "POST /api/v1/competitions": lambda _: {"content": competition_file(f"made-{next(numbers)}")},
    "PUT /api/v1/competitions/{slug}/competition.toml": lambda stage: {
        "content": competition_file(stage.arena.slug)
    },
    "PUT /api/v1/competitions/{slug}/original/{file}": lambda stage: {
        "content": table_csv(stage.arena.table)
    },
    "POST /api/v1/competitions/{slug}/invites": lambda _: {"json": {}},
    "POST /api/v1/competitions/{slug}/submissions": an_upload,
    "POST /api/v1/competitions/{slug}/submissions/check": an_upload,
    "POST /api/v1/competitions/{slug}/grants": lambda stage: {
        "json": {"team_id": str(team_of(stage.submission_id)), "cap": "valid_total", "amount": 1}
    },
    "POST /api/v1/competitions/{slug}/phases/{name}/extend": lambda _: {
        "json": {"end": (datetime.now(UTC) + timedelta(days=3)).isoformat()}
    },
    "POST /api/v1/competitions/{slug}/rescores": lambda stage: {
        "content": competition_file(stage.arena.slug, threshold=0.1)
    },
    "POST /api/v1/competitions/{slug}/threshold-reports": lambda _: {"json": {"draws": 0}},
    "POST /api/v1/competitions/{slug}/baselines": lambda stage: {
        **an_upload(stage),
        "data": {"name": f"baseline {next(numbers)}"},
    },
    "POST /api/v1/targets/{target_id}/guesses": a_guess,
    "POST /api/v1/targets/{target_id}/guesses/check": a_guess,
    "PUT /api/v1/submissions/{submission_id}/final": lambda _: {"json": {"final": True}},
    "DELETE /api/v1/competitions/{slug}/teams/{team_id}/approach": lambda stage: stage.telling(),
    "PUT /api/v1/competitions/{slug}/team/approach": lambda _: {"json": {"approach": "Noise."}},
    "POST /api/v1/competitions/{slug}/clarifications": lambda _: {"json": {"question": "How many rows?"}},
    "PUT /api/v1/clarifications/{clarification_id}/answer": lambda _: {"json": {"answer": "As many."}},
    "POST /api/v1/competitions/{slug}/announcements": lambda _: {"json": {"text": {"en": "Hello"}}},
    "GET /readyz": a_beat,
    "POST /sign-in": lambda stage: {"data": {"name": a_person(stage), "password": PASSWORD}},
}
"""What a request that is allowed must carry to succeed; a refusal must come before it matters."""

PLACES: dict[str, Callable[[Stage], dict[str, str]]] = {
    "DELETE /api/v1/tokens/{token_id}": a_token_of_own_team,
    "DELETE /api/v1/competitions/{slug}/team/members/{user_id}": a_colleague_in_own_team,
    "DELETE /api/v1/competitions/{slug}/organizers/{user_id}": another_organizer,
}
"""What a path names that has to be made for each request, for the request may end it."""

for area in AREAS:
    CONTENT |= area.CONTENT
    PLACES |= area.PLACES
