"""Summaries of the original data for organizers, and revisions for uploads with new columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from anoncup.competition.drafts import change_columns
from anoncup.competition.parser import parse_common_rules
from anoncup.competition.rules_text import set_weights
from anoncup.competition.writer import replace_measures
from anoncup.errors import Conflict, InvalidCompetition, InvalidUpload
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.rules.settings import Columns
from anoncup.rules.toml_text import replace_tables
from anoncup.tables.files import Remark
from anoncup.tables.profile.model import MIN_COMMON, ColumnStats, IdentifyingColumn
from app.processes import parser_process, remote_calls
from app.processes.parser_process import ORIGINALS
from app.services.contests import competitions, revisions
from app.services.contests.contest import Contest, parse_stored_rules
from app.services.contests.revisions import Revision
from app.services.originals import original_import

if TYPE_CHECKING:
    import pandas as pd

_MAX_WORDS_SHOWN = 5
"""Number of non-numeric words shown for a column that is numeric otherwise."""
_NO_SCALE, WEIGHT_REMOVED = "scale_zero", "weight_taken"


@dataclass(frozen=True, slots=True)
class OriginalColumn:
    """Summary of a column of the original data.

    ``numeric``: all values are numbers. ``words``, ``word_rows``: the non-numeric words of a column that is
    numeric otherwise, and the number of rows with such words. ``empty``: number of empty cells.
    ``minimum``, ``maximum``: range of a numeric column. ``identifying``: set if the column names or numbers
    individuals.
    """

    name: str
    role: str
    numeric: bool
    values: ColumnStats
    empty: int
    minimum: float | None
    maximum: float | None
    examples: tuple[str, ...]
    words: tuple[str, ...] = ()
    word_rows: int = 0
    identifying: IdentifyingColumn | None = None

    @property
    def common_percent(self) -> float:
        return 100 * self.values.most_common / max(self.values.rows, 1)


@dataclass(frozen=True, slots=True)
class OriginalPart:
    """Summary of a file of the original data."""

    name: str
    rows: int
    columns: tuple[OriginalColumn, ...]


@dataclass(frozen=True, slots=True)
class OriginalSummary:
    parts: tuple[OriginalPart, ...]
    remarks: tuple[Remark, ...]


def compute_upload_revision(contest: Contest, name: str, content: bytes) -> Revision:
    """Compute a revision for an uploaded file of the original data, without a session.

    If the file has other columns than the competition, roles are suggested for them, unless another round has
    data with the present columns.
    """
    revisions.require_own_data(contest)
    columns = contest.rules.columns
    if (
        columns is None
        or _has_data_in_other_rounds(contest)
        or parser_process.call(ORIGINALS, has_columns, content, columns)
    ):
        return _drop_weights_without_scale(
            contest.competition.file,
            lambda file: revisions.compute_original_revision(contest, name, content, file),
        )
    roles = parser_process.call(ORIGINALS, suggest_columns, content, columns)
    file = change_columns(contest.competition.file, roles)
    return _drop_weights_without_scale(
        parser_process.call(ORIGINALS, _reduce_sparse_cross_tables, file, name, content),
        lambda file: revisions.compute_revision(contest.round, file, {name: content}),
    )


def _has_data_in_other_rounds(contest: Contest) -> bool:
    """Whether another round has data of its own, which new columns would remove."""
    rounds = [round_ for round_ in contest.competition.rounds if round_.id != contest.round.id]
    return any(round_.original and Contest(round_).settings.data == "own" for round_ in rounds)


def _require_free_columns(contest: Contest) -> None:
    revisions.require_own_data(contest)
    if _has_data_in_other_rounds(contest):
        raise Conflict(
            "another round has data of its own: the columns and their roles are fixed", code="fixed"
        )


def has_columns(content: bytes, columns: Columns) -> bool:
    from anoncup.tracks.microdata.column_roles import matches_columns

    return matches_columns(content, columns)


def suggest_columns(content: bytes, columns: Columns) -> Columns:
    from anoncup.tracks.microdata.column_roles import suggest_roles

    return suggest_roles(content, columns)


def _remove_columns(content: bytes, columns: Sequence[str], name: str) -> bytes:
    from anoncup.tables.profile.header_guess import drop_columns

    return drop_columns(content, columns, name)


def _reduce_sparse_cross_tables(file: str, name: str, content: bytes) -> str:
    """Return the competition file with fewer columns in cross-tables that would be nearly empty.

    Cross-tables whose columns are set in the file stay unchanged.
    """
    from anoncup.tables.profile.counts import drop_sparse_columns
    from anoncup.tables.profile.identifiers import read_text_table

    rules = parse_common_rules(file)
    table = read_text_table(content, name).to_pandas()
    measures = dict(rules.measures)
    for measure_name, columns in original_import.select_crossed_columns(rules).items():
        parameter = TRACKS[rules.track].measures[measure_name].cross_table_parameter
        measure_rules = rules.measure_settings(measure_name)
        kept_columns = drop_sparse_columns(table, columns)
        if parameter and parameter not in measure_rules.parameters and kept_columns != tuple(columns):
            measures[measure_name] = replace(
                measure_rules, parameters={**measure_rules.parameters, parameter: kept_columns}
            )
    return replace_measures(file, measures) if measures != dict(rules.measures) else file


def compute_replacement_revision(contest: Contest, name: str, content: bytes) -> Revision:
    """Compute a revision in which the columns of a first file replace those of the competition file."""
    _require_free_columns(contest)
    file = parser_process.call(ORIGINALS, _adopt_columns, contest.competition.file, content)
    return _drop_weights_without_scale(
        file, lambda text: revisions.compute_revision(contest.round, text, {name: content})
    )


def _adopt_columns(file: str, content: bytes) -> str:
    rules = parse_common_rules(file)
    track = TRACKS[rules.track]
    if track.settings.infer is None:
        raise Conflict("the columns of this file are fixed", code="conflict")
    return replace_tables(file, track.name, track.settings.infer(content, rules))


def compute_columns_revision(contest: Contest, columns: Columns, left_out: Sequence[str] = ()) -> Revision:
    """Compute a revision with new column roles and without the columns ``left_out``, without a session."""
    _require_free_columns(contest)
    contents = competitions.load_contents(contest.round.original)
    if left_out:
        first_name = contest.track.original_file_names[0]
        contents[first_name] = parser_process.call(
            ORIGINALS, _remove_columns, contents[first_name], left_out, first_name
        )
    return _drop_weights_without_scale(
        change_columns(contest.competition.file, columns),
        lambda file: revisions.compute_revision(contest.round, file, contents),
    )


def _drop_weights_without_scale(file: str, compute: Callable[[str], Revision]) -> Revision:
    """Compute a revision, setting to 0 the weights of measures that have no scale on these data.

    Drafts give every measure a weight, but not every table has the columns for all of them.
    """
    dropped: list[str] = []
    while True:
        try:
            revision = compute(file)
        except InvalidCompetition as problem:
            name = problem.message.values.get("name")
            if problem.code != _NO_SCALE or not isinstance(name, str) or name in dropped:
                raise
            file = set_weights(file, {name: 0.0})
            dropped.append(name)
        else:
            return replace(revision, remarks=(*revision.remarks, *map(_build_weight_remark, dropped)))


def _build_weight_remark(name: str) -> Remark:
    message = Message("the weight of {name} is now 0, because it measures nothing on these data", name=name)
    return Remark(WEIGHT_REMOVED, message)


@lru_cache(maxsize=8)
def load_summary(
    digests: tuple[tuple[str, str], ...], file: str, min_common: int = MIN_COMMON
) -> OriginalSummary | None:
    """Return a summary of the original data, None if incomplete; cached because it takes as long as parsing.

    ``min_common``: values in fewer rows than this are rare.
    """
    stored = dict(digests).values()
    return parser_process.call_with_files(ORIGINALS, stored, build_summary, digests, file, min_common)


def build_summary(digests: tuple[tuple[str, str], ...], file: str, min_common: int) -> OriginalSummary | None:
    rules = parse_stored_rules(file)
    track = TRACKS[rules.track]
    contents = competitions.load_contents(dict(digests))
    available = [file.name for file in track.original_files if file.name in contents]
    if any(file.required and file.name not in available for file in track.original_files):
        return None
    try:
        original, remarks = track.parse_original(contents, rules)
    except InvalidUpload:
        return None
    sensitive = set(rules.columns.sensitive) if rules.columns else set()
    named_frames = zip(available, remote_calls.build_frames(track, original), strict=True)
    parts = [_summarize_part(name, frame, sensitive, min_common) for name, frame in named_frames]
    if rules.columns:
        parts[0] = _mark_identifiers(parts[0], contents[parts[0].name])
    return OriginalSummary(tuple(parts), tuple(remarks))


def _summarize_part(name: str, frame: "pd.DataFrame", sensitive: set[str], min_common: int) -> OriginalPart:
    columns = (
        _summarize_column(frame[column_name], column_name in sensitive, min_common)
        for column_name in frame.columns
    )
    return OriginalPart(name, len(frame), tuple(columns))


def _mark_identifiers(part: OriginalPart, content: bytes) -> OriginalPart:
    """Mark the identifying columns of a part."""
    from anoncup.tables.profile.identifiers import find_identifiers

    identifiers = {item.name: item for item in find_identifiers(content, part.name)}
    return replace(
        part, columns=tuple(replace(item, identifying=identifiers.get(item.name)) for item in part.columns)
    )


def _summarize_column(cells: "pd.Series", is_sensitive: bool, min_common: int) -> OriginalColumn:
    from anoncup.tables.profile.counts import are_all_numbers, count_values
    from anoncup.tables.profile.identifiers import find_missing_words

    is_numeric = cells.dtype.kind in "if"
    values = cells.unique()
    words = () if is_numeric else find_missing_words(values.tolist())
    return OriginalColumn(
        name=str(cells.name),
        role="sensitive" if is_sensitive else "quasi_identifier",
        numeric=is_numeric or are_all_numbers(values),
        values=count_values(cells, min_common),
        empty=0 if is_numeric else int((cells == "").sum()),
        minimum=float(values.min()) if is_numeric and len(values) else None,
        maximum=float(values.max()) if is_numeric and len(values) else None,
        examples=() if is_numeric else tuple(str(value)[:40] for value in values if value != "")[:4],
        words=words[:_MAX_WORDS_SHOWN],
        word_rows=int(cells.isin(words).sum()),
    )
