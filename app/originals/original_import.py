"""Import of an original table: stage the file, describe its columns, and save it with their roles."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

from anoncup.competition.drafts import drop_weights_without_scale
from anoncup.competition.parser import parse_common_rules
from anoncup.errors import Conflict, DomainError, InvalidUpload, Unavailable
from anoncup.runner.originals import (
    CleanTableJob,
    DecodeJob,
    DescribeTableJob,
    GuessFormatJob,
    ImportedTable,
    ImportTableJob,
    SelectColumnsJob,
    TableFormat,
)
from app.competitions import revisions
from app.competitions.revisions import Revision
from app.core.db.models import Round
from app.core.processes import parsing
from app.core.storage import compute_digest, get_store, staging


def guess_format(name: str, content: bytes) -> TableFormat:
    """Guess the format of a file; raises InvalidUpload for archives and spreadsheets. Needs no session."""
    return parsing.read_original(GuessFormatJob(name=name, content=content))


def describe_upload(round_: Round, name: str, content: bytes, table_format: TableFormat) -> ImportedTable:
    """Read a file and suggest roles for its columns; raises InvalidUpload. Needs no session."""
    return _describe_table(round_.competition.file, round_.track.name, name, content, table_format)


def _describe_table(
    file: str, track: str, name: str, content: bytes, table_format: TableFormat
) -> ImportedTable:
    job = DescribeTableJob(competition_file=file, name=name, content=content, table_format=table_format)
    return parsing.read_original(job, track)


@lru_cache(maxsize=32)
def describe_original(file: str, name: str, digest: str) -> ImportedTable:
    """Describe a stored file of the original; cached because it takes as long as reading it."""
    content = parsing.read_original(DecodeJob(name=name, content=get_store().get(digest)))
    return _describe_table(file, parse_common_rules(file).track, name, content, TableFormat())


def compute_import_revision(
    round_: Round, name: str, content: bytes, table_format: TableFormat, roles: Sequence[str]
) -> Revision:
    """Compute a revision for a file of the original whose columns have these roles, without a session."""
    revisions.require_own_data(round_)
    old_file = round_.competition.file
    job = ImportTableJob(
        competition_file=old_file, name=name, content=content, table_format=table_format, roles=tuple(roles)
    )
    file, table = parsing.read_original(job, round_.track.name)
    if file != old_file:
        _require_no_data_in_other_rounds(round_)
    elif round_.original.get(name) == compute_digest(table):
        return revisions.compute_revision(round_, file, None)
    _, revision, dropped = drop_weights_without_scale(
        file, lambda text: revisions.compute_original_revision(round_, name, table, text)
    )
    return replace(revision, remarks=(*revision.remarks, *dropped))


def compute_upload_revision(round_: Round, name: str, content: bytes) -> Revision:
    """Compute a revision for a file that is stored as it is, or cleaned if it cannot be read by the rules."""
    try:
        return revisions.compute_original_revision(round_, name, content)
    except InvalidUpload:
        job = CleanTableJob(competition_file=round_.competition.file, name=name, content=content)
        table, remarks = parsing.read_original(job, round_.track.name)
    if round_.original.get(name) == compute_digest(table):
        revision = revisions.compute_revision(round_, round_.competition.file, None)
    else:
        revision = revisions.compute_original_revision(round_, name, table)
    return replace(revision, remarks=(*remarks, *revision.remarks))


def load_original(round_: Round, name: str, digest: str) -> bytes:
    """Load a stored file of the original as UTF-8; raises Conflict if it has been replaced."""
    if round_.original.get(name) != digest:
        raise Conflict("the competition has changed meanwhile; try again", code="changed_meanwhile")
    return parsing.read_original(DecodeJob(name=name, content=get_store().get(digest)))


def _require_no_data_in_other_rounds(round_: Round) -> None:
    """Raise Conflict if another round has data of its own, which new columns would remove."""
    rounds = [sibling for sibling in round_.competition.rounds if sibling.id != round_.id]
    if any(sibling.original and sibling.settings.data == "own" for sibling in rounds):
        raise Conflict(
            "another round has data of its own: the columns and their roles are fixed", code="fixed"
        )


def select_grouping_columns(round_: Round) -> tuple[str, ...]:
    """Return the default columns in which people must agree so that a cheating release can swap them.

    Identifying columns are left out: if nearly every row were unique, nobody could be swapped. Without data,
    all columns are returned.
    """
    columns = tuple(round_.track.distances.group_columns(round_.rules)[1])
    if round_.original_rows is None or not columns:
        return columns
    return _select_grouping_columns_cached(next(iter(round_.original.items())), columns)


@lru_cache(maxsize=32)
def _select_grouping_columns_cached(first_file: tuple[str, str], columns: tuple[str, ...]) -> tuple[str, ...]:
    name, digest = first_file
    return parsing.read_original(
        SelectColumnsJob(name=name, content=get_store().get(digest), columns=columns)
    )


def list_identifying_columns(round_: Round) -> tuple[str, ...]:
    """Return the quasi-identifiers in which most people have a value of their own.

    None are returned if the data cannot be read.
    """
    columns = round_.rules.columns
    if round_.original_rows is None or columns is None:
        return ()
    try:
        table = describe_original(round_.competition.file, *next(iter(round_.original.items())))
    except DomainError:
        return ()
    return tuple(
        column.name
        for column in table.columns
        if column.name in columns.quasi_identifiers and 4 * column.distinct > 3 * table.rows
    )


def stage(round_: Round, name: str, content: bytes) -> str:
    """Stage a file until it is imported; return the key for loading it."""
    return staging.save(_build_marker(round_, name) + content)


def load_staged(round_: Round, name: str, key: str) -> bytes:
    """Load a staged file; raises Conflict if there is none.

    The marker ensures that only files staged for this competition and name are returned.
    """
    marker = _build_marker(round_, name)
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


def _build_marker(round_: Round, name: str) -> bytes:
    return f"held for {round_.id}: {name}\n".encode()
