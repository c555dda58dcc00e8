"""Pages: running a competition."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import select

from anoncup.competition.parser import parse_competition
from anoncup.schemas.roles import Role
from app.db.models import Competition
from app.db.transaction import transaction
from app.services.accounts import accounts
from app.services.contests import dry_run
from app.services.teams import invites
from tests.support.arena import API, PASSWORD, noisy_release, numbers

DESK = "/competitions/{slug}/organize"
SEEN = (303, 403, 403, 200, 403, 200)
DONE = (303, 403, 403, 303, 403, 303)
ONCE = (303, 403, 403, 303, 403, 409)
"""The organizer has done it before the administrator asks."""

TABLE: dict[str, tuple[int, int, int, int, int, int]] = {
    # route: visitor, other team, own team, organizer, other organizer, administrator
    f"GET {DESK}": SEEN,
    f"GET {DESK}/phases": SEEN,
    f"GET {DESK}/phases/{{name}}/{{act}}": SEEN,
    f"POST {DESK}/phases/{{name}}/{{act}}": DONE,
    f"GET {DESK}/submissions": SEEN,
    f"GET {DESK}/submissions/{{submission_id}}": SEEN,
    f"GET {DESK}/submissions/{{submission_id}}/{{act}}": SEEN,
    f"POST {DESK}/submissions/{{submission_id}}/disqualify": ONCE,
    f"POST {DESK}/submissions/{{submission_id}}/reinstate": ONCE,
    f"POST {DESK}/submissions/{{submission_id}}/score-again": (303, 403, 403, 409, 403, 409),
    f"GET {DESK}/rescores": SEEN,
    f"POST {DESK}/rescores": ONCE,
    f"GET {DESK}/rescores/{{rescore_id}}": SEEN,
    f"POST {DESK}/rescores/{{rescore_id}}/apply": (303, 403, 403, 409, 403, 409),
    f"POST {DESK}/rescores/{{rescore_id}}/cancel": ONCE,
    f"GET {DESK}/teams": SEEN,
    f"GET {DESK}/teams/invites": (303,) * 6,
    f"POST {DESK}/teams/invites": SEEN,
    f"POST {DESK}/teams/invites/{{invite_id}}/withdraw": DONE,
    f"POST {DESK}/teams/organizers": DONE,
    f"POST {DESK}/teams/organizers/{{user_id}}/remove": DONE,
    f"GET {DESK}/teams/{{team_id}}": SEEN,
    f"POST {DESK}/teams/{{team_id}}/approach": DONE,
    f"POST {DESK}/teams/{{team_id}}/grants": DONE,
    f"GET {DESK}/teams/{{team_id}}/{{act}}": SEEN,
    f"POST {DESK}/teams/{{team_id}}/disqualify": ONCE,
    f"POST {DESK}/teams/{{team_id}}/reinstate": ONCE,
    f"POST {DESK}/teams/{{team_id}}/members/{{user_id}}/password-link": SEEN,
    f"GET {DESK}/rehearsal": SEEN,
    f"POST {DESK}/rehearsal": ONCE,
    f"POST {DESK}/rehearsal/end": (303, 403, 403, 303, 403, 404),
    f"GET {DESK}/baselines": SEEN,
    f"POST {DESK}/baselines": DONE,
    f"POST {DESK}/baselines/{{team_id}}/remove": DONE,
    f"GET {DESK}/announcements": SEEN,
    f"POST {DESK}/announcements": DONE,
    f"POST {DESK}/announcements/{{announcement_id}}/withdraw": DONE,
    f"GET {DESK}/clarifications": SEEN,
    f"POST {DESK}/clarifications/{{clarification_id}}": DONE,
    f"GET {DESK}/audit": SEEN,
    f"GET {DESK}/health": SEEN,
    f"GET {DESK}/exports": SEEN,
}


def an_extension(stage: Any) -> dict[str, Any]:
    with transaction() as session:
        row = session.scalars(select(Competition).where(Competition.slug == stage.arena.slug)).one()
        mark = dry_run.mark(parse_competition(row.file).phases, row.paused_at)
    return {"data": {"mark": mark, "end": "2099-01-01T09:00"}}


def an_organizers_name(_: Any = None) -> str:
    with transaction() as session:
        name = f"person {next(numbers)}"
        accounts.create_user(session, name=name, password=PASSWORD, role=Role.ORGANIZER)
    return name


def an_organizer(stage: Any) -> dict[str, str]:
    path = f"/competitions/{stage.arena.slug}/organizers"
    return {"user_id": stage.arena.post(path, json={"name": an_organizers_name()}).json()["user_id"]}


def an_invite(stage: Any) -> dict[str, UUID]:
    made = uuid4()
    with transaction() as session:
        row = session.scalars(select(Competition).where(Competition.slug == stage.arena.slug)).one()
        invites.create(session, row.id, uses=1, invite_id=made)
    return {"invite_id": made}


def a_member(stage: Any) -> dict[str, str]:
    """Somebody of own team who takes part in nothing else: else an administrator is needed."""
    path = f"/competitions/{stage.arena.slug}/team/invites"
    code = stage.arena.post(path, token=stage.token("own team"), json={}).json()["code"]
    body = {"invite": code, "name": f"person {next(numbers)}", "password": PASSWORD}
    return {"user_id": stage.arena.client.post(f"{API}/signup", json=body).json()["user_id"]}


def a_baseline(stage: Any) -> dict[str, str]:
    table, secret = noisy_release(next(numbers), stage.arena.table)
    answer = stage.arena.post(
        f"/competitions/{stage.arena.slug}/baselines",
        files={"anonymized": ("a.csv", table), "secret": ("s.csv", secret)},
        data={"name": f"baseline {next(numbers)}"},
    )
    return {"team_id": answer.json()["team_id"]}


CONTENT: dict[str, Callable[[Any], dict[str, Any]]] = {
    f"POST {DESK}/phases/{{name}}/{{act}}": an_extension,
    **{
        f"POST {DESK}/{of}/{act}": lambda _: {"data": {"reason": "two accounts", "password": PASSWORD}}
        for of in ("submissions/{submission_id}", "teams/{team_id}")
        for act in ("disqualify", "reinstate")
    },
    f"POST {DESK}/rescores": lambda _: {"data": {"by": "rules", "threshold": "0.1"}},
    f"POST {DESK}/teams/organizers": lambda _: {"data": {"name": an_organizers_name(), "password": PASSWORD}},
    f"POST {DESK}/teams/{{team_id}}/grants": lambda _: {"data": {"cap": "valid_total", "amount": "1"}},
    f"POST {DESK}/baselines": lambda _: {
        "data": {"method": "add_noise", "name": f"baseline {next(numbers)}"}
    },
    f"POST {DESK}/teams/{{team_id}}/approach": lambda stage: stage.telling(),
    f"POST {DESK}/clarifications/{{clarification_id}}": lambda _: {"data": {"text": "As many."}},
    f"POST {DESK}/announcements": lambda _: {"data": {"en": "Hello"}},
    f"POST {DESK}/announcements/{{announcement_id}}/withdraw": lambda _: {"data": {"password": PASSWORD}},
    f"POST {DESK}/rehearsal/end": lambda _: {"data": {"password": PASSWORD}},
    f"POST {DESK}/baselines/{{team_id}}/remove": lambda _: {"data": {"password": PASSWORD}},
    f"POST {DESK}/teams/organizers/{{user_id}}/remove": lambda _: {"data": {"password": PASSWORD}},
    f"POST {DESK}/teams/{{team_id}}/members/{{user_id}}/password-link": lambda _: {
        "data": {"password": PASSWORD}
    },
}
"""What is sent with a request, from the ``Stage``."""
PLACES: dict[str, Callable[[Any], dict[str, Any]]] = {
    f"GET {DESK}/phases/{{name}}/{{act}}": lambda _: {"act": "pause"},
    f"POST {DESK}/phases/{{name}}/{{act}}": lambda _: {"act": "extend"},
    f"GET {DESK}/submissions/{{submission_id}}/{{act}}": lambda _: {"act": "disqualify"},
    f"GET {DESK}/teams/{{team_id}}/{{act}}": lambda _: {"act": "disqualify"},
    f"POST {DESK}/teams/invites/{{invite_id}}/withdraw": an_invite,
    f"POST {DESK}/teams/organizers/{{user_id}}/remove": an_organizer,
    f"POST {DESK}/teams/{{team_id}}/members/{{user_id}}/password-link": a_member,
    f"POST {DESK}/baselines/{{team_id}}/remove": a_baseline,
}
"""What the names in a path stand for, where the stage's own do not do."""
