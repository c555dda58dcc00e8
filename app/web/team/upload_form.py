"""What a team has to send: the files of the track, as the form and the check in the browser know them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
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
from app.scoring.files import SECRET, Cell, FileSpec, any_number
from app.scoring.registry import Track
from app.scoring.rules import Rules
from app.scoring.settings import rows_required
from app.services.data import samples
from app.services.data.samples import Sample
from app.services.people.accounts import Principal

REFUSALS = (Conflict, InvalidInput, InvalidUpload, NotAllowed, TooLarge, TooMany, Unavailable, Unreadable)
"""Why an upload may come back with its form; what else is wrong is a page of its own."""


CellRules = list[tuple[str, list[dict[str, Any]]]]
"""By column, what static/cells.js holds its cells against."""


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a release: its columns, first rows, and how many rows it may have.

    ``required``: with fewer rows the rules of the contest reject it. ``roles``: of its columns, where the
    track gives them any. ``cells``: as the check in the browser reads them.
    """

    file: FileSpec
    sample: Sample
    fewest: int
    most: int
    required: int
    roles: tuple[str, ...]
    cells: CellRules | None

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def individuals(self) -> bool:
        """Whether its rows are those that the secret counts."""
        return self.file.individuals

    @property
    def limited(self) -> bool:
        """Whether its track says how many rows it may have."""
        return self.file.rows is not any_number

    def to_json(self) -> dict[str, Any]:
        """What the check in the browser holds a file against."""
        return {
            "kind": self.file.kind,
            "header": self.sample.header,
            "fewest": self.fewest,
            "most": self.most,
            "required": self.required,
            "individuals": self.individuals,
            "cells": self.cells,
        }


def parts_of(contest: Contest) -> tuple[Part, ...]:
    """The public files of a release; none before the original is there."""
    if contest.row.original_rows is None:
        return ()
    return tuple(part_of(file, contest, contest.row.original_rows) for file in contest.track.release)


def part_of(file: FileSpec, contest: Contest, originals: int) -> Part:
    rules, sample = contest.rules, sample_of(file, contest)
    fewest, most = file.rows({"originals": originals}, rules)
    share, cells = rules.limits.min_rows_kept, cells_of(file, rules)
    if not file.individuals:
        return Part(file, sample, fewest, most, 0, (), cells)
    required = 0 if share is None else rows_required(share, originals)
    return Part(file, sample, fewest, most, required, roles_of(rules, sample), cells)


def cells_of(file: FileSpec, rules: Rules) -> CellRules | None:
    """What the cells of each column must be, in the order in which it is told."""
    if file.cells is None:
        return None
    return [(name, [stated(cell) for cell in cells]) for name, cells in file.cells(rules).items()]


def stated(cell: Cell) -> dict[str, Any]:
    """What a rule says, and no more: it stands in the page."""
    return {name: value for name, value in asdict(cell).items() if value is not None}


def sample_of(file: FileSpec, contest: Contest) -> Sample:
    """The head of the original's file that has the same columns; of one that is like none its own columns."""
    if file.like is not None:
        return samples.of_file(contest.row.original[file.like])
    return Sample(file.header(contest.rules) or (), ())


def roles_of(rules: Rules, sample: Sample) -> tuple[str, ...]:
    columns = rules.columns
    if columns is None:
        return ()
    quasi = set(columns.quasi_identifiers)
    return tuple("quasi_identifier" if name in quasi else "sensitive" for name in sample.header)


def fields_of(track: Track) -> tuple[str, ...]:
    """The names of all files of an upload: those of the track, and the secret if one is sent."""
    return track.files if track.draws_answer else (*track.files, SECRET)


def secret_of(track: Track) -> FileSpec | None:
    """The secret that is sent with a release; None where the service draws the answer."""
    return None if track.draws_answer else track.answers.file


def written_samples(file: FileSpec) -> tuple[Sample, ...]:
    """Its samples as tables."""
    lines = ([tuple(line.split(",")) for line in sample] for sample in file.samples)
    return tuple(Sample(header, tuple(rows)) for header, *rows in lines)


def checks_of(parts: Sequence[Part], contest: Contest) -> dict[str, Any]:
    """All that the browser checks before it sends."""
    secret = secret_of(contest.track)
    headers = [sample.header for sample in written_samples(secret)] if secret else []
    return {
        "secret": {"kind": secret.kind, "headers": headers} if secret else None,
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
