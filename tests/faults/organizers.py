"""The organizers while their contest is played: they move deadlines, grant, ask, rule and re-score."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.faults.calls import Caller
from tests.faults.ledger import Ledger
from tests.faults.people import Play

REACH_S = 60
"""An end nearer than this is moved away by as much while the phase is to go on."""
OPEN_S = 6 * 3600
"""What is to be open at the very end is not closed by a machine that takes its time to look."""
REPORTS = 4


@dataclass
class Organizer:
    """``until``: the share of all faults after which a phase may end by itself; above 1 it stays open."""

    ledger: Ledger
    until: dict[str, float]
    rescores: bool = False
    rescore: str | None = None
    granted: bool = False

    def __call__(self, play: Play, caller: Caller) -> None:
        while not play.over.is_set():
            found = caller.ask("GET", f"/competitions/{self.ledger.slug}").json()
            self.hold_open(play, caller, found)
            self.have_failed_ones_scored(caller)
            if found["state"] == "anonymization":
                self.look_after(play, caller)
            elif found["state"] == "reidentification":
                self.rule(caller)
            play.pause(caller.random, (0.5, 3.0))

    @property
    def path(self) -> str:
        return f"/competitions/{self.ledger.slug}"

    def hold_open(self, play: Play, caller: Caller, found: dict[str, Any]) -> None:
        now = datetime.now(UTC)
        for phase in found["phases"]:
            name, start, end = (phase["name"], *map(moment, (phase["start"], phase["end"])))
            wanted = play.share < self.until[name] or (name == "anonymization" and self.is_rescoring)
            if wanted and start <= now < end and end < now + timedelta(seconds=REACH_S):
                away = 1.5 * REACH_S if self.until[name] <= 1 else OPEN_S
                later = (now + timedelta(seconds=away)).isoformat()
                body = {"end": later, "move_following": True}
                caller.ask("POST", f"{self.path}/phases/{name}/extend", json=body)

    @property
    def is_rescoring(self) -> bool:
        return self.rescores and self.ledger.rescored != "yes"

    def have_failed_ones_scored(self, caller: Caller) -> None:
        """What ended by our fault is scored again, as the contest promises."""
        answer = caller.ask("GET", f"{self.path}/submissions/all", params={"state": "ERROR"})
        for one in answer.json():
            self.ledger.errors[f"{one['id']} {one['finished_at']}"] = (one["team"], str(one["failure"]))
            caller.ask("POST", f"/submissions/{one['id']}/rescore")

    def look_after(self, play: Play, caller: Caller) -> None:
        drawn = caller.random.random()
        if drawn < 0.1 and self.ledger.reports < REPORTS:
            self.ledger.reports += 1
            caller.ask("POST", f"{self.path}/threshold-reports", json={"draws": 20})
        elif drawn < 0.2 and not self.granted:
            self.granted = True
            team = caller.ask("GET", f"{self.path}/teams").json()[0]
            body = {"team_id": team["id"], "cap": "valid_total", "amount": 2}
            caller.ask("POST", f"{self.path}/grants", json=body)
        elif drawn < 0.3:
            caller.ask("GET", f"{self.path}/export.zip")
        elif self.is_rescoring and play.share > self.until["anonymization"] / 2:
            self.score_by_other_rules(caller)

    def score_by_other_rules(self, caller: Caller) -> None:
        """Begin a set, wait for it, apply it; one that has lost a submission is dropped and begun again."""
        found = [one for one in caller.ask("GET", f"{self.path}/rescores").json() if not one["cancelled_at"]]
        if not found:
            self.ledger.rescored = "begun"
            caller.ask("POST", f"{self.path}/rescores", content=self.other_rules(caller))
            return
        (rescore,) = found
        if rescore["state"] == "ready":
            answer = caller.ask("POST", f"/rescores/{rescore['id']}/apply")
            if answer.code == "rescore_failed":
                caller.ask("POST", f"/rescores/{rescore['id']}/cancel")
        elif rescore["state"] == "applied":
            self.ledger.rescored = "yes"

    def other_rules(self, caller: Caller) -> bytes:
        text = caller.ask("GET", f"{self.path}/competition.toml").response.text
        assert "threshold = 0.2\n" in text
        return text.replace("threshold = 0.2\n", "threshold = 0.1\n").encode()

    def rule(self, caller: Caller) -> None:
        """Disqualify one submission, and reinstate another one later."""
        taken = self.ledger.taken("release")
        drawn = caller.random.random()
        if drawn < 0.1 and not self.ledger.disqualified:
            chosen = caller.random.choice(taken).id
            self.ledger.disqualified.add(chosen)
            caller.ask("POST", f"/submissions/{chosen}/disqualify")
        elif drawn < 0.2 and len(self.ledger.disqualified) == 1:
            other = caller.random.choice(taken).id
            self.ledger.disqualified.add(other)
            caller.ask("POST", f"/submissions/{other}/disqualify")
            caller.ask("POST", f"/submissions/{other}/reinstate")


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
