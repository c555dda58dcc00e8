"""What the people of the contest know: what they sent, and what they were told of it."""

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

import numpy as np
import pandas as pd

from anoncup.geometry.arrays import IntArray
from anoncup.tables.csv_text import table_csv
from anoncup.tracks.linkage.permutation import guess_csv, secret_csv
from tests.faults.calls import Answer
from tests.support.arena import original_table

ROWS = 120
NOISE = (5, 20, 40, 600)
"""What is added to incomes; the last is excessive."""

Kind = Literal["release", "guess"]


@dataclass
class Upload:
    """A release or a guess under its key. ``rows``: the release's secret, or what the guess says."""

    kind: Kind
    team: str
    path: str
    """Where it is sent."""
    files: dict[str, bytes]
    rows: IntArray
    malformed: bool = False
    target: str | None = None
    """The commitment of what a guess is on, which names the victim's release."""
    key: str = field(default_factory=lambda: str(uuid4()))
    lost: int = 0
    put_off: int = 0
    receipt: dict[str, Any] | None = None
    refusal: tuple[int, str] | None = None
    refused_at: datetime | None = None
    cancelled: Literal["no", "asked", "yes"] = "no"
    marked: Literal["no", "asked", "yes"] = "no"

    @property
    def id(self) -> str:
        assert self.receipt is not None
        return str(self.receipt["id"])

    @property
    def parts(self) -> dict[str, tuple[str, bytes]]:
        return {name: (f"{name}.csv", content) for name, content in self.files.items()}

    def answered(self, answer: Answer) -> None:
        self.lost += answer.lost
        self.put_off += answer.put_off
        if answer.status == 202:
            self.receipt, self.refusal = answer.json(), None
        else:
            self.refusal, self.refused_at = (answer.status, answer.code), datetime.now(UTC)


@dataclass
class Ledger:
    """One competition's, shared by its people."""

    slug: str
    organizer: str
    """A token; so are the values of ``tokens``, by team in the order in which they were founded."""
    tokens: dict[str, str]
    original: pd.DataFrame
    rules: str
    """The competition file by which everything counts in the end."""
    uploads: list[Upload] = field(default_factory=list)
    errors: dict[str, tuple[str, str]] = field(default_factory=dict)
    """What was seen to end in ERROR: whose, and why. Submissions are then scored again."""
    reports: int = 0
    disqualified: set[str] = field(default_factory=set)
    rescored: Literal["no", "begun", "yes"] = "no"
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, upload: Upload) -> None:
        with self.lock:
            self.uploads.append(upload)

    def sent(self, kind: Kind, team: str | None = None) -> list[Upload]:
        with self.lock:
            known = list(self.uploads)
        return [each for each in known if each.kind == kind and team in (None, each.team)]

    def taken(self, kind: Kind, team: str | None = None) -> list[Upload]:
        """What the team holds a receipt of."""
        return [each for each in self.sent(kind, team) if each.receipt is not None]


def release(ledger: Ledger, team: str, seed: int) -> Upload:
    """A shuffled copy with noise, and its secret."""
    table = ledger.original
    rng = np.random.default_rng(seed)
    source = rng.permutation(len(table))
    released = table.iloc[source].reset_index(drop=True)
    noise = NOISE[int(rng.choice(len(NOISE), p=(0.3, 0.3, 0.25, 0.15)))]
    released["income"] += rng.integers(-noise, noise + 1, len(table))
    files = {"anonymized": table_csv(released), "secret": secret_csv(source)}
    return Upload("release", team, f"/competitions/{ledger.slug}/submissions", files, source)


def malformed(upload: Upload) -> Upload:
    """The same with a cell that is no number, or a guess of a row that is none."""
    name = "anonymized" if upload.kind == "release" else "guess"
    lines = upload.files[name].splitlines()
    lines[7] = lines[7].rpartition(b",")[0] + b",many" if upload.kind == "release" else b"99999"
    upload.files[name] = b"\n".join([*lines, b""])
    upload.malformed = True
    return upload


def guess(team: str, seed: int, victim: Upload, *, target_id: str) -> Upload:
    """Right on some rows, wrong on others, silent on the rest; never right on two rows that follow."""
    rng = np.random.default_rng(seed)
    said = np.full(len(victim.rows), -1)
    even = np.arange(0, len(said), 2)
    right = even[rng.random(len(even)) < rng.random() * 0.8]
    said[right] = victim.rows[right]
    wrong = np.arange(1, len(said), 2)[:5]
    said[wrong] = (victim.rows[wrong] + 1) % len(said)
    commitment = victim.receipt["commitment"] if victim.receipt else None
    path = f"/targets/{target_id}/guesses"
    return Upload("guess", team, path, {"guess": guess_csv(said)}, said, target=commitment)


def data() -> pd.DataFrame:
    return original_table(ROWS)
