"""What may be attacked, and the guesses on it."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from app.wire.form import Form
from app.wire.said import Failed


class Target(Form):
    id: UUID
    name: Annotated[str, Field(description="opaque: it says nothing of the team")]
    rows: Annotated[int, Field(description="individuals: lines of a guess")]
    files: Annotated[dict[str, str], Field(description="SHA-256 of each file")]
    commitment: Annotated[str, Field(description="SHA-256 of the salt, then the secret file")]
    own: bool
    withdrawn: Annotated[bool, Field(description="disqualified; its guesses do not count")]
    team: Annotated[str | None, Field(description="null until the reveal, but on one's own")]
    guesses_left: int | None
    owners: Annotated[
        int | None,
        Field(
            description="of how many teams it could be for all that is published; null where its owner is "
            "shown, after the reveal, and if it is withdrawn"
        ),
    ]


class ManifestEntry(Form):
    name: str
    rows: int
    files: dict[str, str]
    commitment: str


class Manifest(Form):
    sha256: Annotated[str, Field(description="of `MANIFEST`, as every targets.zip contains it")]
    targets: list[ManifestEntry]


class Revealed(ManifestEntry):
    team: str
    submission_id: UUID
    salt: Annotated[str, Field(description="hexadecimal; SHA-256(salt + secret file) is the commitment")]
    secret_sha256: str


class GuessReceipt(Form):
    id: UUID
    target_id: UUID
    status: str
    received_at: Annotated[
        datetime, Field(description="when it entered, before its body was read: what counts for the deadline")
    ]
    answered: Annotated[int, Field(description="rows on which it does not abstain")]
    guesses_left: Annotated[int, Field(description="for this target, right after this guess")]


class Guess(GuessReceipt, Failed):
    target: str
    rows: int
    correct: Annotated[int | None, Field(description="null while the competition hides scores")]
    rate: float | None
