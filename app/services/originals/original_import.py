"""Import of an original table: profile its columns, and stage the file while its header is repaired."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from anoncup.competition.drafts import PLACEHOLDER_COLUMNS, change_columns
from anoncup.errors import Conflict, InvalidUpload, Unavailable
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import Columns
from anoncup.tables.profile.model import (
    MIN_COMMON,
    CrossTable,
    EquivalenceClassCounts,
    HeaderGuess,
    IdentifyingColumn,
    LocaleFormat,
    MissingAmounts,
)
from app.db.models import Round
from app.processes import parser_process
from app.processes.parser_process import ORIGINALS
from app.services.contests.contest import Contest, parse_stored_rules
from app.storage import get_store, staging

_NamedColumn = TypeVar("_NamedColumn", IdentifyingColumn, MissingAmounts)


@dataclass(frozen=True, slots=True)
class DataProfile:
    """Equivalence classes of a table, and the cross-tables of the measures with a weight."""

    classes: EquivalenceClassCounts
    cross_tables: tuple[CrossTable, ...]


@dataclass(frozen=True, slots=True)
class HeaderRepair:
    """The decisions to make about a file before it is imported.

    ``required_names``: column names that the file must have, None if its names are free.
    ``can_replace_columns``: the competition can adopt the columns of the file instead.
    ``identifying``: columns that name or number individuals.
    ``locale_format``: separators and number formats that the service would convert.
    ``gaps``: numeric columns with missing numbers.
    """

    header_guess: HeaderGuess
    required_names: tuple[str, ...] | None
    identifying: tuple[IdentifyingColumn, ...]
    can_replace_columns: bool = False
    locale_format: LocaleFormat | None = None
    gaps: tuple[MissingAmounts, ...] = ()

    @property
    def has_fixed_names(self) -> bool:
        return self.required_names is not None

    def get_index(self, name: str) -> int:
        """Return the index of the column with this proposed name."""
        return self.header_guess.names.index(name)

    @property
    def needs_decision(self) -> bool:
        """Whether somebody has to decide; otherwise the parser reports errors, if there are any."""
        differs_from_required = (
            self.can_replace_columns and self.header_guess.first_line != self.required_names
        )
        return (
            self.names_need_decision
            or bool(self.identifying or self.gaps)
            or differs_from_required
            or self.locale_format is not None
        )

    @property
    def names_need_decision(self) -> bool:
        return self.header_guess.is_data or self.header_guess.is_respelled


@lru_cache(maxsize=32)
def load_profile(digest: str, file: str, columns: Columns, min_common: int = MIN_COMMON) -> DataProfile:
    """Profile a stored table with these column roles; raises InvalidCompetition for invalid roles."""
    crossed_columns = select_crossed_columns(parse_stored_rules(change_columns(file, columns)))
    return parser_process.call_with_files(
        ORIGINALS, (digest,), build_profile, digest, columns.quasi_identifiers, crossed_columns, min_common
    )


def select_crossed_columns(rules: Rules) -> dict[str, tuple[str, ...]]:
    """Return the columns of the cross-table by measure, for all measures with a weight."""
    track = TRACKS[rules.track]
    roles = track.settings.list_columns_by_role(rules.columns, rules.settings)
    columns_by_measure = {}
    for measure in track.measures.values():
        parameter = next(
            (
                candidate
                for candidate in measure.parameters
                if candidate.name == measure.cross_table_parameter
            ),
            None,
        )
        if parameter is not None and rules.weight(measure.name):
            columns_by_measure[measure.name] = rules.measure_settings(measure.name).parameters.get(
                parameter.name, parameter.resolve_default(roles)
            )
    return columns_by_measure


def build_profile(
    digest: str,
    quasi_identifiers: Sequence[str],
    crossed_columns: Mapping[str, Sequence[str]],
    min_common: int,
) -> DataProfile:
    from anoncup.tables.profile.counts import count_classes, count_cross_tables
    from anoncup.tables.profile.identifiers import read_text_table

    table = read_text_table(get_store().get(digest), "original").to_pandas()
    return DataProfile(
        count_classes(table, quasi_identifiers, min_common), count_cross_tables(table, crossed_columns)
    )


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
        ORIGINALS, (first_file[1],), _compute_grouping_columns, first_file, columns
    )


def _compute_grouping_columns(first_file: tuple[str, str], columns: tuple[str, ...]) -> tuple[str, ...]:
    from anoncup.tables.profile.counts import drop_identifying_columns
    from anoncup.tables.profile.identifiers import read_text_table

    name, digest = first_file
    return drop_identifying_columns(read_text_table(get_store().get(digest), name).to_pandas(), columns)


def find_repair(contest: Contest, name: str, content: bytes) -> HeaderRepair | None:
    """Return the decisions to make about a file; None if it cannot be read at all. Needs no session."""
    try:
        return parser_process.call(ORIGINALS, build_repair, contest.round.file, name, content)
    except InvalidUpload:
        return None


def build_repair(file: str, name: str, content: bytes) -> HeaderRepair:
    from anoncup.tables.profile.header_guess import guess_header, replace_header
    from anoncup.tables.profile.identifiers import find_identifiers, find_missing_amounts
    from anoncup.tables.profile.locale_formats import convert_locale_format

    rules = parse_stored_rules(file)
    track = TRACKS[rules.track]
    content, locale_format = convert_locale_format(content, name)
    required = next(item for item in track.original_files if item.name == name).header(rules)
    known_names = _list_known_columns(rules)
    header = guess_header(content, name, required, known_names)
    if required is not None:
        can_replace_columns = track.settings.infer is not None and name == track.original_file_names[0]
        if can_replace_columns and not (header.is_data or header.is_respelled):
            header = guess_header(content, name, None)  # the competition may adopt these names
        renamed_content = replace_header(content, header.names, name, first_is_data=header.is_data)
        identifying = find_identifiers(renamed_content, name) if can_replace_columns else ()
        return HeaderRepair(
            header,
            required,
            _exclude_names(required, identifying),
            can_replace_columns=can_replace_columns,
            locale_format=locale_format,
        )
    renamed_content = replace_header(content, header.names, name, first_is_data=header.is_data)
    identifying = _exclude_names(known_names, find_identifiers(renamed_content, name))
    gaps = _exclude_names(
        [*known_names, *(item.name for item in identifying)], find_missing_amounts(renamed_content, name)
    )
    return HeaderRepair(header, None, identifying, locale_format=locale_format, gaps=gaps)


def _exclude_names(names: Sequence[str], columns: Iterable[_NamedColumn]) -> tuple[_NamedColumn, ...]:
    """Return the columns whose names are not in ``names``."""
    return tuple(column for column in columns if column.name not in names)


def _list_known_columns(rules: Rules) -> tuple[str, ...]:
    """Return the columns of the competition file; empty if they are only placeholders of a draft."""
    if rules.columns is None or rules.columns == PLACEHOLDER_COLUMNS:
        return ()
    return (*rules.columns.quasi_identifiers, *rules.columns.sensitive)


@dataclass(frozen=True, slots=True)
class FileRewrite:
    """Instructions for rewriting a file.

    ``names``: new column names. ``left_out``: columns to remove. ``filled``: columns in which 0 replaces
    missing numbers. ``first_is_data``: the first line is a row of data and is kept.
    """

    names: tuple[str, ...]
    left_out: tuple[str, ...]
    filled: tuple[str, ...]
    first_is_data: bool


def rewrite(name: str, content: bytes, plan: FileRewrite) -> bytes:
    """Return the rewritten file; raises InvalidUpload. Needs no session."""
    return parser_process.call(ORIGINALS, _apply_rewrite, name, content, plan)


def _apply_rewrite(name: str, content: bytes, plan: FileRewrite) -> bytes:
    from anoncup.tables.profile.header_guess import drop_columns, fill_zeros, replace_header
    from anoncup.tables.profile.locale_formats import convert_locale_format

    content = convert_locale_format(content, name)[0]
    result = replace_header(content, plan.names, name, first_is_data=plan.first_is_data)
    if plan.left_out:
        result = drop_columns(result, plan.left_out, name)
    return fill_zeros(result, plan.filled, name) if plan.filled else result


def arrange_columns(
    name: str, content: bytes, sources: Mapping[str, int | str], *, first_is_data: bool
) -> bytes:
    """Return the file with the required columns, without a session.

    ``sources``: by required column, the index of a column of the file or a constant value.
    """
    return parser_process.call(
        ORIGINALS, _reorder_columns, name, content, sources, first_is_data=first_is_data
    )


def _reorder_columns(
    name: str, content: bytes, sources: Mapping[str, int | str], *, first_is_data: bool
) -> bytes:
    from anoncup.tables.profile.header_guess import rearrange_columns
    from anoncup.tables.profile.locale_formats import convert_locale_format

    return rearrange_columns(
        convert_locale_format(content, name)[0], sources, name, first_is_data=first_is_data
    )


def stage(contest: Contest, name: str, content: bytes) -> str:
    """Stage a file until its header is repaired; return the key for loading it."""
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
