"""Participants of a running contest: team members and readers."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.faults.calls import Caller, CallRecorder, RetriedResponse
from tests.faults.ledger import Change, Ledger, LedgerUpload, build_guess, build_release, make_malformed

PAUSE_S = (0.2, 2.0)
QUOTA_PAUSE_S = (1.0, 6.0)
HANG_UP_RATE = 0.08
BOARDS = ("anonymization", "reidentification", "matrix")


@dataclass
class FaultRun:
    """Threads and progress of a run. ``fault_share``: share of the faults already injected, from 0 to 1."""

    seed: int
    calls: CallRecorder
    has_ended: threading.Event = field(default_factory=threading.Event)
    fault_share: float = 0.0
    failures: list[str] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    def start(self, name: str, act: Callable[["FaultRun", Caller], None], token: str | None) -> None:
        """Let somebody act in a thread until the run ends."""

        def run() -> None:
            try:
                act(self, Caller(self.calls, Random(f"{self.seed} {name}"), token))
            except BaseException as error:
                self.failures.append(f"{name}: {type(error).__name__}: {error}")
                raise

        thread = threading.Thread(target=run, name=name, daemon=True)
        self.threads.append(thread)
        thread.start()

    def pause(self, random: Random, bounds_s: tuple[float, float] = PAUSE_S) -> None:
        self.has_ended.wait(random.uniform(*bounds_s))


@dataclass
class TeamMember:
    """A member of a team, who acts at random until the run ends."""

    ledger: Ledger
    team: str

    def __call__(self, run: FaultRun, caller: Caller) -> None:
        while not run.has_ended.is_set():
            phase = caller.request("GET", f"/competitions/{self.ledger.slug}").json()["state"]
            if phase == "anonymization":
                self.anonymize(caller)
            elif phase == "reidentification":
                self.attack(caller)
            run.pause(caller.random)

    def anonymize(self, caller: Caller) -> None:
        release = build_release(self.ledger, self.team, caller.random.getrandbits(32))
        chance = caller.random.random()
        if chance < 0.65:
            self.send(caller, release)
        elif chance < 0.72:
            self.send(caller, make_malformed(release))
        elif chance < 0.8:
            self.cancel(caller)
        elif chance < 0.9:
            self.mark_final(caller)
        else:
            caller.request("GET", f"/competitions/{self.ledger.slug}/quota")

    def send(self, caller: Caller, upload: LedgerUpload) -> None:
        """Enter an upload into the ledger, then send it."""
        if upload.kind == "release":
            caller.calls.canaries.plant(f"{self.team} {upload.key}", upload.rows)
        self.ledger.add(upload)
        answer = caller.request(
            "POST", upload.path, key=upload.key, hang_up_rate=HANG_UP_RATE, files=upload.parts
        )
        upload.record_answer(answer)
        if answer.status == 429:
            time.sleep(caller.random.uniform(*QUOTA_PAUSE_S))

    def cancel(self, caller: Caller) -> None:
        candidates = [upload for upload in self.list_accepted() if upload.cancelled == "no"]
        if candidates:
            upload = caller.random.choice(candidates[-2:])
            upload.cancelled = "asked"
            answer = caller.request("POST", f"/submissions/{upload.id}/cancel")
            upload.cancelled = judge_change(answer)

    def mark_final(self, caller: Caller) -> None:
        candidates = [upload for upload in self.list_accepted() if upload.final_mark == "no"]
        if candidates:
            upload = caller.random.choice(candidates)
            upload.final_mark = "asked"
            path, body = f"/submissions/{upload.id}/final", {"final": True}
            answer = caller.request("PUT", path, json=body, hang_up_rate=HANG_UP_RATE)
            upload.final_mark = judge_change(answer)

    def list_accepted(self) -> list[LedgerUpload]:
        return self.ledger.list_accepted("release", self.team)

    def list_targets(self, caller: Caller) -> list[dict[str, Any]]:
        """Return the targets; none before they are published."""
        answer = caller.request("GET", f"/competitions/{self.ledger.slug}/targets")
        return list(answer.json()) if answer.status == 200 else []

    def attack(self, caller: Caller) -> None:
        open_targets = [target for target in self.list_targets(caller) if target["guesses_left"]]
        if not open_targets:
            return
        target = caller.random.choice(open_targets)
        if caller.random.random() < 0.15:
            caller.request("GET", f"/targets/{target['id']}/data/anonymized.csv")
            caller.request("GET", f"/competitions/{self.ledger.slug}/targets.zip")
        victim = self.ledger.list_releases_by_commitment()[target["commitment"]]
        guess = build_guess(self.team, caller.random.getrandbits(32), victim, target_id=target["id"])
        self.send(caller, make_malformed(guess) if caller.random.random() < 0.1 else guess)


def judge_change(answer: RetriedResponse) -> Change:
    """Return whether a change was made. A repeated call may be refused because an earlier try made it."""
    return "yes" if answer.status == 200 else "asked" if answer.failed_tries else "no"


def read_publicly(slugs: list[str], run: FaultRun, caller: Caller) -> None:
    """Read public pages until the run ends."""
    while not run.has_ended.is_set():
        path = f"/competitions/{caller.random.choice(slugs)}"
        board = caller.random.choice(BOARDS) + caller.random.choice(("", ".csv"))
        pages = [f"{path}/boards/{board}", "/competitions", f"{path}/kit.zip"]
        caller.request("GET", *caller.random.choices(pages, (14, 3, 3)))
        run.pause(caller.random, (0.1, 0.8))
