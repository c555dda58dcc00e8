"""The content and the path parameters with which allowed requests of each route succeed."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from sqlalchemy import select

from anoncup.schemas.fields import Role
from anoncup.tables.csv_text import write_csv
from app.clarifications.models import Clarification
from app.competitions import competitions
from app.core import wheels
from app.core.db.models import Adjustment, Competition, Guess, Rescore, Team, ThresholdReport
from app.core.db.transaction import transaction
from app.core.identity.users import create_user
from app.teams import invites
from tests.security.access_table import DESK
from tests.support import accounts
from tests.support.arena import (
    API,
    PASSWORD,
    ROWS,
    Arena,
    build_competition_toml,
    build_noisy_release,
    serial_numbers,
)
from tests.support.contest import run_clock

if TYPE_CHECKING:
    from tests.security.access_scenario import AccessScenario

Content = dict[str, Any]

_SECOND_CONTEST_PATHS = ("/targets", "/targets.zip", "/manifest", "/reveal", "/guesses")


def create_person(role: Role = Role.PARTICIPANT) -> str:
    with transaction() as session:
        return create_user(session, name=f"person {next(serial_numbers)}", password=PASSWORD, role=role).name


def build_newcomer() -> dict[str, str]:
    """Return the fields of a sign-up with a new team."""
    number = next(serial_numbers)
    return {"team": f"team {number}", "name": f"person {number}", "password": PASSWORD}


def create_invite(scenario: "AccessScenario") -> str:
    return accounts.create_invite(scenario.arena)


def create_other_invite(scenario: "AccessScenario") -> str:
    """Return an invite to a competition that nobody in the scenario has joined."""
    return accounts.create_invite(Arena.create(scenario.arena.client, slug=f"join-{next(serial_numbers)}"))


def create_password_code(scenario: "AccessScenario") -> str:
    token = scenario.create_token("administrator")
    response = scenario.arena.post("/users/password-links", token=token, json={"name": create_person()})
    return str(response.json()["code"])


def create_participant(scenario: "AccessScenario") -> str:
    """Return the name of a new member of a team of the competition."""
    newcomer = build_newcomer()
    accounts.sign_up(scenario.arena.client, create_invite(scenario), **newcomer)
    return newcomer["name"]


def build_upload(scenario: "AccessScenario") -> Content:
    """Build a new release for each request."""
    table, secret = build_noisy_release(next(serial_numbers), scenario.arena.table)
    return {"files": {"anonymized": ("a.csv", table), "secret": ("s.csv", secret)}}


def build_baseline(scenario: "AccessScenario") -> Content:
    return build_upload(scenario) | {"data": {"name": f"baseline {next(serial_numbers)}"}}


def build_guess(_: "AccessScenario") -> Content:
    return {"files": {"guess": ("g.csv", b"original_row\n" + b"0\n" * ROWS)}}


def record_heartbeat(_: "AccessScenario") -> Content:
    run_clock()
    return {}


def set_method_description(scenario: "AccessScenario") -> Content:
    """Give the own team a method description."""
    with transaction() as session:
        session.get_one(Team, scenario.load_submission().team_id).method_description = "Noise."
    return {}


def build_new_competition(_: "AccessScenario") -> Content:
    days = {"anonymization_start": "10T09:00", "anonymization_end": "20T09:00"}
    fields = {
        "start": "2015",
        "slug": f"page-{next(serial_numbers)}",
        "title_en": "A cup",
        "zone": "Asia/Tokyo",
    }
    return {"data": fields | {name: f"2031-01-{day}" for name, day in days.items()}}


def build_unchanged_file(scenario: "AccessScenario") -> Content:
    with transaction() as session:
        file = competitions.find(session, None, scenario.arena.slug).competition.file
    return {"data": {"text": file, "do": "compare"}}


def build_changed_columns(scenario: "AccessScenario") -> Content:
    with transaction() as session:
        digest = competitions.find(session, None, scenario.arena.slug).original["original"]
    roles = ("quasi_identifiers", "quasi_identifiers", "quasi_identifiers", "sensitive")
    return {"data": {"of": digest} | {f"role_{position}": role for position, role in enumerate(roles)}}


def send_form(**fields: str) -> Callable[["AccessScenario"], Content]:
    return lambda _: {"data": fields}


def send_json(**body: Any) -> Callable[["AccessScenario"], Content]:
    return lambda _: {"json": body}


confirm = send_form(password=PASSWORD)
withdraw = send_form(reason="two accounts", password=PASSWORD)

CONTENT: dict[str, Callable[["AccessScenario"], Content]] = {
    "POST /api/v1/signup": lambda scenario: {"json": build_newcomer() | {"invite": create_invite(scenario)}},
    "POST /api/v1/join": lambda scenario: {
        "json": {"invite": create_other_invite(scenario), "team": "newcomers"}
    },
    "POST /api/v1/password": lambda scenario: {
        "json": {"code": create_password_code(scenario), "password": PASSWORD}
    },
    "PUT /api/v1/me/password": send_json(old=PASSWORD, new=PASSWORD),
    "POST /api/v1/users": lambda _: {"json": {"name": f"person {next(serial_numbers)}", "role": "organizer"}},
    "PUT /api/v1/users/{user_id}/role": send_json(role="organizer"),
    "POST /api/v1/users/password-links": lambda scenario: {"json": {"name": create_participant(scenario)}},
    "POST /api/v1/competitions/{slug}/team/invites": send_json(),
    "POST /api/v1/competitions/{slug}/organizers": lambda _: {
        "json": {"name": create_person(Role.ORGANIZER)}
    },
    "POST /api/v1/tokens": lambda _: {"json": {"name": create_person(), "password": PASSWORD}},
    "POST /api/v1/competitions": lambda _: {
        "content": build_competition_toml(f"made-{next(serial_numbers)}")
    },
    "PUT /api/v1/competitions/{slug}/competition.toml": lambda scenario: {
        "content": build_competition_toml(scenario.arena.slug)
    },
    "PUT /api/v1/competitions/{slug}/original/{file}": lambda scenario: {
        "content": write_csv(scenario.arena.table)
    },
    "POST /api/v1/competitions/{slug}/invites": send_json(),
    "POST /api/v1/competitions/{slug}/submissions": build_upload,
    "POST /api/v1/competitions/{slug}/submissions/check": build_upload,
    "POST /api/v1/competitions/{slug}/grants": lambda scenario: {
        "json": {"team_id": str(scenario.load_submission().team_id), "cap": "valid_total", "amount": 1}
    },
    "POST /api/v1/competitions/{slug}/adjustments": lambda scenario: {
        "json": {"team_id": str(scenario.load_submission().team_id), "points": -1.5, "reason": "late"}
    },
    "POST /api/v1/competitions/{slug}/phases/{name}/extend": lambda _: {
        "json": {"end": (datetime.now(UTC) + timedelta(days=3)).isoformat()}
    },
    "POST /api/v1/competitions/{slug}/rescores": lambda scenario: {
        "content": build_competition_toml(scenario.arena.slug, threshold=0.1)
    },
    "POST /api/v1/competitions/{slug}/threshold-reports": send_json(draws=0),
    "POST /api/v1/competitions/{slug}/baselines": build_baseline,
    "POST /api/v1/targets/{target_id}/guesses": build_guess,
    "POST /api/v1/targets/{target_id}/guesses/check": build_guess,
    "PUT /api/v1/submissions/{submission_id}/final": send_json(final=True),
    "DELETE /api/v1/competitions/{slug}/teams/{team_id}/method": set_method_description,
    "PUT /api/v1/competitions/{slug}/team/method": send_json(method_description="Noise."),
    "POST /api/v1/competitions/{slug}/clarifications": send_json(question="How many rows?"),
    "PUT /api/v1/clarifications/{clarification_id}/answer": send_json(answer="As many."),
    "POST /api/v1/competitions/{slug}/announcements": send_json(text={"en": "Hello"}),
    "GET /readyz": record_heartbeat,
    "POST /competitions/{slug}/clarifications": send_form(question="How many rows?"),
    "POST /sign-in": lambda _: {"data": {"name": create_person(), "password": PASSWORD}},
    "POST /sign-up": lambda scenario: {
        "params": {"invite": create_invite(scenario)},
        "data": build_newcomer(),
    },
    "GET /join": lambda scenario: {"params": {"invite": create_other_invite(scenario)}},
    "POST /join": lambda scenario: {
        "params": {"invite": create_other_invite(scenario)},
        "data": {"team": "newcomers"},
    },
    "POST /password": lambda scenario: {
        "params": {"code": create_password_code(scenario)},
        "data": {"password": PASSWORD},
    },
    "POST /account/tokens": send_form(name="laptop", scopes="read", days="30", password=PASSWORD),
    "POST /account/identities/{provider}": confirm,
    "POST /account/close": confirm,
    "POST /people": lambda _: {
        "data": {"name": f"person {next(serial_numbers)}", "role": "organizer", "password": PASSWORD}
    },
    "POST /people/{user_id}/role": send_form(new_role="organizer", password=PASSWORD),
    "POST /people/password-link": lambda _: {"data": {"person": create_person(), "password": PASSWORD}},
    "POST /account/password": send_form(old=PASSWORD, new=PASSWORD),
    "POST /competitions/{slug}/team/invites": send_form(uses="2", password=PASSWORD),
    "POST /competitions/{slug}/submissions": build_upload,
    "POST /competitions/{slug}/submissions/check": build_upload,
    "POST /submissions/{submission_id}/final": send_form(final="true"),
    "POST /targets/{target_id}/guesses": build_guess,
    "POST /targets/{target_id}/guesses/check": build_guess,
    "POST /organize/new": build_new_competition,
    f"POST {DESK}/threshold/reports": send_form(groups="sex", bits="20", draws="0"),
    f"POST {DESK}/file": build_unchanged_file,
    f"POST {DESK}/file/preview": build_unchanged_file,
    f"POST {DESK}/original/{{file}}": lambda _: {
        "files": {"table": ("t.csv", b"sex,age,income,rent\nf,1,2,3\n")}
    },
    f"POST {DESK}/original/{{file}}/import": send_form(held="0" * 64),
    f"POST {DESK}/data": build_changed_columns,
    f"POST {DESK}/phases/{{name}}/extend": send_form(end="2099-01-01T09:00"),
    f"POST {DESK}/submissions/{{submission_id}}/{{act}}": withdraw,
    f"POST {DESK}/teams/{{team_id}}/{{act}}": withdraw,
    f"POST {DESK}/rescores": lambda scenario: {
        "data": {"file": build_competition_toml(scenario.arena.slug, threshold=0.1)}
    },
    f"POST {DESK}/teams/organizers": lambda _: {
        "data": {"name": create_person(Role.ORGANIZER), "password": PASSWORD}
    },
    f"POST {DESK}/teams/{{team_id}}/grants": send_form(cap="valid_total", amount="1"),
    f"POST {DESK}/teams/{{team_id}}/adjustments": send_form(points="-1.5", reason="late", password=PASSWORD),
    f"POST {DESK}/baselines": lambda _: {
        "data": {"method": "add_noise", "name": f"baseline {next(serial_numbers)}"}
    },
    f"POST {DESK}/teams/{{team_id}}/method": set_method_description,
    f"POST {DESK}/clarifications/{{clarification_id}}": send_form(text="As many."),
    f"POST {DESK}/announcements": send_form(en="Hello"),
    f"POST {DESK}/announcements/{{announcement_id}}/withdraw": confirm,
    f"POST {DESK}/baselines/{{team_id}}/remove": confirm,
    f"POST {DESK}/teams/organizers/{{user_id}}/remove": confirm,
    f"POST {DESK}/teams/{{team_id}}/members/{{user_id}}/password-link": confirm,
    f"POST {DESK}/teams/{{team_id}}/members/{{user_id}}/move": lambda scenario: {
        "data": {"to": str(scenario.load_submission().team_id), "password": PASSWORD}
    },
}
"""Content with which allowed requests succeed; others must be refused before it is read."""


def find_token(scenario: "AccessScenario", _: str) -> str:
    """Return the id of a token of the own team."""
    tokens = scenario.arena.get("/tokens", token=scenario.create_token("own team")).json()
    return next(str(row["id"]) for row in tokens if row["current"])


def add_user(scenario: "AccessScenario", route: str) -> str:
    """Add an organizer or a member of the own team. Each new, since the request may remove them.

    Only administrators may reset passwords of people in several contests.
    """
    path = f"/competitions/{scenario.arena.slug}"
    if "/organizers" in route:
        response = scenario.arena.post(f"{path}/organizers", json={"name": create_person(Role.ORGANIZER)})
    else:
        token = scenario.create_token("own team")
        code = scenario.arena.post(f"{path}/team/invites", token=token, json={}).json()["code"]
        response = accounts.sign_up(scenario.arena.client, code, team=None)
    return str(response.json()["user_id"])


def create_invite_row(scenario: "AccessScenario", _: str) -> UUID:
    invite_id = uuid4()
    with transaction() as session:
        competition = session.scalars(select(Competition).filter_by(slug=scenario.arena.slug)).one()
        invites.insert_invite(session, competition.id, uses=1, invite_id=invite_id)
    return invite_id


def find_team(scenario: "AccessScenario", route: str) -> str:
    """Return the own team, or a new baseline where the request removes it."""
    if f"{DESK}/baselines" in route:
        path = f"/competitions/{scenario.arena.slug}/baselines"
        return str(scenario.arena.post(path, **build_baseline(scenario)).json()["team_id"])
    return str(scenario.load_submission().team_id)


def find_rescore(_: "AccessScenario", __: str) -> UUID:
    with transaction() as session:
        latest_id = session.scalar(select(Rescore.id).order_by(Rescore.created_at.desc()).limit(1))
        return latest_id or UUID(int=0)


def create_report(scenario: "AccessScenario", _: str) -> UUID:
    """Add a report of the competition that no worker has made yet."""
    with transaction() as session:
        row = competitions.find(session, None, scenario.arena.slug)
        user = scenario.users["organizer"]
        report = ThresholdReport(
            round_id=row.id, user_id=user, file=row.file, original=row.original, question={"groups": []}
        )
        session.add(report)
        session.flush()
        return report.id


def create_announcement(scenario: "AccessScenario", _: str) -> str:
    """Create an announcement each time, since allowed audiences withdraw it."""
    path = f"/competitions/{scenario.arena.slug}/announcements"
    return str(scenario.arena.post(path, json={"text": {"en": "Hello"}}).json()["id"])


def create_clarification(scenario: "AccessScenario", _: str) -> UUID:
    """Add a question of the own team."""
    submission = scenario.load_submission()
    with transaction() as session:
        clarification = Clarification(
            competition_id=session.get_one(Team, submission.team_id).competition_id,
            team_id=submission.team_id,
            user_id=submission.user_id,
            question="How many rows?",
        )
        session.add(clarification)
        session.flush()
        return clarification.id


def create_adjustment(scenario: "AccessScenario", _: str) -> UUID:
    """Give the own team a penalty."""
    submission = scenario.load_submission()
    with transaction() as session:
        adjustment = Adjustment(
            round_id=submission.round_id, team_id=submission.team_id, points=-1.0, reason="late"
        )
        session.add(adjustment)
        session.flush()
        return adjustment.id


def find_guess(scenario: "AccessScenario", _: str) -> str:
    """Return a guess of the other team, which sends one if it has sent none."""
    with transaction() as session:
        guess_id = session.scalar(select(Guess.id).limit(1))
    if guess_id is not None:
        return str(guess_id)
    headers = {"Authorization": f"Bearer {scenario.create_token('other team')}"}
    path = f"{API}/targets/{scenario.target_id}/guesses"
    return str(scenario.arena.client.post(path, headers=headers, **build_guess(scenario)).json()["id"])


def choose_slug(scenario: "AccessScenario", route: str) -> str:
    return (scenario.second_contest.arena if route.endswith(_SECOND_CONTEST_PATHS) else scenario.arena).slug


def choose_file(_: "AccessScenario", route: str) -> str:
    if "downloads" in route:
        return wheels.pack_library().file
    return "original.csv" if "original" in route else "anonymized.csv"


def choose_act(_: "AccessScenario", route: str) -> str:
    return "pause" if "/phases" in route else "disqualify"


PATH_PARAMS: dict[str, Callable[["AccessScenario", str], Any]] = {
    "slug": choose_slug,
    "name": lambda _, __: "anonymization",
    "act": choose_act,
    "digest": lambda _, __: wheels.pack_library().path.split("/")[2],
    "file": choose_file,
    "path": lambda _, route: "site.css" if "static" in route else "",
    "provider": lambda _, __: "lab",
    "submission_id": lambda scenario, _: scenario.submission_id,
    "target_id": lambda scenario, _: scenario.target_id,
    "team_id": find_team,
    "user_id": add_user,
    "token_id": find_token,
    "invite_id": create_invite_row,
    "rescore_id": find_rescore,
    "report_id": create_report,
    "announcement_id": create_announcement,
    "adjustment_id": create_adjustment,
    "clarification_id": create_clarification,
    "guess_id": find_guess,
}
"""The values of path parameters, which may depend on the route."""
