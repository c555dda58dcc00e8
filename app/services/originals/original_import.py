"""Import of an original table: stage the file, describe its columns, and save it with their roles."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

from anoncup.competition.rules_text import set_weights
from anoncup.errors import Conflict, InvalidCompetition, Unavailable
from anoncup.messages import Message
from anoncup.tables.files import Remark
from app.db.models import Round
from app.processes import parser_process
from app.processes.parser_process import ORIGINALS
from app.services.contests import revisions
from app.services.contests.contest import Contest
from app.services.contests.revisions import Revision
from app.storage import compute_digest, get_store, staging

ENCODINGS = ("utf_8", "cp932", "euc_jp", "utf_16", "cp1252")
SEPARATORS = (",", ";", "\t", "|")
DECIMAL_MARKS = (".", ",")
LEFT_OUT = ""
"""The role of a column that is not imported."""
_MAX_UNIQUE_SHARE = 0.1
"""Maximum share of unique rows. With more, hardly any individuals can be swapped within their class."""
_NO_SCALE, WEIGHT_REMOVED = "scale_zero", "weight_taken"


@dataclass(frozen=True, slots=True)
class TableFormat:
    """How a file writes a table.

    ``missing_texts`` are the cells that stand for a missing value. With ``fills_zeros``, columns of amounts
    get a 0 wherever a value is missing.
    """

    encoding: str = ENCODINGS[0]
    separator: str = SEPARATORS[0]
    decimal_mark: str = DECIMAL_MARKS[0]
    has_header: bool = True
    missing_texts: tuple[str, ...] = ()
    fills_zeros: bool = False


@dataclass(frozen=True, slots=True)
class ImportedColumn:
    """A column of a table, with its present or suggested role.

    ``reason`` tells why it seems to identify individuals; None if it does not. ``distinct`` and ``empty`` are
    the numbers of its values and of its empty cells.
    """

    name: str
    role: str
    reason: str | None
    distinct: int
    empty: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportedTable:
    """A table as it is read from a file. ``roles`` are those that its columns can have.

    If its columns have fixed names, these names are the roles, and ``has_fixed_names`` is set.
    """

    rows: int
    columns: tuple[ImportedColumn, ...]
    first_rows: tuple[tuple[str, ...], ...]
    roles: tuple[str, ...]
    has_fixed_names: bool


def guess_format(name: str, content: bytes) -> TableFormat:
    """Guess the format of a file; raises InvalidUpload for archives and spreadsheets. Needs no session."""
    return parser_process.call(ORIGINALS, guess_table_format, name, content)


def guess_table_format(name: str, content: bytes) -> TableFormat:
    from app.services.originals import imported_tables

    return imported_tables.guess_format(content, name)


def describe_upload(contest: Contest, name: str, content: bytes, table_format: TableFormat) -> ImportedTable:
    """Read a file and suggest roles for its columns; raises InvalidUpload. Needs no session."""
    return parser_process.call(
        ORIGINALS, describe_table, contest.competition.file, name, content, table_format
    )


def describe_table(file: str, name: str, content: bytes, table_format: TableFormat) -> ImportedTable:
    from app.services.originals import imported_tables

    return imported_tables.describe_table(file, name, content, table_format)


@lru_cache(maxsize=32)
def describe_original(file: str, name: str, digest: str) -> ImportedTable:
    """Describe a stored file of the original; cached because it takes as long as reading it."""
    return parser_process.call_with_files(ORIGINALS, (digest,), describe_stored_table, file, name, digest)


def describe_stored_table(file: str, name: str, digest: str) -> ImportedTable:
    return describe_table(file, name, _read_stored_text(name, digest), TableFormat())


def compute_import_revision(
    contest: Contest, name: str, content: bytes, table_format: TableFormat, roles: Sequence[str]
) -> Revision:
    """Compute a revision for a file of the original whose columns have these roles, without a session."""
    revisions.require_own_data(contest)
    old_file = contest.competition.file
    file, table = parser_process.call(
        ORIGINALS, import_table, old_file, name, content, table_format, tuple(roles)
    )
    if file != old_file:
        _require_no_data_in_other_rounds(contest)
    elif contest.round.original.get(name) == compute_digest(table):
        return revisions.compute_revision(contest.round, file, None)
    return _drop_weights_without_scale(
        file, lambda text: revisions.compute_original_revision(contest, name, table, text)
    )


def import_table(
    file: str, name: str, content: bytes, table_format: TableFormat, roles: tuple[str, ...]
) -> tuple[str, bytes]:
    from app.services.originals import imported_tables

    return imported_tables.import_table(file, name, content, table_format, roles)


def load_original(contest: Contest, name: str, digest: str) -> bytes:
    """Load a stored file of the original as UTF-8; raises Conflict if it has been replaced."""
    if contest.round.original.get(name) != digest:
        raise Conflict("the competition has changed meanwhile; try again", code="changed_meanwhile")
    return parser_process.call_with_files(ORIGINALS, (digest,), _read_stored_text, name, digest)


def _read_stored_text(name: str, digest: str) -> bytes:
    from anoncup.tables.csv_text import decode_upload

    return decode_upload(get_store().get(digest), name)[0]


def _require_no_data_in_other_rounds(contest: Contest) -> None:
    """Raise Conflict if another round has data of its own, which new columns would remove."""
    rounds = [round_ for round_ in contest.competition.rounds if round_.id != contest.round.id]
    if any(round_.original and Contest(round_).settings.data == "own" for round_ in rounds):
        raise Conflict(
            "another round has data of its own: the columns and their roles are fixed", code="fixed"
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


def select_grouping_columns(round_: Round, columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns in which people must agree so that a cheating release can swap them.

    Identifying columns are left out: if nearly every row were unique, nobody could be swapped. Without data,
    all columns are returned.
    """
    if round_.original_rows is None or not columns:
        return columns
    return _select_grouping_columns_cached(next(iter(round_.original.items())), columns)


@lru_cache(maxsize=32)
def _select_grouping_columns_cached(first_file: tuple[str, str], columns: tuple[str, ...]) -> tuple[str, ...]:
    return parser_process.call_with_files(
        ORIGINALS, (first_file[1],), _drop_identifying_columns, first_file, columns
    )


def _drop_identifying_columns(first_file: tuple[str, str], columns: tuple[str, ...]) -> tuple[str, ...]:
    """Drop the column with the most distinct values until at most 10 % of the rows are unique.

    At least one column is kept. If several have the most values, the last of them is dropped.
    """
    from anoncup.tables.csv_text import read_cells, read_header

    text = _read_stored_text(*first_file)
    table = read_cells(text, read_header(text, first_file[0]), first_file[0]).to_pandas()
    remaining, counts = list(columns), table.nunique()
    while (
        len(remaining) > 1 and (table.groupby(remaining).size() == 1).sum() > len(table) * _MAX_UNIQUE_SHARE
    ):
        remaining.remove(max(reversed(remaining), key=counts.__getitem__))
    return tuple(remaining)


def stage(contest: Contest, name: str, content: bytes) -> str:
    """Stage a file until it is imported; return the key for loading it."""
    return staging.save(_build_marker(contest, name) + content)


def load_staged(contest: Contest, name: str, key: str) -> bytes:
    """Load a staged file; raises Conflict if there is none.

    The marker ensures that only files staged for this competition and name are returned.
    """
    marker = _build_marker(contest, name)
    content = staging.load(key)
    if content is None or not content.startswith(marker):
        raise Conflict("the file is no longer stored: upload it again", code="changed_meanwhile")
    return content.removeprefix(marker)


def discard(key: str) -> None:
    """Delete a staged file at once, because columns to be left out may name people.

    If the store cannot be reached, the file is deleted later together with abandoned ones.
    """
    with suppress(Unavailable):
        staging.remove(key)


def _build_marker(contest: Contest, name: str) -> bytes:
    return f"held for {contest.round.id}: {name}\n".encode()
