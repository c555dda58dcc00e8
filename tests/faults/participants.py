"""Participants of a running contest: team members and readers."""

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from random import Random

from tests.faults.calls import Caller, CallRecorder
from tests.faults.ledger import Ledger, LedgerUpload, build_guess, build_release, make_malformed

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
                with closing(self.calls.create_caller(Random(f"{self.seed} {name}"), token)) as caller:
                    act(self, caller)
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
    seed: int
    number: int = 0

    def __call__(self, run: FaultRun, caller: Caller) -> None:
        while not run.has_ended.is_set():
            phase = caller.request("GET", f"/competitions/{self.ledger.slug}").json()["state"]
            if phase == "anonymization":
                self.anonymize(caller)
            elif phase == "reidentification":
                self.attack(caller)
            run.pause(caller.random)

    def next_seed(self) -> int:
        self.number += 1
        return self.seed * 10_000 + self.number

    def anonymize(self, caller: Caller) -> None:
        chance = caller.random.random()
        if chance < 0.65:
            self.send(caller, build_release(self.ledger, self.team, self.next_seed()))
        elif chance < 0.72:
            self.send(caller, make_malformed(build_release(self.ledger, self.team, self.next_seed())))
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
        candidates = [
            upload for upload in self.ledger.list_accepted("release", self.team) if upload.cancelled == "no"
        ]
        if not candidates:
            return
        chosen_upload = caller.random.choice(candidates[-2:])
        chosen_upload.cancelled = "asked"
        answer = caller.request("POST", f"/submissions/{chosen_upload.id}/cancel")
        # A repeated call may be refused because an earlier try has cancelled it.
        chosen_upload.cancelled = "yes" if answer.status == 200 else "asked" if answer.lost_tries else "no"

    def mark_final(self, caller: Caller) -> None:
        candidates = [
            upload for upload in self.ledger.list_accepted("release", self.team) if upload.final_mark == "no"
        ]
        if not candidates:
            return
        chosen_upload = caller.random.choice(candidates)
        chosen_upload.final_mark = "asked"
        answer = caller.request(
            "PUT", f"/submissions/{chosen_upload.id}/final", json={"final": True}, hang_up_rate=HANG_UP_RATE
        )
        chosen_upload.final_mark = "yes" if answer.status == 200 else "asked" if answer.lost_tries else "no"

    def read_targets(self, caller: Caller) -> dict[str, dict[str, object]]:
        """Return the targets by commitment; none before they are published."""
        answer = caller.request("GET", f"/competitions/{self.ledger.slug}/targets")
        return {target["commitment"]: target for target in answer.json()} if answer.status == 200 else {}

    def attack(self, caller: Caller) -> None:
        releases = {
            upload.receipt["commitment"]: upload
            for upload in self.ledger.list_accepted("release")
            if upload.receipt
        }
        open_targets = [
            candidate for candidate in self.read_targets(caller).values() if candidate["guesses_left"]
        ]
        if not open_targets:
            return
        target = caller.random.choice(open_targets)
        if caller.random.random() < 0.15:
            self.download(caller, target)
        victim = releases[str(target["commitment"])]
        upload_to_send = build_guess(self.team, self.next_seed(), victim, target_id=str(target["id"]))
        self.send(caller, make_malformed(upload_to_send) if caller.random.random() < 0.1 else upload_to_send)

    def download(self, caller: Caller, target: dict[str, object]) -> None:
        caller.request("GET", f"/targets/{target['id']}/data/anonymized.csv")
        caller.request("GET", f"/competitions/{self.ledger.slug}/targets.zip")


@dataclass
class PublicReader:
    """Somebody who reads public pages all the time and counts the reads."""

    slugs: list[str]
    reads: int = 0

    def __call__(self, run: FaultRun, caller: Caller) -> None:
        while not run.has_ended.is_set():
            slug = caller.random.choice(self.slugs)
            board = caller.random.choice(BOARDS) + caller.random.choice(("", ".csv"))
            chance = caller.random.random()
            if chance < 0.7:
                caller.request("GET", f"/competitions/{slug}/boards/{board}")
            elif chance < 0.85:
                caller.request("GET", "/competitions")
            else:
                caller.request("GET", f"/competitions/{slug}/kit.zip")
            self.reads += 1
            run.pause(caller.random, (0.1, 0.8))
