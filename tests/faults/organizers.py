"""Organizers of a running contest: they move deadlines, disqualify and re-score."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.faults.calls import Caller
from tests.faults.ledger import Ledger
from tests.faults.participants import FaultRun

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


@dataclass
class ContestOrganizer:
    """``end_shares``: the share of all faults after which a phase may end; above 1 it stays open."""

    ledger: Ledger
    end_shares: dict[str, float]
    has_rescore: bool = False
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
            run.fault_share >= self.end_shares[phase]
            and now >= first_seen_at + timedelta(seconds=MIN_PHASE_S)
            and len(self.ledger.list_accepted("release")) >= MIN_RELEASES
            and not (phase == "anonymization" and self.is_rescoring)
        )

    @property
    def is_rescoring(self) -> bool:
        return self.has_rescore and self.ledger.rescore_state != "yes"

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
        elif self.is_rescoring and run.fault_share > self.end_shares["anonymization"] / 2:
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
