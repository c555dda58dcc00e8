"""A competition in each phase, a user of every audience, and their requests of each route."""

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any
from urllib.parse import quote
from uuid import UUID

from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select

from anoncup.schemas.fields import Role
from app.core.db.models import Competition, Member, Organizer, Submission, Team, User
from app.core.db.transaction import transaction
from app.core.identity import tokens
from app.core.identity.session_cookie import COOKIE
from app.core.identity.users import create_user
from tests.security.access_requests import CONTENT, PATH_PARAMS
from tests.support.arena import API, PASSWORD, Arena, build_noisy_release, load_principal, serial_numbers
from tests.support.contest import Contest
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
        audience_tokens = {
            "other team": arena.get_team_token("blue"),
            "own team": arena.get_team_token(team),
            "organizer": arena.organizer_token,
            "other organizer": other_arena.organizer_token,
        }
        with transaction() as session:
            users = {
                audience: load_principal(session, token).user_id
                for audience, token in audience_tokens.items()
            }
            name = f"administrator {next(serial_numbers)}"
            administrator = create_user(session, name=name, password=PASSWORD, role=Role.ADMINISTRATOR)
            users["administrator"] = administrator.id
        receipt = arena.submit(team, seed=seed)
        assert receipt.status_code == 202, receipt.text
        second_contest = open_second_contest(client, users, team)
        (target,) = second_contest.arena.get(f"{second_contest.path}/targets").json()
        score_everything()
        assert arena.get_submission(receipt.json()["id"], team)["status"] == "SCORED"
        secret = build_noisy_release(seed, arena.table)[1]
        return cls(arena, users, receipt.json()["id"], secret, second_contest, target["id"])

    def load_submission(self) -> Submission:
        with transaction() as session:
            return session.get_one(Submission, UUID(self.submission_id))

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

    def build_path_params(self, route: str) -> dict[str, Any]:
        """Return the values of the route's path parameters."""
        names = {name for _, name, _, _ in Formatter().parse(route) if name}
        return {name: PATH_PARAMS[name](self, route) for name in names}

    def request(self, route: str, audience: str, path_params: Mapping[str, Any] | None = None) -> Response:
        """Send an audience's request: pages get the session cookie, the API a bearer token."""
        method, path = route.split(" ")
        path_params = self.build_path_params(route) if path_params is None else path_params
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


def open_second_contest(client: TestClient, users: dict[str, UUID], team: str) -> Contest:
    """Open a contest in its second phase with the same people; its one target is the own team's release."""
    contest = Contest.create(client, slug="second")
    contest.submit(team)
    contest.arena.get_team_token("blue")
    with transaction() as session:
        row = session.scalars(select(Competition).where(Competition.slug == "second")).one()
        session.add(Organizer(competition_id=row.id, user_id=users["organizer"]))
        for audience, name in (("own team", team), ("other team", "blue")):
            own_team = session.scalars(select(Team).filter_by(competition_id=row.id, name=name)).one()
            session.add(Member(competition_id=row.id, user_id=users[audience], team_id=own_team.id))
    contest.open_attacks()
    return contest
