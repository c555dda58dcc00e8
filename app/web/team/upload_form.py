"""What a team has to send: the files of the track, as the form and the check in the browser know them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from app.contest import Contest
from app.errors import (
    Conflict,
    InvalidInput,
    InvalidUpload,
    NotAllowed,
    TooLarge,
    TooMany,
    Unavailable,
    Unreadable,
)
from app.http.intake import At, Made, Way, take_in
from app.http.problems import Refused
from app.scoring.files import MAX_ROWS, SECRET
from app.scoring.registry import Track
from app.scoring.rules import Rules
from app.scoring.settings import rows_required
from app.services.data import samples
from app.services.data.samples import Sample
from app.services.people.accounts import Principal

REFUSALS = (Conflict, InvalidInput, InvalidUpload, NotAllowed, TooLarge, TooMany, Unavailable, Unreadable)
"""Why an upload may come back with its form; what else is wrong is a page of its own."""
SECRET_SAMPLES = (
    Sample(("original_row",), (("3",), ("1",), ("2",))),
    Sample(("anonymized_row",), (("2",), ("3",), ("1",))),
)


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a release: its columns, first rows, and how many rows it may have.

    ``required``: with fewer rows the rules of the contest reject it. ``individuals``: its rows are those that
    the secret counts. ``roles``: of its columns, where the track gives them any.
    """

    name: str
    sample: Sample
    fewest: int
    most: int
    required: int
    individuals: bool
    roles: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """What the check in the browser holds a file against."""
        return {
            "header": self.sample.header,
            "fewest": self.fewest,
            "most": self.most,
            "required": self.required,
            "individuals": self.individuals,
        }


def parts_of(contest: Contest) -> tuple[Part, ...]:
    """The public files of a release; none before the original is there."""
    row, rules, track = contest.row, contest.rules, contest.track
    if row.original_rows is None:
        return ()
    required = rows_required(rules.limits.min_rows_kept, row.original_rows)
    made = []
    for place, (name, original) in enumerate(zip(track.files, track.original_files, strict=True)):
        sample = samples.of_file(row.original[original])
        if place == 0:
            roles = roles_of(rules, sample)
            made.append(Part(name, sample, 1, row.original_rows, required, individuals=True, roles=roles))
        else:
            made.append(Part(name, sample, 0, MAX_ROWS, 0, individuals=False, roles=()))
    return tuple(made)


def roles_of(rules: Rules, sample: Sample) -> tuple[str, ...]:
    columns = rules.columns
    if columns is None:
        return ()
    quasi = set(columns.quasi_identifiers)
    return tuple("quasi_identifier" if name in quasi else "sensitive" for name in sample.header)


def fields_of(track: Track) -> tuple[str, ...]:
    """The names of all files of an upload: those of the track, and the secret."""
    return (*track.files, SECRET)


def checks_of(parts: Sequence[Part], contest: Contest) -> dict[str, Any]:
    """All that the browser checks before it sends."""
    return {
        "parts": {part.name: part.to_json() for part in parts},
        "originals": contest.row.original_rows,
        "bytes": contest.rules.limits.file_mb * 2**20,
    }


async def take_in_form(request: Request, principal: Principal, at: At, way: Way[At, Made]) -> Made:
    """An upload by a form; what is refused while the body comes is said as the rest is."""
    try:
        return await take_in(request, principal, at, way)
    except Refused as refused:
        if isinstance(refused.problem, REFUSALS):
            raise refused.problem from None
        raise
