"""The people of the contest while it is played: teams, readers."""

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from random import Random

from tests.faults.calls import Caller, Calls
from tests.faults.ledger import Ledger, Upload, guess, malformed, release

PAUSE_S = (0.2, 2.0)
USED_UP_S = (1.0, 6.0)
HASTY = 0.08
BOARDS = ("anonymization", "reidentification", "matrix")


@dataclass
class Play:
    """How far the play is. ``share``: of all faults that have happened, from 0 to 1."""

    seed: int
    calls: Calls
    over: threading.Event = field(default_factory=threading.Event)
    share: float = 0.0
    failed: list[str] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    def start(self, name: str, act: Callable[["Play", Caller], None], token: str | None) -> None:
        """Let somebody act until the play is over."""

        def run() -> None:
            try:
                with closing(self.calls.caller(Random(f"{self.seed} {name}"), token)) as caller:
                    act(self, caller)
            except BaseException as problem:
                self.failed.append(f"{name}: {type(problem).__name__}: {problem}")
                raise

        thread = threading.Thread(target=run, name=name, daemon=True)
        self.threads.append(thread)
        thread.start()

    def pause(self, random: Random, between: tuple[float, float] = PAUSE_S) -> None:
        self.over.wait(random.uniform(*between))


@dataclass
class Member:
    """Somebody of a team, who acts at random until there is nothing more to do."""

    ledger: Ledger
    team: str
    seed: int
    number: int = 0

    def __call__(self, play: Play, caller: Caller) -> None:
        while not play.over.is_set():
            phase = caller.ask("GET", f"/competitions/{self.ledger.slug}").json()["state"]
            if phase == "anonymization":
                self.anonymize(caller)
            elif phase == "reidentification":
                self.attack(caller)
            play.pause(caller.random)

    def next_seed(self) -> int:
        self.number += 1
        return self.seed * 10_000 + self.number

    def anonymize(self, caller: Caller) -> None:
        drawn = caller.random.random()
        if drawn < 0.65:
            self.send(caller, release(self.ledger, self.team, self.next_seed()))
        elif drawn < 0.72:
            self.send(caller, malformed(release(self.ledger, self.team, self.next_seed())))
        elif drawn < 0.8:
            self.cancel(caller)
        elif drawn < 0.9:
            self.mark(caller)
        else:
            caller.ask("GET", f"/competitions/{self.ledger.slug}/quota")

    def send(self, caller: Caller, upload: Upload) -> None:
        """Known to the ledger before it is on its way."""
        if upload.kind == "release":
            caller.calls.canaries.plant(f"{self.team} {upload.key}", upload.rows)
        self.ledger.add(upload)
        answer = caller.ask("POST", upload.path, key=upload.key, hasty=HASTY, files=upload.parts)
        upload.answered(answer)
        if answer.status == 429:
            time.sleep(caller.random.uniform(*USED_UP_S))

    def cancel(self, caller: Caller) -> None:
        mine = [each for each in self.ledger.taken("release", self.team) if each.cancelled == "no"]
        if not mine:
            return
        upload = caller.random.choice(mine[-2:])
        upload.cancelled = "asked"
        answer = caller.ask("POST", f"/submissions/{upload.id}/cancel")
        # A repeated call may be told that it is cancelled already.
        upload.cancelled = "yes" if answer.status == 200 else "asked" if answer.lost else "no"

    def mark(self, caller: Caller) -> None:
        mine = [each for each in self.ledger.taken("release", self.team) if each.marked == "no"]
        if not mine:
            return
        upload = caller.random.choice(mine)
        upload.marked = "asked"
        answer = caller.ask("PUT", f"/submissions/{upload.id}/final", json={"final": True}, hasty=HASTY)
        upload.marked = "yes" if answer.status == 200 else "asked" if answer.lost else "no"

    def targets(self, caller: Caller) -> dict[str, dict[str, object]]:
        """Those of the competition by their commitment; none before they are published."""
        answer = caller.ask("GET", f"/competitions/{self.ledger.slug}/targets")
        return {one["commitment"]: one for one in answer.json()} if answer.status == 200 else {}

    def attack(self, caller: Caller) -> None:
        known = {each.receipt["commitment"]: each for each in self.ledger.taken("release") if each.receipt}
        open_ones = [one for one in self.targets(caller).values() if one["guesses_left"]]
        if not open_ones:
            return
        target = caller.random.choice(open_ones)
        if caller.random.random() < 0.15:
            self.download(caller, target)
        victim = known[str(target["commitment"])]
        made = guess(self.team, self.next_seed(), victim, target_id=str(target["id"]))
        self.send(caller, malformed(made) if caller.random.random() < 0.1 else made)

    def download(self, caller: Caller, target: dict[str, object]) -> None:
        caller.ask("GET", f"/targets/{target['id']}/data/anonymized.csv")
        caller.ask("GET", f"/competitions/{self.ledger.slug}/targets.zip")


@dataclass
class Reader:
    """Somebody who looks at everything that may be looked at, all the time; ``reads``: how often."""

    slugs: list[str]
    reads: int = 0

    def __call__(self, play: Play, caller: Caller) -> None:
        while not play.over.is_set():
            slug = caller.random.choice(self.slugs)
            board = caller.random.choice(BOARDS) + caller.random.choice(("", ".csv"))
            drawn = caller.random.random()
            if drawn < 0.7:
                caller.ask("GET", f"/competitions/{slug}/boards/{board}")
            elif drawn < 0.85:
                caller.ask("GET", "/competitions")
            else:
                caller.ask("GET", f"/competitions/{slug}/kit.zip")
            self.reads += 1
            play.pause(caller.random, (0.1, 0.8))
