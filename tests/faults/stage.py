"""The contest before anything breaks: accounts, two competitions with deadlines of their own, teams."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from anoncup.schemas.roles import Role
from anoncup.tables.csv_text import table_csv
from app.cli.service_access import create_user
from tests.faults.calls import Calls
from tests.faults.ground import Ground
from tests.faults.ledger import Ledger, data
from tests.faults.organizers import Organizer
from tests.faults.people import Member, Play, Reader
from tests.support.arena import PASSWORD, competition_file
from tests.support.contest import SECOND

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
FIRST_S = 75
"""Seconds of each phase unless its end is moved."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One competition: its teams, and the shares of all faults after which its phases may end."""

    slug: str
    teams: tuple[str, ...]
    first: float
    second: float
    feedback: str
    rescores: bool


PLANS = (
    Plan("cup", ("red", '緑の"組", ok', "=1+1", "blue", "Ａｂ"), 0.45, 0.85, "hidden", rescores=True),
    # Still open at the end: what is seen before the reveal is looked at there.
    Plan("side", ("north", "south", "east"), 0.25, 2.0, "immediate", rescores=False),
)


def file_of(plan: Plan, *, valid: int) -> str:
    now = datetime.now(UTC)
    more = LIMITS.format(valid=valid, attempts=3 * valid, feedback=plan.feedback)
    first = competition_file(plan.slug, more=more, opens=-1, closes=FIRST_S / 86_400)
    ends = (now + timedelta(seconds=seconds) for seconds in (FIRST_S + 1, 2 * FIRST_S))
    start, end = (moment.isoformat() for moment in ends)
    return first + SECOND.format(start=start, end=end)


def opened(ground: Ground, calls: Calls, plan: Plan, *, valid: int) -> Ledger:
    """The competition with its data and its teams, through the interface."""
    name = f"organizer of {plan.slug}"
    create_user(ground.data, name=name, password=PASSWORD, role=Role.ORGANIZER)
    caller = calls.caller(Random(plan.slug))
    body: dict[str, str] = {"name": name, "password": PASSWORD}
    organizer = str(caller.ask("POST", "/tokens", json=body).json()["token"])
    caller.token = organizer
    table = data()
    made = caller.ask("POST", "/competitions", content=file_of(plan, valid=valid))
    assert made.status == 201, made.response.text
    path = f"/competitions/{plan.slug}"
    put = caller.ask("PUT", f"{path}/original/original.csv", content=table_csv(table))
    assert put.status == 200, put.response.text
    tokens = {}
    for team in plan.teams:
        code = caller.ask("POST", f"{path}/invites", json={}).json()["code"]
        body = {"invite": code, "team": team, "name": f"member of {team}", "password": PASSWORD}
        tokens[team] = str(caller.ask("POST", "/signup", json=body).json()["token"])
    rules = caller.ask("GET", f"{path}/competition.toml").response.text
    caller.close()
    calls.canaries.plant_word(PASSWORD, "a password")
    for token in (organizer, *tokens.values()):
        calls.canaries.plant_word(token, "a token")
    return Ledger(plan.slug, organizer, tokens, table, rules)


def begin(play: Play, ledgers: list[Ledger]) -> list[Reader]:
    """Everybody acts from here on."""
    for number, (plan, ledger) in enumerate(zip(PLANS, ledgers, strict=True)):
        until = {"anonymization": plan.first, "reidentification": plan.second}
        organizer = Organizer(ledger, until, rescores=plan.rescores)
        play.start(f"organizer of {plan.slug}", organizer, ledger.organizer)
        for place, (team, token) in enumerate(ledger.tokens.items()):
            # The first two teams have two members each, who act at once.
            for member in range(2 if place < 2 else 1):
                seed = ((play.seed * 10 + number) * 10 + place) * 10 + member
                play.start(f"{plan.slug} {team} {member}", Member(ledger, team, seed), token)
    slugs = [ledger.slug for ledger in ledgers]
    tokens = [None, ledgers[0].organizer, *list(ledgers[0].tokens.values())[:1]]
    readers = [Reader(slugs) for _ in tokens]
    for number, (reader, its) in enumerate(zip(readers, tokens, strict=True)):
        play.start(f"reader {number}", reader, its)
    return readers
