"""The ledger of the contest's people: their uploads and the responses to them."""

import threading
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import uuid4

import numpy as np
import pandas as pd

from anoncup.geometry.arrays import IntArray
from anoncup.tables.csv_text import write_csv
from anoncup.tracks.linkage.permutation import write_guess, write_secret
from tests.faults.calls import RetriedResponse

ROWS = 120
NOISE_LEVELS = (5, 20, 40, 600)
"""Bounds of the noise added to incomes; the last makes a release excessive."""

Kind = Literal["release", "guess"]
Change = Literal["no", "asked", "yes"]


@dataclass
class LedgerUpload:
    """A release or a guess under its idempotency key. ``rows``: the secret, or the answers of the guess."""

    kind: Kind
    team: str
    path: str
    """The URL path that receives it."""
    files: dict[str, bytes]
    rows: IntArray
    is_malformed: bool = False
    target: str | None = None
    """The commitment of the release that a guess attacks."""
    key: str = field(default_factory=lambda: str(uuid4()))
    failed_tries: int = 0
    receipt: dict[str, Any] | None = None
    refusal: tuple[int, str] | None = None
    cancelled: Change = "no"
    final_mark: Change = "no"

    @property
    def id(self) -> str:
        assert self.receipt is not None
        return str(self.receipt["id"])

    @property
    def commitment(self) -> str:
        assert self.receipt is not None
        return str(self.receipt["commitment"])

    @property
    def parts(self) -> dict[str, tuple[str, bytes]]:
        return {name: (f"{name}.csv", content) for name, content in self.files.items()}

    def record_answer(self, answer: RetriedResponse) -> None:
        self.failed_tries += answer.failed_tries
        if answer.status == 202:
            self.receipt, self.refusal = answer.json(), None
        else:
            self.refusal = (answer.status, answer.code)


@dataclass
class Ledger:
    """The ledger of one competition, shared by its people."""

    slug: str
    organizer: str
    """The organizer's token; ``tokens`` has one for each team, in order of creation."""
    tokens: dict[str, str]
    original: pd.DataFrame
    rules: str
    """The competition file in force at the end."""
    uploads: list[LedgerUpload] = field(default_factory=list)
    errors: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Team and reason of everything that ended in ERROR. Submissions are then scored again."""
    reports: int = 0
    disqualified: set[str] = field(default_factory=set)
    rescore_state: Literal["no", "begun", "yes"] = "no"
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, upload: LedgerUpload) -> None:
        with self.lock:
            self.uploads.append(upload)

    def list_sent(self, kind: Kind, team: str | None = None) -> list[LedgerUpload]:
        with self.lock:
            uploads = list(self.uploads)
        return [upload for upload in uploads if upload.kind == kind and team in (None, upload.team)]

    def find_victim(self, guess: LedgerUpload) -> LedgerUpload:
        """Return the release that a guess attacks."""
        return self.list_releases_by_commitment()[str(guess.target)]

    def list_releases_by_commitment(self) -> dict[str, LedgerUpload]:
        return {upload.commitment: upload for upload in self.list_accepted("release")}

    def list_accepted(self, kind: Kind, team: str | None = None) -> list[LedgerUpload]:
        """Return the uploads for which the team has a receipt."""
        return [upload for upload in self.list_sent(kind, team) if upload.receipt is not None]


def build_release(ledger: Ledger, team: str, seed: int) -> LedgerUpload:
    """Build a shuffled copy of the original with noise, and its secret."""
    table = ledger.original
    rng = np.random.default_rng(seed)
    source = rng.permutation(len(table))
    release_table = table.iloc[source].reset_index(drop=True)
    noise = NOISE_LEVELS[int(rng.choice(len(NOISE_LEVELS), p=(0.3, 0.3, 0.25, 0.15)))]
    release_table["income"] += rng.integers(-noise, noise + 1, len(table))
    files = {"anonymized": write_csv(release_table), "secret": write_secret(source)}
    return LedgerUpload("release", team, f"/competitions/{ledger.slug}/submissions", files, source)


def make_malformed(upload: LedgerUpload) -> LedgerUpload:
    """Put a non-numeric cell into a release, or a nonexistent row into a guess."""
    name = "anonymized" if upload.kind == "release" else "guess"
    lines = upload.files[name].splitlines()
    lines[7] = lines[7].rpartition(b",")[0] + b",many" if upload.kind == "release" else b"99999"
    upload.files[name] = b"\n".join([*lines, b""])
    upload.is_malformed = True
    return upload


def build_guess(team: str, seed: int, victim: LedgerUpload, *, target_id: str) -> LedgerUpload:
    """Build a guess that is right on some rows, wrong on five, and empty on the rest.

    No two consecutive rows are right, so that a guess contains no run of a canary.
    """
    rng = np.random.default_rng(seed)
    answers = np.full(len(victim.rows), -1)
    even_rows = np.arange(0, len(answers), 2)
    correct_rows = even_rows[rng.random(len(even_rows)) < rng.random() * 0.8]
    answers[correct_rows] = victim.rows[correct_rows]
    wrong_rows = np.arange(1, len(answers), 2)[:5]
    answers[wrong_rows] = (victim.rows[wrong_rows] + 1) % len(answers)
    files, path = {"guess": write_guess(answers)}, f"/targets/{target_id}/guesses"
    return LedgerUpload("guess", team, path, files, answers, target=victim.commitment)
