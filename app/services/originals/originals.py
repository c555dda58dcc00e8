"""What organizers see of the original data, and uploads that bring columns of their own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from anoncup.competition.drafts import with_columns_of
from anoncup.competition.rules_text import with_weights
from anoncup.competition.writer import with_measures
from anoncup.errors import Conflict, InvalidCompetition, InvalidUpload
from anoncup.lazy import deferred
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.rules.settings import Columns
from anoncup.rules.toml_text import with_tables
from anoncup.tables.files import Remark
from anoncup.tables.profile.model import FEWEST, IdentifyingColumn, Values
from app.processes import parser_process
from app.processes.parser_process import ORIGINALS
from app.services.contests import competitions, revisions
from app.services.contests.contest import Contest, read_file
from app.services.contests.revisions import Revision
from app.services.originals import original_import

if TYPE_CHECKING:
    import pandas as pd

    from anoncup.tables.profile.counts import all_numbers, few_empty, values_of
    from anoncup.tables.profile.header_guess import without
    from anoncup.tables.profile.identifiers import find_identifiers, read_texts, words_among_amounts
    from anoncup.tracks.microdata.column_roles import fits, suggested
else:
    fits = deferred("anoncup.tracks.microdata.column_roles.fits")
    suggested = deferred("anoncup.tracks.microdata.column_roles.suggested")
    without = deferred("anoncup.tables.profile.header_guess.without")
    all_numbers = deferred("anoncup.tables.profile.counts.all_numbers")
    few_empty = deferred("anoncup.tables.profile.counts.few_empty")
    find_identifiers = deferred("anoncup.tables.profile.identifiers.find_identifiers")
    read_texts = deferred("anoncup.tables.profile.identifiers.read_texts")
    values_of = deferred("anoncup.tables.profile.counts.values_of")
    words_among_amounts = deferred("anoncup.tables.profile.identifiers.words_among_amounts")


FEW_WORDS = 5
"""So many of the words among a column's amounts are shown."""
NO_SCALE, WEIGHT_TAKEN = "scale_zero", "weight_taken"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the original: how its values are held, how many cells are empty, between what it lies;
    ``numeric``: it holds numbers only; ``words``: if it holds amounts but for these, in so many rows;
    ``identifying``: if it names or numbers individuals."""

    name: str
    role: str
    numeric: bool
    values: Values
    empty: int
    least: float | None
    largest: float | None
    examples: tuple[str, ...]
    words: tuple[str, ...] = ()
    word_rows: int = 0
    identifying: IdentifyingColumn | None = None

    @property
    def common_percent(self) -> float:
        return 100 * self.values.common / max(self.values.rows, 1)


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
    if columns is None or parser_process.call(ORIGINALS, has_columns, content, columns):
        return weighed(
            contest.row.file, lambda file: revisions.revision_of_original(contest, name, content, file)
        )
    roles = parser_process.call(ORIGINALS, suggest_columns, content, columns)
    file = with_columns_of(contest.row.file, roles)
    return weighed(
        parser_process.call(ORIGINALS, with_filled_cells, file, name, content),
        lambda file: revisions.revision(contest.row, file, {name: content}),
    )


def has_columns(content: bytes, columns: Columns) -> bool:
    return fits(content, columns)


def suggest_columns(content: bytes, columns: Columns) -> Columns:
    return suggested(content, columns)


def leave_out(content: bytes, columns: Sequence[str], name: str) -> bytes:
    return without(content, columns, name)


def with_filled_cells(file: str, name: str, content: bytes) -> str:
    """The file with fewer columns for the cross-tables that it leaves to be over all, if nearly all cells
    would be empty."""
    rules = read_file(file)
    table = read_texts(content, name).to_pandas()
    measures = dict(rules.measures)
    for one, columns in original_import.crossed(rules).items():
        parameter, given = TRACKS[rules.track].measures[one].crosses, rules.measure(one)
        fewer = few_empty(table, columns)
        if parameter and parameter not in given.parameters and fewer != tuple(columns):
            measures[one] = replace(given, parameters={**given.parameters, parameter: fewer})
    return with_measures(file, measures) if measures != dict(rules.measures) else file


def revision_of_fitting(contest: Contest, name: str, content: bytes) -> Revision:
    """A first file whose columns take the place of those that the competition file states."""
    file = parser_process.call(ORIGINALS, fitted_file, contest.row.file, content)
    return weighed(file, lambda text: revisions.revision(contest.row, text, {name: content}))


def fitted_file(file: str, content: bytes) -> str:
    rules = read_file(file)
    track = TRACKS[rules.track]
    if track.fitted is None:
        raise Conflict("the columns of this file are fixed", code="conflict")
    return with_tables(file, track.name, track.fitted(content, rules))


def revision_of_columns(contest: Contest, columns: Columns, left_out: Sequence[str] = ()) -> Revision:
    """The same table with its columns in other roles, and some of them out of it. Needs no session."""
    kept = competitions.contents_of(contest.row.original)
    if left_out:
        first = contest.track.original_files[0]
        kept[first] = parser_process.call(ORIGINALS, leave_out, kept[first], left_out, first)
    return weighed(
        with_columns_of(contest.row.file, columns),
        lambda file: revisions.revision(contest.row, file, kept),
    )


def weighed(file: str, made: Callable[[str], Revision]) -> Revision:
    """A revision in which no measure weighs that these data leave without a scale: the drafts let every
    measure weigh, and not every table has something for each."""
    taken: list[str] = []
    while True:
        try:
            found = made(file)
        except InvalidCompetition as problem:
            name = problem.message.values.get("name")
            if problem.code != NO_SCALE or not isinstance(name, str) or name in taken:
                raise
            file = with_weights(file, {name: 0.0})
            taken.append(name)
        else:
            return replace(found, remarks=(*found.remarks, *map(weight_taken, taken)))


def weight_taken(name: str) -> Remark:
    message = Message("the weight of {name} is now 0, because it measures nothing on these data", name=name)
    return Remark(WEIGHT_TAKEN, message)


@lru_cache(maxsize=8)
def summary(digests: tuple[tuple[str, str], ...], file: str, fewest: int = FEWEST) -> Summary | None:
    """What a complete original holds; kept, for it takes as long as reading the data.

    ``fewest``: rows that share a value which is not rare.
    """
    stored = dict(digests).values()
    return parser_process.call_reading(ORIGINALS, stored, summed_up, digests, file, fewest)


def summed_up(digests: tuple[tuple[str, str], ...], file: str, fewest: int) -> Summary | None:
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
    parts = [part(name, frame, sensitive, fewest) for name, frame in named]
    if rules.columns:
        parts[0] = with_identifiers(parts[0], contents[parts[0].name])
    return Summary(tuple(parts), tuple(remarks))


def part(name: str, frame: "pd.DataFrame", sensitive: set[str], fewest: int) -> Part:
    columns = (column(frame[one], one in sensitive, fewest) for one in frame.columns)
    return Part(name, len(frame), tuple(columns))


def with_identifiers(part: Part, content: bytes) -> Part:
    """Return the part with its identifying columns marked."""
    found = {one.name: one for one in find_identifiers(content, part.name)}
    return replace(part, columns=tuple(replace(one, identifying=found.get(one.name)) for one in part.columns))


def column(cells: "pd.Series", is_sensitive: bool, fewest: int) -> Column:
    numbers = cells.dtype.kind in "if"
    values = cells.unique()
    words = () if numbers else words_among_amounts(values.tolist())
    return Column(
        name=str(cells.name),
        role="sensitive" if is_sensitive else "quasi_identifier",
        numeric=numbers or all_numbers(values),
        values=values_of(cells, fewest),
        empty=0 if numbers else int((cells == "").sum()),
        least=float(values.min()) if numbers and len(values) else None,
        largest=float(values.max()) if numbers and len(values) else None,
        examples=() if numbers else tuple(str(value)[:40] for value in values if value != "")[:4],
        words=words[:FEW_WORDS],
        word_rows=int(cells.isin(words).sum()),
    )
