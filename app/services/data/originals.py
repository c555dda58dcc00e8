"""What organizers see of the original data, and uploads that bring columns of their own."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from app import beside
from app.contest import Contest, read_file
from app.deferred import deferred
from app.errors import InvalidUpload
from app.scoring.drafting import with_columns_of
from app.scoring.files import Remark
from app.scoring.settings import Columns
from app.scoring.tracks import TRACKS
from app.services.contest import competitions, revisions
from app.services.contest.revisions import Revision

if TYPE_CHECKING:
    import pandas as pd

    from app.scoring.column_roles import fits, suggested
else:
    fits = deferred("app.scoring.column_roles.fits")
    suggested = deferred("app.scoring.column_roles.suggested")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the original: how many values it takes, how many cells are empty, between what it lies."""

    name: str
    role: str
    different: int
    empty: int
    least: float | None
    largest: float | None
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A file of the original."""

    name: str
    rows: int
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    parts: tuple[Part, ...]
    remarks: tuple[Remark, ...]


def revision_of_upload(contest: Contest, name: str, content: bytes) -> Revision:
    """A new file of the original; a table with a header of its own gets suggested roles. Needs no session."""
    columns = contest.rules.columns
    if columns is None or beside.call(beside.ORIGINALS, fits, content, columns):
        return revisions.revision_of_original(contest, name, content)
    roles = beside.call(beside.ORIGINALS, suggested, content, columns)
    file = with_columns_of(contest.row.file, roles)
    return revisions.revision(contest.row, file, {name: content})


def revision_of_columns(contest: Contest, columns: Columns) -> Revision:
    """The same table with its columns in other roles. Needs no session."""
    kept = competitions.contents_of(contest.row.original)
    return revisions.revision(contest.row, with_columns_of(contest.row.file, columns), kept)


@lru_cache(maxsize=8)
def summary(digests: tuple[tuple[str, str], ...], file: str) -> Summary | None:
    """What a complete original holds; kept, for it takes as long as reading the data."""
    return beside.call(beside.ORIGINALS, summed_up, digests, file)


def summed_up(digests: tuple[tuple[str, str], ...], file: str) -> Summary | None:
    rules = read_file(file)
    track = TRACKS[rules.track]
    contents = competitions.contents_of(dict(digests))
    there = [file.name for file in track.original if file.name in contents]
    if any(file.required and file.name not in there for file in track.original):
        return None
    try:
        tables, remarks = track.parse_original(contents, rules)
    except InvalidUpload:
        return None
    sensitive = set(rules.columns.sensitive) if rules.columns else set()
    named = zip(there, track.frames(tables), strict=True)
    parts = [part(name, frame, sensitive) for name, frame in named]
    return Summary(tuple(parts), tuple(remarks))


def part(name: str, frame: "pd.DataFrame", sensitive: set[str]) -> Part:
    return Part(name, len(frame), tuple(column(frame[one], one in sensitive) for one in frame.columns))


def column(cells: "pd.Series", is_sensitive: bool) -> Column:
    numeric = cells.dtype.kind in "if"
    values = cells.unique()
    return Column(
        name=str(cells.name),
        role="sensitive" if is_sensitive else "quasi_identifier",
        different=len(values),
        empty=0 if numeric else int((cells == "").sum()),
        least=float(values.min()) if numeric else None,
        largest=float(values.max()) if numeric else None,
        examples=() if numeric else tuple(str(value)[:40] for value in values if value != "")[:4],
    )
