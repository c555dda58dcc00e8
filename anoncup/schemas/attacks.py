"""Schemas of targets and guesses."""

from typing import Annotated

from pydantic import Field

from anoncup.schemas.fields import Digest, Digests, Entered, Form, Id, Moment, Rows, TeamName, example
from anoncup.schemas.notices import FailureFields, Notice
from anoncup.schemas.problems import WrongInFile
from anoncup.schemas.verdicts import GuessOutcome


class ManifestEntry(Form):
    name: Annotated[str, Field(description="T and a number drawn by lot"), example("T07")]
    team: Annotated[
        str | None,
        Field(description="the team that made it; null while the competition hides it"),
        example("Red"),
    ]
    rows: Annotated[Rows, Field(description="individuals: lines of a guess")]
    files: Annotated[Digests, Field(description="SHA-256 of each file")]
    commitment: Annotated[Digest, Field(description="SHA-256 of the salt, then the secret file")]


class Target(ManifestEntry):
    id: Id
    own: bool
    withdrawn: Annotated[bool, Field(description="disqualified; its guesses do not count")]
    published_at: Annotated[Moment | None, Field(description="null: its files are being written")]
    retired_at: Annotated[
        Moment | None, Field(description="when a newer release of its team replaced it, if targets are live")
    ]
    guesses_left: Annotated[int | None, Field(description="of all questions together"), example(2)]
    guesses_left_by_question: Annotated[dict[str, int] | None, example({"link": 2})]


class Manifest(Form):
    sha256: Annotated[Digest, Field(description="of `MANIFEST`, as every targets.zip contains it")]
    targets: list[ManifestEntry]


class RevealedTarget(ManifestEntry):
    team: TeamName
    submission_id: Id
    salt: Annotated[
        str,
        Field(description="hexadecimal; SHA-256(salt + secret file) is the commitment"),
        example("5f2b8c0e91d74a36"),
    ]
    secret_sha256: Digest


class GuessReceipt(Form):
    id: Id
    target_id: Id
    status: Annotated[str, example("QUEUED")]
    received_at: Entered
    answered: Annotated[int, Field(description="rows on which it does not abstain"), example(41)]
    guesses_left: Annotated[
        int, Field(description="for this target and question, right after this guess"), example(2)
    ]
    question: Annotated[str, Field(description="what it answers"), example("link")]


class CheckedGuess(Form):
    """A guess that would be accepted as it is."""

    question: Annotated[str, Field(description="what it answers"), example("link")]
    answered: Annotated[int, Field(description="rows on which it does not abstain"), example(41)]
    warnings: list[Notice]


class Guess(GuessReceipt, FailureFields):
    status: Annotated[str, example("SCORED")]
    target: Annotated[str, example("T07")]
    rows: Rows
    correct: Annotated[
        int | None,
        Field(description="null while the competition hides scores, and where it is no whole number"),
        example(9),
    ]
    rate: Annotated[float | None, example(0.18)]
    outcome: Annotated[GuessOutcome | None, Field(description="what it came to; null while that is hidden")]
    errors: Annotated[
        list[WrongInFile],
        Field(description="why it is REFUSED: the first faults that only judging could find"),
        example([]),
    ]
    total: Annotated[int, Field(description="number of faults of a guess that is REFUSED"), example(0)]
