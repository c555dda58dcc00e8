"""Set up the contest before any fault: accounts, two competitions and their teams."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx2

from anoncup.tables.csv_text import write_csv
from tests.faults.calls import PATIENCE_S, CallRecorder
from tests.faults.ledger import ROWS, Ledger
from tests.faults.organizers import MIN_REMAINING_S, ContestOrganizer
from tests.faults.participants import FaultRun, TeamMember, read_publicly
from tests.support.arena import PASSWORD, Arena, build_competition_toml, build_original_table
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
    end_shares: dict[str, float]
    feedback: str
    has_rescore: bool


PLANS = (
    ContestPlan(
        "cup",
        ("red", '緑の"組", ok', "=1+1", "blue", "Ａｂ"),
        {"anonymization": 0.45, "reidentification": 0.85},
        "hidden",
        has_rescore=True,
    ),
    # Still open at the end: here the final checks see the state before the reveal.
    ContestPlan(
        "side",
        ("north", "south", "east"),
        {"anonymization": 0.25, "reidentification": 2.0},
        "immediate",
        has_rescore=False,
    ),
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


def open_competition(calls: CallRecorder, plan: ContestPlan, *, valid: int) -> Ledger:
    """Create a competition with its data and teams through the API."""
    client: Any = httpx2.Client(base_url=calls.url, trust_env=False, timeout=PATIENCE_S)
    table, file = build_original_table(ROWS), build_competition_file(plan, valid=valid)
    arena = Arena.create(client, slug=plan.slug, file=file, original={"original": write_csv(table)})
    tokens = {team: arena.get_team_token(team) for team in plan.teams}
    calls.canaries.plant_word(PASSWORD, "a password")
    for token in (arena.organizer_token, *tokens.values()):
        calls.canaries.plant_word(token, "a token")
    rules = arena.get(f"/competitions/{plan.slug}/competition.toml").text
    return Ledger(plan.slug, arena.organizer_token, tokens, table, rules)


def start_everybody(run: FaultRun, ledgers: list[Ledger]) -> None:
    """Start the threads of all organizers, members and readers."""
    for plan, ledger in zip(PLANS, ledgers, strict=True):
        organizer = ContestOrganizer(ledger, plan.end_shares, has_rescore=plan.has_rescore)
        run.start(f"organizer of {plan.slug}", organizer, ledger.organizer)
        for position, (team, token) in enumerate(ledger.tokens.items()):
            # The first two teams have two members each, who act at once.
            for member in range(2 if position < 2 else 1):
                run.start(f"{plan.slug} {team} {member}", TeamMember(ledger, team), token)
    tokens = [None, ledgers[0].organizer, next(iter(ledgers[0].tokens.values()))]
    for number, reader_token in enumerate(tokens):
        read = partial(read_publicly, [ledger.slug for ledger in ledgers])
        run.start(f"reader {number}", read, reader_token)
