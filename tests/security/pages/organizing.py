"""Access to the pages for running a competition."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import select

from anoncup.schemas.roles import Role
from app.core.db.models import Competition
from app.core.db.transaction import transaction
from app.core.identity import users
from app.teams import invites
from tests.support.arena import API, PASSWORD, build_noisy_release, serial_numbers

ORGANIZE_PATH = "/competitions/{slug}/organize"
PAGE_STATUSES = (303, 403, 403, 200, 403, 200)
ACTION_STATUSES = (303, 403, 403, 303, 403, 303)

TABLE: dict[str, tuple[int, int, int, int, int, int]] = {
    # route: visitor, other team, own team, organizer, other organizer, administrator
    f"GET {ORGANIZE_PATH}": PAGE_STATUSES,
    f"GET {ORGANIZE_PATH}/phases": PAGE_STATUSES,
    f"GET {ORGANIZE_PATH}/phases/{{name}}/{{act}}": PAGE_STATUSES,
    f"POST {ORGANIZE_PATH}/phases/{{name}}/{{act}}": ACTION_STATUSES,
    f"POST {ORGANIZE_PATH}/phases/reset": (303, 403, 403, 409, 403, 409),
    f"GET {ORGANIZE_PATH}/submissions": PAGE_STATUSES,
    f"GET {ORGANIZE_PATH}/submissions/{{submission_id}}": PAGE_STATUSES,
    f"GET {ORGANIZE_PATH}/submissions/{{submission_id}}/{{act}}": PAGE_STATUSES,
    f"POST {ORGANIZE_PATH}/submissions/{{submission_id}}/disqualify": ACTION_STATUSES,
    f"POST {ORGANIZE_PATH}/submissions/{{submission_id}}/reinstate": ACTION_STATUSES,
    f"POST {ORGANIZE_PATH}/submissions/{{submission_id}}/rescore": (303, 403, 403, 409, 403, 409),
    f"GET {ORGANIZE_PATH}/rescores": PAGE_STATUSES,
    f"POST {ORGANIZE_PATH}/rescores": ACTION_STATUSES,
    f"GET {ORGANIZE_PATH}/rescores/{{rescore_id}}": PAGE_STATUSES,
    f"POST {ORGANIZE_PATH}/rescores/{{rescore_id}}/apply": (303, 403, 403, 409, 403, 409),
    f"POST {ORGANIZE_PATH}/rescores/{{rescore_id}}/cancel": ACTION_STATUSES,
    f"GET {ORGANIZE_PATH}/teams": PAGE_STATUSES,
    f"GET {ORGANIZE_PATH}/teams/invites": (303,) * 6,
    f"POST {ORGANIZE_PATH}/teams/invites": PAGE_STATUSES,
    f"POST {ORGANIZE_PATH}/teams/invites/{{invite_id}}/withdraw": ACTION_STATUSES,
    f"POST {ORGANIZE_PATH}/teams/organizers": ACTION_STATUSES,
    f"POST {ORGANIZE_PATH}/teams/organizers/{{user_id}}/remove": ACTION_STATUSES,
    f"GET {ORGANIZE_PATH}/teams/{{team_id}}": PAGE_STATUSES,
    f"POST {ORGANIZE_PATH}/teams/{{team_id}}/method": ACTION_STATUSES,
    f"POST {ORGANIZE_PATH}/teams/{{team_id}}/grants": ACTION_STATUSES,
    f"POST {ORGANIZE_PATH}/teams/{{team_id}}/adjustments": ACTION_STATUSES,
    f"POST {ORGANIZE_PATH}/teams/{{team_id}}/adjustments/{{adjustment_id}}/withdraw": ACTION_STATUSES,
    f"GET {ORGANIZE_PATH}/teams/{{team_id}}/{{act}}": PAGE_STATUSES,
    f"POST {ORGANIZE_PATH}/teams/{{team_id}}/disqualify": ACTION_STATUSES,
    f"POST {ORGANIZE_PATH}/teams/{{team_id}}/reinstate": ACTION_STATUSES,
    f"POST {ORGANIZE_PATH}/teams/{{team_id}}/members/{{user_id}}/password-link": PAGE_STATUSES,
    f"GET {ORGANIZE_PATH}/baselines": PAGE_STATUSES,
    f"POST {ORGANIZE_PATH}/baselines": ACTION_STATUSES,
    f"POST {ORGANIZE_PATH}/baselines/{{team_id}}/remove": ACTION_STATUSES,
    f"GET {ORGANIZE_PATH}/announcements": PAGE_STATUSES,
    f"POST {ORGANIZE_PATH}/announcements": ACTION_STATUSES,
    f"POST {ORGANIZE_PATH}/announcements/{{announcement_id}}/withdraw": ACTION_STATUSES,
    f"GET {ORGANIZE_PATH}/clarifications": PAGE_STATUSES,
    f"POST {ORGANIZE_PATH}/clarifications/{{clarification_id}}": ACTION_STATUSES,
    f"GET {ORGANIZE_PATH}/audit": PAGE_STATUSES,
    f"GET {ORGANIZE_PATH}/health": PAGE_STATUSES,
    f"GET {ORGANIZE_PATH}/exports": PAGE_STATUSES,
}


def create_organizer_user(_: Any = None) -> str:
    with transaction() as session:
        name = f"person {next(serial_numbers)}"
        users.create_user(session, name=name, password=PASSWORD, role=Role.ORGANIZER)
    return name


def add_organizer(scenario: Any) -> dict[str, str]:
    path = f"/competitions/{scenario.arena.slug}/organizers"
    return {"user_id": scenario.arena.post(path, json={"name": create_organizer_user()}).json()["user_id"]}


def create_invite(scenario: Any) -> dict[str, UUID]:
    invite_id = uuid4()
    with transaction() as session:
        row = session.scalars(select(Competition).where(Competition.slug == scenario.arena.slug)).one()
        invites.insert_invite(session, row.id, uses=1, invite_id=invite_id)
    return {"invite_id": invite_id}


def add_own_team_member(scenario: Any) -> dict[str, str]:
    """Add a member to the own team. Only administrators may reset passwords of people in several contests."""
    path = f"/competitions/{scenario.arena.slug}/team/invites"
    code = scenario.arena.post(path, token=scenario.create_token("own team"), json={}).json()["code"]
    body = {"invite": code, "name": f"person {next(serial_numbers)}", "password": PASSWORD}
    return {"user_id": scenario.arena.client.post(f"{API}/signup", json=body).json()["user_id"]}


def create_baseline(scenario: Any) -> dict[str, str]:
    table, secret = build_noisy_release(next(serial_numbers), scenario.arena.table)
    response = scenario.arena.post(
        f"/competitions/{scenario.arena.slug}/baselines",
        files={"anonymized": ("a.csv", table), "secret": ("s.csv", secret)},
        data={"name": f"baseline {next(serial_numbers)}"},
    )
    return {"team_id": response.json()["team_id"]}


CONTENT: dict[str, Callable[[Any], dict[str, Any]]] = {
    f"POST {ORGANIZE_PATH}/phases/{{name}}/{{act}}": lambda _: {"data": {"end": "2099-01-01T09:00"}},
    **{
        f"POST {ORGANIZE_PATH}/{resource}/{action}": lambda _: {
            "data": {"reason": "two accounts", "password": PASSWORD}
        }
        for resource in ("submissions/{submission_id}", "teams/{team_id}")
        for action in ("disqualify", "reinstate")
    },
    f"POST {ORGANIZE_PATH}/rescores": lambda _: {"data": {"by": "rules", "threshold": "0.1"}},
    f"POST {ORGANIZE_PATH}/teams/organizers": lambda _: {
        "data": {"name": create_organizer_user(), "password": PASSWORD}
    },
    f"POST {ORGANIZE_PATH}/teams/{{team_id}}/grants": lambda _: {
        "data": {"cap": "valid_total", "amount": "1"}
    },
    f"POST {ORGANIZE_PATH}/teams/{{team_id}}/adjustments": lambda _: {
        "data": {"points": "-1.5", "reason": "late"}
    },
    f"POST {ORGANIZE_PATH}/baselines": lambda _: {
        "data": {"method": "add_noise", "name": f"baseline {next(serial_numbers)}"}
    },
    f"POST {ORGANIZE_PATH}/teams/{{team_id}}/method": lambda scenario: scenario.set_method_description(),
    f"POST {ORGANIZE_PATH}/clarifications/{{clarification_id}}": lambda _: {"data": {"text": "As many."}},
    f"POST {ORGANIZE_PATH}/announcements": lambda _: {"data": {"en": "Hello"}},
    f"POST {ORGANIZE_PATH}/announcements/{{announcement_id}}/withdraw": lambda _: {
        "data": {"password": PASSWORD}
    },
    f"POST {ORGANIZE_PATH}/baselines/{{team_id}}/remove": lambda _: {"data": {"password": PASSWORD}},
    f"POST {ORGANIZE_PATH}/teams/organizers/{{user_id}}/remove": lambda _: {"data": {"password": PASSWORD}},
    f"POST {ORGANIZE_PATH}/teams/{{team_id}}/members/{{user_id}}/password-link": lambda _: {
        "data": {"password": PASSWORD}
    },
}
"""Content of the requests, built from the ``AccessScenario``."""
PATH_PARAMS: dict[str, Callable[[Any], dict[str, Any]]] = {
    f"GET {ORGANIZE_PATH}/phases/{{name}}/{{act}}": lambda _: {"act": "pause"},
    f"POST {ORGANIZE_PATH}/phases/{{name}}/{{act}}": lambda _: {"act": "extend"},
    f"GET {ORGANIZE_PATH}/submissions/{{submission_id}}/{{act}}": lambda _: {"act": "disqualify"},
    f"GET {ORGANIZE_PATH}/teams/{{team_id}}/{{act}}": lambda _: {"act": "disqualify"},
    f"POST {ORGANIZE_PATH}/teams/invites/{{invite_id}}/withdraw": create_invite,
    f"POST {ORGANIZE_PATH}/teams/organizers/{{user_id}}/remove": add_organizer,
    f"POST {ORGANIZE_PATH}/teams/{{team_id}}/members/{{user_id}}/password-link": add_own_team_member,
    f"POST {ORGANIZE_PATH}/baselines/{{team_id}}/remove": create_baseline,
}
"""Path parameters that differ from those of the scenario."""
