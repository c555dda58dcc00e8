"""Schemas of targets and guesses."""

from typing import Annotated

from anoncup.schemas.fields import Digest, Digests, Entered, Form, Id, Rows, TeamName, example
from anoncup.schemas.notices import FailureFields, Notice, WrongInFile
from anoncup.schemas.verdicts import GuessOutcome


class ManifestEntry(Form):
    name: Annotated[str, example("T07")]
    """T and a random number"""
    team: Annotated[str | None, example("Red")]
    """the team of the release; null while the competition hides it"""
    rows: Rows
    """number of individuals, which is the number of lines of a guess"""
    files: Digests
    """SHA-256 of each file"""
    commitment: Digest
    """SHA-256 of the salt followed by the secret file"""


class Target(ManifestEntry):
    id: Id
    own: bool
    withdrawn: bool
    """whether it was withdrawn by a disqualification; guesses on it do not count"""
    guesses_left: Annotated[int | None, example(2)]
    """guesses left for all questions together"""
    guesses_left_by_question: Annotated[dict[str, int] | None, example({"link": 2})]


class Manifest(Form):
    sha256: Digest
    """SHA-256 of `MANIFEST`, which every targets.zip contains"""
    targets: list[ManifestEntry]


class RevealedTarget(ManifestEntry):
    id: Id
    """`GET /targets/{id}/secret` returns the secret file to everybody"""
    team: TeamName
    submission_id: Id
    salt: Annotated[str, example("5f2b8c0e91d74a36")]
    """in hexadecimal; the commitment is SHA-256 of the salt followed by the secret file"""
    secret_sha256: Digest


class GuessReceipt(Form):
    id: Id
    target_id: Id
    status: Annotated[str, example("QUEUED")]
    received_at: Entered
    answered: Annotated[int, example(41)]
    """number of rows with an answer"""
    guesses_left: Annotated[int, example(2)]
    """guesses left for this target and question after this guess"""
    question: Annotated[str, example("link")]
    """the question that the guess answers"""


class CheckedGuess(Form):
    """A guess that would be accepted as it is."""

    question: Annotated[str, example("link")]
    """the question that the guess answers"""
    answered: Annotated[int, example(41)]
    """number of rows with an answer"""
    warnings: list[Notice]


class Guess(GuessReceipt, FailureFields):
    status: Annotated[str, example("SCORED")]
    target: Annotated[str, example("T07")]
    rows: Rows
    correct: Annotated[int | None, example(9)]
    """null while the competition hides scores, and if it is not a whole number"""
    rate: Annotated[float | None, example(0.18)]
    outcome: GuessOutcome | None
    """the result; null while it is hidden"""
    errors: Annotated[list[WrongInFile], example([])]
    """for a REFUSED guess, the first problems that only judging could find"""
    total: Annotated[int, example(0)]
    """number of problems of a REFUSED guess"""
