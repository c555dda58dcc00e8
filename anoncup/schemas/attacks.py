"""Schemas of targets and guesses."""

from typing import Annotated

from pydantic import Field

from anoncup.schemas.fields import Digest, Digests, Entered, Form, Id, Rows, TeamName, example
from anoncup.schemas.notices import FailureFields, Notice
from anoncup.schemas.problems import WrongInFile
from anoncup.schemas.verdicts import GuessOutcome


class ManifestEntry(Form):
    name: Annotated[str, Field(description="T and a random number"), example("T07")]
    team: Annotated[
        str | None,
        Field(description="the team of the release; null while the competition hides it"),
        example("Red"),
    ]
    rows: Annotated[Rows, Field(description="number of individuals, which is the number of lines of a guess")]
    files: Annotated[Digests, Field(description="SHA-256 of each file")]
    commitment: Annotated[Digest, Field(description="SHA-256 of the salt followed by the secret file")]


class Target(ManifestEntry):
    id: Id
    own: bool
    withdrawn: Annotated[
        bool, Field(description="whether it was withdrawn by a disqualification; guesses on it do not count")
    ]
    guesses_left: Annotated[
        int | None, Field(description="guesses left for all questions together"), example(2)
    ]
    guesses_left_by_question: Annotated[dict[str, int] | None, example({"link": 2})]


class Manifest(Form):
    sha256: Annotated[Digest, Field(description="SHA-256 of `MANIFEST`, which every targets.zip contains")]
    targets: list[ManifestEntry]


class RevealedTarget(ManifestEntry):
    id: Annotated[Id, Field(description="`GET /targets/{id}/secret` returns the secret file to everybody")]
    team: TeamName
    submission_id: Id
    salt: Annotated[
        str,
        Field(
            description="in hexadecimal; the commitment is SHA-256 of the salt followed by the secret file"
        ),
        example("5f2b8c0e91d74a36"),
    ]
    secret_sha256: Digest


class GuessReceipt(Form):
    id: Id
    target_id: Id
    status: Annotated[str, example("QUEUED")]
    received_at: Entered
    answered: Annotated[int, Field(description="number of rows with an answer"), example(41)]
    guesses_left: Annotated[
        int, Field(description="guesses left for this target and question after this guess"), example(2)
    ]
    question: Annotated[str, Field(description="the question that the guess answers"), example("link")]


class CheckedGuess(Form):
    """A guess that would be accepted as it is."""

    question: Annotated[str, Field(description="the question that the guess answers"), example("link")]
    answered: Annotated[int, Field(description="number of rows with an answer"), example(41)]
    warnings: list[Notice]


class Guess(GuessReceipt, FailureFields):
    status: Annotated[str, example("SCORED")]
    target: Annotated[str, example("T07")]
    rows: Rows
    correct: Annotated[
        int | None,
        Field(description="null while the competition hides scores, and if it is not a whole number"),
        example(9),
    ]
    rate: Annotated[float | None, example(0.18)]
    outcome: Annotated[GuessOutcome | None, Field(description="the result; null while it is hidden")]
    errors: Annotated[
        list[WrongInFile],
        Field(description="for a REFUSED guess, the first problems that only judging could find"),
        example([]),
    ]
    total: Annotated[int, Field(description="number of problems of a REFUSED guess"), example(0)]
