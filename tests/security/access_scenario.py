"""A competition in each phase, a user of every audience, and the content of each route's request."""

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
from anoncup.tables.csv_text import write_csv
from app.clarifications.models import Clarification
from app.core.db.models import (
    Adjustment,
    Competition,
    Guess,
    Member,
    Organizer,
    Rescore,
    Round,
    Submission,
    Team,
    ThresholdReport,
    User,
)
from app.core.db.transaction import transaction
from app.core.identity import tokens
from app.core.identity.session_cookie import COOKIE
from app.core.identity.users import create_user
from tests.security.access_table import PAGE_MODULES
from tests.support.arena import (
    API,
    PASSWORD,
    ROWS,
    Arena,
    build_competition_toml,
    build_noisy_release,
    load_principal,
    serial_numbers,
)
from tests.support.contest import Contest, run_clock
from tests.support.uploads import score_everything


@dataclass
class AccessScenario:
    """A scored submission of ``own team``, a second competition in its attack phase, and all audiences."""

    arena: Arena
    users: dict[str, UUID]
    submission_id: str
    secret: bytes
    second_contest: Contest
    target_id: str

    @classmethod
    def open(cls, client: TestClient, *, team: str = "red", seed: int = 11) -> "AccessScenario":
        other_arena = Arena.create(client, slug="elsewhere")
        arena = Arena.create(client)
        tokens = {
            "other team": arena.get_team_token("blue"),
            "own team": arena.get_team_token(team),
            "organizer": arena.organizer_token,
            "other organizer": other_arena.organizer_token,
        }
        users = {audience: find_token_owner(token) for audience, token in tokens.items()}
        with transaction() as session:
            name = f"administrator {next(serial_numbers)}"
            administrator = create_user(session, name=name, password=PASSWORD, role=Role.ADMINISTRATOR)
            users["administrator"] = administrator.id
        receipt = arena.submit(team, seed=seed)
        assert receipt.status_code == 202, receipt.text
        second_contest = open_second_contest(client, users, team)
        (target,) = second_contest.arena.get(f"{second_contest.path}/targets").json()
        secret = build_noisy_release(seed, arena.table)[1]
        scenario = cls(arena, users, receipt.json()["id"], secret, second_contest, target["id"])
        score_submission(scenario)
        return scenario

    def create_token(self, audience: str) -> str | None:
        """Issue a new token each time, since some routes revoke the one they are called with."""
        if audience == "visitor":
            return None
        with transaction() as session:
            user = session.get_one(User, self.users[audience])
            return tokens.issue_token(session, user, name="route table")

    def begin_session(self, audience: str) -> str | None:
        """Begin a new browser session."""
        if audience == "visitor":
            return None
        with transaction() as session:
            return tokens.begin_session(session, session.get_one(User, self.users[audience]))

    def create_announcement(self) -> str:
        """Create a new announcement each time, since allowed audiences withdraw it."""
        path = f"/competitions/{self.arena.slug}/announcements"
        return str(self.arena.post(path, json={"text": {"en": "Hello"}}).json()["id"])

    def create_clarification(self) -> str:
        """Add a question of the own team."""
        with transaction() as session:
            submission = session.get_one(Submission, UUID(self.submission_id))
            clarification = Clarification(
                competition_id=session.get_one(Round, submission.round_id).competition_id,
                team_id=submission.team_id,
                user_id=submission.user_id,
                question="How many rows?",
            )
            session.add(clarification)
            session.flush()
            return str(clarification.id)

    def find_guess(self) -> str:
        """Return a guess of the other team, which sends one if it has sent none."""
        with transaction() as session:
            guess = session.scalar(select(Guess).limit(1))
        if guess is None:
            headers = {"Authorization": f"Bearer {self.create_token('other team')}"}
            path = f"{API}/targets/{self.target_id}/guesses"
            return str(self.arena.client.post(path, headers=headers, **build_guess(self)).json()["id"])
        return str(guess.id)

    def create_adjustment(self) -> str:
        """Give the own team a penalty."""
        with transaction() as session:
            submission = session.get_one(Submission, UUID(self.submission_id))
            adjustment = Adjustment(
                round_id=submission.round_id,
                team_id=submission.team_id,
                points=-1.0,
                reason="late",
            )
            session.add(adjustment)
            session.flush()
            return str(adjustment.id)

    def set_method_description(self) -> dict[str, Any]:
        """Give the own team a method description."""
        with transaction() as session:
            session.get_one(Team, find_team_id(self.submission_id)).method_description = "Noise."
        return {}

    def build_path_params(self, route: str) -> dict[str, Any]:
        """Return the values of the route's path parameters."""
        path = route.split(" ")[1]
        builders: dict[str, Callable[[], Any]] = {
            "slug": lambda: (
                self.second_contest.arena.slug if path.endswith(SECOND_CONTEST_PATHS) else self.arena.slug
            ),
            "name": lambda: "anonymization",
            "target_id": lambda: self.target_id,
            "team_id": lambda: find_team_id(self.submission_id),
            "rescore_id": lambda: find_latest_id(Rescore),
            "report_id": lambda: find_latest_id(ThresholdReport),
            "file": lambda: "original.csv" if "original" in path else "anonymized.csv",
            "submission_id": lambda: self.submission_id,
            "announcement_id": self.create_announcement,
            "adjustment_id": self.create_adjustment,
            "guess_id": self.find_guess,
            "clarification_id": self.create_clarification,
            "path": lambda: "site.css",
            "provider": lambda: "lab",
        }
        route_params = PATH_PARAMS[route](self) if route in PATH_PARAMS else {}
        names = {name for _, name, _, _ in Formatter().parse(path) if name}
        return {name: builders[name]() for name in names & builders.keys()} | route_params

    def request(self, route: str, audience: str) -> Response:
        """Send an audience's request: pages get the session cookie, the API a bearer token."""
        method, path = route.split(" ")
        path_params = self.build_path_params(route)
        headers = {"Sec-Fetch-Site": "same-origin", "X-Confirm-Password": quote(PASSWORD)}
        if path.startswith(API) and (token := self.create_token(audience)):
            headers["Authorization"] = f"Bearer {token}"
        elif not path.startswith(API) and (cookie := self.begin_session(audience)):
            headers["Cookie"] = f"{COOKIE}={cookie}"
        content = CONTENT[route](self) if route in CONTENT else {}
        response: Response = self.arena.client.request(
            method, path.format(**path_params), headers=headers, follow_redirects=False, **content
        )
        self.arena.client.cookies.clear()
        if route in {"PUT /api/v1/me/password", "POST /account/password"}:
            self.renew_tokens()
        return response

    def renew_tokens(self) -> None:
        """Issue new tokens, since a changed password has revoked those of its user."""
        self.arena.organizer_token = str(self.create_token("organizer"))
        for team in self.arena.team_tokens:
            self.arena.team_tokens[team] = str(
                self.create_token("other team" if team == "blue" else "own team")
            )


SECOND_CONTEST_PATHS = ("/targets", "/targets.zip", "/manifest", "/reveal", "/guesses")


def open_second_contest(client: TestClient, users: dict[str, UUID], team: str) -> Contest:
    """Open a contest in its second phase with the same people; its one target is the own team's release."""
    contest = Contest.create(client, slug="second")
    contest.submit(team)
    contest.arena.get_team_token("blue")
    with transaction() as session:
        row = session.scalars(select(Competition).where(Competition.slug == "second")).one()
        session.add(Organizer(competition_id=row.id, user_id=users["organizer"]))
        for audience, name in (("own team", team), ("other team", "blue")):
            own_team_query = session.scalars(
                select(Team).where(Team.competition_id == row.id, Team.name == name)
            )
            member = {"competition_id": row.id, "team_id": own_team_query.one().id}
            session.add(Member(user_id=users[audience], **member))
    contest.open_attacks()
    return contest


def find_team_id(submission_id: str) -> UUID:
    with transaction() as session:
        return session.get_one(Submission, UUID(submission_id)).team_id


def find_latest_id(model: type[Rescore] | type[ThresholdReport]) -> UUID:
    with transaction() as session:
        latest_id = session.scalar(select(model.id).order_by(model.created_at.desc()).limit(1))
        return latest_id or UUID(int=0)


def score_submission(scenario: AccessScenario) -> None:
    score_everything()
    submission = scenario.arena.get(
        f"/submissions/{scenario.submission_id}", token=scenario.create_token("own team")
    ).json()
    assert submission["status"] == "SCORED", submission


def find_token_owner(token: str) -> UUID:
    with transaction() as session:
        return load_principal(session, token).user_id


def build_sign_up(scenario: AccessScenario) -> dict[str, Any]:
    code = scenario.arena.post(f"/competitions/{scenario.arena.slug}/invites", json={}).json()["code"]
    number = next(serial_numbers)
    body = {"invite": code, "team": f"team {number}", "name": f"person {number}", "password": PASSWORD}
    return {"json": body}


def create_person(scenario: AccessScenario, role: Role = Role.PARTICIPANT) -> str:
    with transaction() as session:
        return create_user(session, name=f"person {next(serial_numbers)}", password=PASSWORD, role=role).name


def build_join(scenario: AccessScenario) -> dict[str, Any]:
    """Build a request to join a competition that nobody in the scenario has joined."""
    number = next(serial_numbers)
    body = {"name": create_person(scenario, Role.ORGANIZER), "password": PASSWORD}
    token = scenario.arena.client.post(f"{API}/tokens", json=body).json()["token"]
    scenario.arena.post("/competitions", token=token, content=build_competition_toml(f"join-{number}"))
    invite = scenario.arena.post(f"/competitions/join-{number}/invites", token=token, json={}).json()["code"]
    return {"json": {"invite": invite, "team": f"team {number}"}}


def create_password_link(scenario: AccessScenario) -> dict[str, Any]:
    response = scenario.arena.post(
        "/users/password-links",
        token=scenario.create_token("administrator"),
        json={"name": create_person(scenario)},
    )
    return {"json": {"code": response.json()["code"], "password": PASSWORD}}


def build_user(scenario: AccessScenario) -> dict[str, Any]:
    return {"json": {"name": f"person {next(serial_numbers)}", "password": PASSWORD, "role": "organizer"}}


def create_participant(scenario: AccessScenario) -> dict[str, Any]:
    body = build_sign_up(scenario)["json"]
    scenario.arena.client.post(f"{API}/signup", json=body)
    return {"json": {"name": body["name"]}}


def find_own_team_token(scenario: AccessScenario) -> dict[str, str]:
    token = scenario.create_token("own team")
    tokens = scenario.arena.get("/tokens", token=token).json()
    return {"token_id": next(row["id"] for row in tokens if row["current"])}


def add_own_team_member(scenario: AccessScenario) -> dict[str, str]:
    path = f"/competitions/{scenario.arena.slug}/team/invites"
    code = scenario.arena.post(path, token=scenario.create_token("own team"), json={}).json()["code"]
    body = {"invite": code, "name": f"person {next(serial_numbers)}", "password": PASSWORD}
    return {"user_id": scenario.arena.client.post(f"{API}/signup", json=body).json()["user_id"]}


def add_organizer(scenario: AccessScenario) -> dict[str, str]:
    body = {"name": create_person(scenario, Role.ORGANIZER)}
    response = scenario.arena.post(f"/competitions/{scenario.arena.slug}/organizers", json=body)
    return {"user_id": response.json()["user_id"]}


def build_upload(scenario: AccessScenario) -> dict[str, Any]:
    table, secret = build_noisy_release(next(serial_numbers), scenario.arena.table)
    return {"files": {"anonymized": ("a.csv", table), "secret": ("s.csv", secret)}}


def build_guess(_: AccessScenario) -> dict[str, Any]:
    return {"files": {"guess": ("g.csv", b"original_row\n" + b"0\n" * ROWS)}}


def record_heartbeat(_: AccessScenario) -> dict[str, Any]:
    run_clock()
    return {}


CONTENT: dict[str, Callable[[AccessScenario], dict[str, Any]]] = {
    "POST /api/v1/signup": build_sign_up,
    "POST /api/v1/join": build_join,
    "POST /api/v1/password": create_password_link,
    "PUT /api/v1/me/password": lambda _: {"json": {"old": PASSWORD, "new": PASSWORD}},
    "POST /api/v1/users": build_user,
    "POST /api/v1/users/password-links": create_participant,
    "POST /api/v1/competitions/{slug}/team/invites": lambda _: {"json": {}},
    "POST /api/v1/competitions/{slug}/organizers": lambda scenario: {
        "json": {"name": create_person(scenario, Role.ORGANIZER)}
    },
    "POST /api/v1/tokens": lambda scenario: {"json": {"name": create_person(scenario), "password": PASSWORD}},
    "POST /api/v1/competitions": lambda _: {
        "content": build_competition_toml(f"made-{next(serial_numbers)}")
    },
    "PUT /api/v1/competitions/{slug}/competition.toml": lambda scenario: {
        "content": build_competition_toml(scenario.arena.slug)
    },
    "PUT /api/v1/competitions/{slug}/original/{file}": lambda scenario: {
        "content": write_csv(scenario.arena.table)
    },
    "POST /api/v1/competitions/{slug}/invites": lambda _: {"json": {}},
    "POST /api/v1/competitions/{slug}/submissions": build_upload,
    "POST /api/v1/competitions/{slug}/submissions/check": build_upload,
    "POST /api/v1/competitions/{slug}/grants": lambda scenario: {
        "json": {"team_id": str(find_team_id(scenario.submission_id)), "cap": "valid_total", "amount": 1}
    },
    "POST /api/v1/competitions/{slug}/adjustments": lambda scenario: {
        "json": {"team_id": str(find_team_id(scenario.submission_id)), "points": -1.5, "reason": "late"}
    },
    "POST /api/v1/competitions/{slug}/phases/{name}/extend": lambda _: {
        "json": {"end": (datetime.now(UTC) + timedelta(days=3)).isoformat()}
    },
    "POST /api/v1/competitions/{slug}/rescores": lambda scenario: {
        "content": build_competition_toml(scenario.arena.slug, threshold=0.1)
    },
    "POST /api/v1/competitions/{slug}/threshold-reports": lambda _: {"json": {"draws": 0}},
    "POST /api/v1/competitions/{slug}/baselines": lambda scenario: {
        **build_upload(scenario),
        "data": {"name": f"baseline {next(serial_numbers)}"},
    },
    "POST /api/v1/targets/{target_id}/guesses": build_guess,
    "POST /api/v1/targets/{target_id}/guesses/check": build_guess,
    "PUT /api/v1/submissions/{submission_id}/final": lambda _: {"json": {"final": True}},
    "DELETE /api/v1/competitions/{slug}/teams/{team_id}/method": lambda scenario: (
        scenario.set_method_description()
    ),
    "PUT /api/v1/competitions/{slug}/team/method": lambda _: {"json": {"method_description": "Noise."}},
    "POST /api/v1/competitions/{slug}/clarifications": lambda _: {"json": {"question": "How many rows?"}},
    "PUT /api/v1/clarifications/{clarification_id}/answer": lambda _: {"json": {"answer": "As many."}},
    "POST /api/v1/competitions/{slug}/announcements": lambda _: {"json": {"text": {"en": "Hello"}}},
    "GET /readyz": record_heartbeat,
    "POST /sign-in": lambda scenario: {"data": {"name": create_person(scenario), "password": PASSWORD}},
}
"""Content with which allowed requests succeed; others must be refused before it is read."""

PATH_PARAMS: dict[str, Callable[[AccessScenario], dict[str, str]]] = {
    "DELETE /api/v1/tokens/{token_id}": find_own_team_token,
    "DELETE /api/v1/competitions/{slug}/team/members/{user_id}": add_own_team_member,
    "DELETE /api/v1/competitions/{slug}/organizers/{user_id}": add_organizer,
}
"""Path parameters that are created for each request, since the request may delete them."""

for area in PAGE_MODULES:
    CONTENT |= area.CONTENT
    PATH_PARAMS |= area.PATH_PARAMS
