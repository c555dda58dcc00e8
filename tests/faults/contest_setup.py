"""Set up the contest before any fault: accounts, two competitions and their teams."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from anoncup.schemas.roles import Role
from anoncup.tables.csv_text import write_csv
from app.operations.service_access import create_user
from tests.faults.calls import CallRecorder
from tests.faults.installation import ServiceInstallation
from tests.faults.ledger import Ledger, build_original
from tests.faults.organizers import MIN_REMAINING_S, ContestOrganizer
from tests.faults.participants import FaultRun, PublicReader, TeamMember
from tests.support.arena import PASSWORD, build_competition_toml
from tests.support.contest import SECOND_PHASE

LIMITS = """
[limits]
valid_per_day = 1000
valid_total = {valid}
attempts_per_day = 1000
attempts_total = {attempts}
guesses_per_target = 3
[publication]
feedback = "{feedback}"
reveal_notice_hours = 0
"""
PHASE_S = MIN_REMAINING_S
"""Seconds until each phase ends, unless an organizer moves its end: longer than the set-up takes."""


@dataclass(frozen=True, slots=True)
class ContestPlan:
    """A competition, its teams, and the shares of all faults after which its phases may end."""

    slug: str
    teams: tuple[str, ...]
    first_phase_share: float
    second_phase_share: float
    feedback: str
    has_rescore: bool


PLANS = (
    ContestPlan(
        "cup", ("red", '緑の"組", ok', "=1+1", "blue", "Ａｂ"), 0.45, 0.85, "hidden", has_rescore=True
    ),
    # Still open at the end: here the final checks see the state before the reveal.
    ContestPlan("side", ("north", "south", "east"), 0.25, 2.0, "immediate", has_rescore=False),
)


def build_competition_file(plan: ContestPlan, *, valid: int) -> str:
    now = datetime.now(UTC)
    extra_rules = LIMITS.format(valid=valid, attempts=3 * valid, feedback=plan.feedback)
    first_phase_text = build_competition_toml(
        plan.slug, extra_toml=extra_rules, opens=-1, closes=PHASE_S / 86_400
    )
    ends = (now + timedelta(seconds=seconds) for seconds in (PHASE_S + 1, 2 * PHASE_S))
    start, end = (moment.isoformat() for moment in ends)
    return first_phase_text + SECOND_PHASE.format(start=start, end=end)


def open_competition(
    installation: ServiceInstallation, calls: CallRecorder, plan: ContestPlan, *, valid: int
) -> Ledger:
    """Create a competition with its data and teams through the API."""
    name = f"organizer of {plan.slug}"
    create_user(installation.data, name=name, password=PASSWORD, role=Role.ORGANIZER)
    caller = calls.create_caller(Random(plan.slug))
    body: dict[str, str] = {"name": name, "password": PASSWORD}
    organizer = str(caller.request("POST", "/tokens", json=body).json()["token"])
    caller.token = organizer
    table = build_original()
    creation = caller.request("POST", "/competitions", content=build_competition_file(plan, valid=valid))
    assert creation.status == 201, creation.response.text
    path = f"/competitions/{plan.slug}"
    upload = caller.request("PUT", f"{path}/original/original.csv", content=write_csv(table))
    assert upload.status == 200, upload.response.text
    tokens = {}
    for team in plan.teams:
        code = caller.request("POST", f"{path}/invites", json={}).json()["code"]
        body = {"invite": code, "team": team, "name": f"member of {team}", "password": PASSWORD}
        tokens[team] = str(caller.request("POST", "/signup", json=body).json()["token"])
    rules = caller.request("GET", f"{path}/competition.toml").response.text
    caller.close()
    calls.canaries.plant_word(PASSWORD, "a password")
    for token in (organizer, *tokens.values()):
        calls.canaries.plant_word(token, "a token")
    return Ledger(plan.slug, organizer, tokens, table, rules)


def start_everybody(run: FaultRun, ledgers: list[Ledger]) -> list[PublicReader]:
    """Start the threads of all organizers, members and readers."""
    for number, (plan, ledger) in enumerate(zip(PLANS, ledgers, strict=True)):
        end_shares = {"anonymization": plan.first_phase_share, "reidentification": plan.second_phase_share}
        organizer = ContestOrganizer(ledger, end_shares, has_rescore=plan.has_rescore)
        run.start(f"organizer of {plan.slug}", organizer, ledger.organizer)
        for position, (team, token) in enumerate(ledger.tokens.items()):
            # The first two teams have two members each, who act at once.
            for member in range(2 if position < 2 else 1):
                seed = ((run.seed * 10 + number) * 10 + position) * 10 + member
                run.start(f"{plan.slug} {team} {member}", TeamMember(ledger, team, seed), token)
    slugs = [ledger.slug for ledger in ledgers]
    tokens = [None, ledgers[0].organizer, *list(ledgers[0].tokens.values())[:1]]
    readers = [PublicReader(slugs) for _ in tokens]
    for number, (reader, reader_token) in enumerate(zip(readers, tokens, strict=True)):
        run.start(f"reader {number}", reader, reader_token)
    return readers
