"""Competitions of a run with their organizers, who move deadlines, disqualify and re-score."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx2

from anoncup.tables.csv_text import write_csv
from tests.faults.calls import PATIENCE_S, Caller, CallRecorder
from tests.faults.ledger import ROWS, Ledger
from tests.faults.participants import FaultRun, TeamMember, read_publicly
from tests.support.arena import PASSWORD, Arena, build_competition_toml, build_original_table
from tests.support.contest import SECOND_PHASE

MIN_REMAINING_S = 900
"""The end of an open phase is moved away when less time than this is left."""
OPEN_PHASE_S = 6 * 3600
"""Remaining time of a phase that stays open; long enough for the final checks on a slow machine."""
MIN_PHASE_S = 60
MIN_RELEASES = 10
"""A phase stays open at least until this time has passed and there are so many releases."""
LAST_S = 15
"""Remaining time of a phase that may end."""
MAX_REPORTS = 4
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


@dataclass(frozen=True, slots=True)
class ContestPlan:
    """A competition, its teams, and the shares of all faults after which its phases may end (above 1: never)."""

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
        plan.slug, extra_toml=extra_rules, opens=-1, closes=MIN_REMAINING_S / 86_400
    )
    ends = (now + timedelta(seconds=seconds) for seconds in (MIN_REMAINING_S + 1, 2 * MIN_REMAINING_S))
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


@dataclass
class ContestOrganizer:
    """An organizer, who acts at random until the run ends."""

    ledger: Ledger
    plan: ContestPlan
    phases_seen_at: dict[str, datetime] = field(default_factory=dict)

    def __call__(self, run: FaultRun, caller: Caller) -> None:
        while not run.has_ended.is_set():
            competition = caller.request("GET", f"/competitions/{self.ledger.slug}").json()
            self.move_ends(run, caller, competition)
            self.rescore_failed(caller)
            if competition["state"] == "anonymization":
                self.do_random_task(run, caller)
            elif competition["state"] == "reidentification":
                self.disqualify_at_random(caller)
            run.pause(caller.random, (0.5, 3.0))

    @property
    def path(self) -> str:
        return f"/competitions/{self.ledger.slug}"

    def move_ends(self, run: FaultRun, caller: Caller, competition: dict[str, Any]) -> None:
        """Keep the end of the open phase far away, and move it near once the phase may end."""
        now = datetime.now(UTC)
        for phase in competition["phases"]:
            name, start, end = phase["name"], *map(datetime.fromisoformat, (phase["start"], phase["end"]))
            if not start <= now < end:
                continue
            remaining_s, may_end = (end - now).total_seconds(), self.may_end(run, name, now)
            if remaining_s > 2 * LAST_S if may_end else remaining_s < MIN_REMAINING_S:
                new_end = now + timedelta(seconds=LAST_S if may_end else OPEN_PHASE_S)
                body = {"end": new_end.isoformat(), "move_following": True}
                caller.request("POST", f"{self.path}/phases/{name}/extend", json=body)

    def may_end(self, run: FaultRun, phase: str, now: datetime) -> bool:
        first_seen_at = self.phases_seen_at.setdefault(phase, now)
        return (
            run.fault_share >= self.plan.end_shares[phase]
            and now >= first_seen_at + timedelta(seconds=MIN_PHASE_S)
            and len(self.ledger.list_accepted("release")) >= MIN_RELEASES
            and not (phase == "anonymization" and self.is_rescoring)
        )

    @property
    def is_rescoring(self) -> bool:
        return self.plan.has_rescore and self.ledger.rescore_state != "yes"

    def rescore_failed(self, caller: Caller) -> None:
        """Score submissions in ERROR again, as the service promises."""
        answer = caller.request("GET", f"{self.path}/submissions/all", params={"state": "ERROR"})
        for submission in answer.json():
            self.ledger.errors[f"{submission['id']} {submission['finished_at']}"] = (
                submission["team"],
                str(submission["failure"]),
            )
            caller.request("POST", f"/submissions/{submission['id']}/rescore")

    def do_random_task(self, run: FaultRun, caller: Caller) -> None:
        chance = caller.random.random()
        if chance < 0.1 and self.ledger.reports < MAX_REPORTS:
            self.ledger.reports += 1
            caller.request("POST", f"{self.path}/threshold-reports", json={"draws": 20})
        elif chance < 0.2:
            caller.request("GET", f"{self.path}/export.zip")
        elif self.is_rescoring and run.fault_share > self.plan.end_shares["anonymization"] / 2:
            self.advance_rescore(caller)

    def advance_rescore(self, caller: Caller) -> None:
        """Begin a re-score set, or apply it when ready; cancel a failed one, which is then begun again."""
        rescores = [
            row for row in caller.request("GET", f"{self.path}/rescores").json() if not row["cancelled_at"]
        ]
        if not rescores:
            self.ledger.rescore_state = "begun"
            caller.request("POST", f"{self.path}/rescores", content=self.read_changed_rules(caller))
            return
        (rescore,) = rescores
        if rescore["state"] == "ready":
            answer = caller.request("POST", f"/rescores/{rescore['id']}/apply")
            if answer.code == "rescore_failed":
                caller.request("POST", f"/rescores/{rescore['id']}/cancel")
        elif rescore["state"] == "applied":
            self.ledger.rescore_state = "yes"

    def read_changed_rules(self, caller: Caller) -> bytes:
        text = caller.request("GET", f"{self.path}/competition.toml").response.text
        assert "threshold = 0.2\n" in text
        return text.replace("threshold = 0.2\n", "threshold = 0.1\n").encode()

    def disqualify_at_random(self, caller: Caller) -> None:
        """Disqualify one submission; later disqualify and reinstate another one."""
        disqualified = self.ledger.disqualified
        if len(disqualified) < 2 and caller.random.random() < 0.1:
            submission_id = caller.random.choice(self.ledger.list_accepted("release")).id
            caller.request("POST", f"/submissions/{submission_id}/disqualify")
            if disqualified:
                caller.request("POST", f"/submissions/{submission_id}/reinstate")
            disqualified.add(submission_id)


def start_everybody(run: FaultRun, ledgers: list[Ledger]) -> None:
    """Start the threads of all organizers, members and readers."""
    for plan, ledger in zip(PLANS, ledgers, strict=True):
        run.start(f"organizer of {plan.slug}", ContestOrganizer(ledger, plan), ledger.organizer)
        for position, (team, token) in enumerate(ledger.tokens.items()):
            # The first two teams have two members each, who act at once.
            for member in range(2 if position < 2 else 1):
                run.start(f"{plan.slug} {team} {member}", TeamMember(ledger, team), token)
    tokens = [None, ledgers[0].organizer, next(iter(ledgers[0].tokens.values()))]
    for number, reader_token in enumerate(tokens):
        read = partial(read_publicly, [ledger.slug for ledger in ledgers])
        run.start(f"reader {number}", read, reader_token)
