"""Guess the format of organizers' tables, read them, clean them, and give their columns roles."""

import csv
import io
import re
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anoncup.competition.drafts import change_columns, drop_weights_without_scale
from anoncup.competition.parser import CompetitionFile, parse_common_rules
from anoncup.errors import Conflict, InvalidCompetition, InvalidUpload
from anoncup.messages import N_, Message
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.settings import Columns
from anoncup.rules.toml_text import replace_tables
from anoncup.runner.originals import (
    CUT_LENGTH,
    CUT_SUFFIX,
    DECIMAL_MARKS,
    ENCODINGS,
    LEFT_OUT,
    SEPARATORS,
    CleanTableJob,
    DescribeTableJob,
    GuessFormatJob,
    ImportedColumn,
    ImportedTable,
    ImportTableJob,
    ParsedOriginal,
    ParseOriginalJob,
    TableFormat,
    parse_original,
)
from anoncup.tables.checks import build_duplicate_name_message
from anoncup.tables.csv_text import (
    CONTROL_PATTERN,
    NUMBER_PATTERN,
    Problems,
    read_cells,
    read_header,
    write_csv,
)
from anoncup.tables.files import Remark
from anoncup.tables.foreign_formats import INVISIBLE_PATTERN, find_invalid_utf8, reject_binary_formats
from anoncup.tables.identifiers import find_identifying_reason, has_fixed_format, holds_amounts, is_amount
from anoncup.tables.shift_jis import NotShiftJis, decode_shift_jis
from anoncup.tracks.files import FileSpec

_MISSING_TEXTS = {"NA", "N/A", "na", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", ".", "?", "-"}
"""Common spellings of a missing number."""
_SAMPLE_CHARACTERS = 20_000
"""Length of the beginning of a file from which its separator, decimal mark and header are guessed."""
_GROUPED_PATTERN = "[+-]?[0-9]{1,3}([.,][0-9]{3})+"
"""Numbers that may have marks between thousands only, so that they say nothing of the decimal mark."""
_KEPT = "kept"
"""The only role besides ``LEFT_OUT`` in a file that has neither fixed names nor roles."""
_MAX_COLUMNS = 1000
"""The form has a row for each column, and describing them takes milliseconds each."""
_FIRST_ROWS = 5
_MAX_EXAMPLES, _MAX_EXAMPLE_LENGTH = 3, 40
_NUMBER_PATTERNS = {
    decimal_mark: rf"[+-]?(?:[0-9]+|[0-9]{{1,3}}(?:[{thousands_mark}'’ \u00a0\u202f][0-9]{{3}})+)"
    rf"(?:[{decimal_mark}][0-9]+)?(?:[eE][+-]?[0-9]+)?"
    for decimal_mark, thousands_mark in ((".", ","), (",", "."))
}
"""Patterns of numbers with or without thousands separators, by decimal mark."""
_HALF_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""Full-width digits, letters and signs of Japanese input, and the half-width ones."""


def guess_format(job: GuessFormatJob | CleanTableJob, _: object) -> TableFormat:
    """Guess the format of a file; raises InvalidUpload for archives and spreadsheets."""
    content, file = job.content, job.name
    reject_binary_formats(content, file)
    encoding = _guess_encoding(content)
    sample = _cut_sample(content.decode(encoding, errors="replace").removeprefix("\ufeff"))
    separator = _guess_separator(sample)
    first_row, *rows = _list_sample_rows(sample, separator)
    decimal_mark = _guess_decimal_mark([cell for row in rows for cell in row])
    has_numbers_first = any(re.fullmatch(_NUMBER_PATTERNS[decimal_mark], cell) for cell in first_row)
    has_header = not has_numbers_first or _has_header(sample)
    table_format = TableFormat(encoding, separator, decimal_mark, has_header)
    try:
        table = read_table(content, file, table_format)
    except InvalidUpload:
        return table_format  # the problem is reported when the table is read
    return replace(table_format, missing_texts=_find_missing_texts(table))


def _guess_encoding(content: bytes) -> str:
    """Return the encoding. Statistics about few letters mislead, so they are the last resort."""
    if find_invalid_utf8(content) is None and b"\0" not in content:
        return "utf_8"
    with suppress(NotShiftJis):
        decode_shift_jis(content)
        return "cp932"
    from charset_normalizer import from_bytes  # noqa: PLC0415  # seldom needed

    match = from_bytes(content, cp_isolation=list(ENCODINGS)).best()
    return match.encoding if match else ENCODINGS[0]


def _cut_sample(text: str) -> str:
    """Return the lines at the beginning of a text."""
    sample = text[:_SAMPLE_CHARACTERS]
    return sample if sample == text else sample[: sample.rfind("\n") + 1] or sample


def _guess_separator(sample: str) -> str:
    from clevercsv.cparser import Error as ClevercsvError  # noqa: PLC0415  # takes a while to import
    from clevercsv.detect import Detector  # noqa: PLC0415

    try:
        dialect = Detector().detect(sample, delimiters=SEPARATORS)
    except ClevercsvError:
        dialect = None
    return dialect.delimiter if dialect and dialect.delimiter in SEPARATORS else SEPARATORS[0]


def _list_sample_rows(sample: str, separator: str) -> list[list[str]]:
    """Return the rows of the sample, at least one."""
    try:
        return list(csv.reader(io.StringIO(sample, newline=""), delimiter=separator)) or [[]]
    except csv.Error:
        return [[]]


def _guess_decimal_mark(cells: Sequence[str]) -> str:
    """Return the mark before the decimals of most numbers; points if there are none."""
    counts = dict.fromkeys(DECIMAL_MARKS, 0)
    for cell in cells:
        if not re.fullmatch(_GROUPED_PATTERN, cell):
            for mark, pattern in _NUMBER_PATTERNS.items():
                counts[mark] += mark in cell and re.fullmatch(pattern, cell) is not None
    return max(DECIMAL_MARKS, key=counts.__getitem__)


def _has_header(sample: str) -> bool:
    from clevercsv.cparser import Error as ClevercsvError  # noqa: PLC0415  # likewise
    from clevercsv.detect import Detector  # noqa: PLC0415
    from clevercsv.exceptions import NoDetectionResult  # noqa: PLC0415

    try:
        return Detector().has_header(sample)
    except (ClevercsvError, NoDetectionResult, StopIteration):
        return True


def _find_missing_texts(table: pd.DataFrame) -> tuple[str, ...]:
    """Return the spellings of missing values in columns that are numeric otherwise."""
    missing: set[str] = set()
    for name in table.columns:
        values = table[name].unique()
        words = {value for value in values if value and not re.match(NUMBER_PATTERN, value)}
        if {word.translate(_HALF_WIDTH) for word in words} <= _MISSING_TEXTS and len(words) < len(values):
            missing |= words
    return tuple(sorted(missing))


def read_table(content: bytes, file: str, table_format: TableFormat) -> pd.DataFrame:
    """Return every cell as text; a missing value is an empty cell.

    In columns of numbers, decimal marks are points, and there are no marks between thousands. Raises
    InvalidUpload for a file that does not have this format.
    """
    return _write_all_numbers(_read_text_cells(content, file, table_format), table_format)


def _read_text_cells(content: bytes, file: str, table_format: TableFormat) -> pd.DataFrame:
    """Return the cells as they are written, but empty where a value is missing."""
    text, separator = _decode(content, file, table_format.encoding), table_format.separator
    first_row = read_header(text, file, separator)
    names = _list_names(first_row if table_format.has_header else [""] * len(first_row), file)
    if not table_format.has_header:
        text = separator.join(names).encode() + b"\n" + text
    table: pd.DataFrame = read_cells(text, names, file, separator=separator).to_pandas()
    if table.empty:
        problems = Problems(file)
        problems.add("no_rows", Message("the table has no rows"))
        problems.raise_if_any()
    return table.replace(list(table_format.missing_texts), "")


def _decode(content: bytes, file: str, encoding: str) -> bytes:
    """Return the text as UTF-8 without a byte order mark."""
    reject_binary_formats(content, file)
    problems = Problems(file)
    try:
        text = content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        message = Message(
            "the file has another encoding than {encoding}: choose the one it was saved in, "
            "or save it as “CSV UTF-8”",
            encoding=encoding,
        )
        problems.add("encoding", message, line=1 + content.count(b"\n", 0, error.start))
        text = ""
    if "\0" in text:
        message = Message("the file holds NUL characters: it has another encoding, or is no text")
        problems.add("encoding", message, line=1 + text.count("\n", 0, text.index("\0")))
    problems.raise_if_any()
    return text.encode()


def _list_names(cells: Sequence[str], file: str) -> list[str]:
    """Return the names of the columns; those without a name are called after their position."""
    problems = Problems(file)
    if len(cells) > _MAX_COLUMNS:
        message = Message(
            "the table has {found} columns; at most {most} are read", found=len(cells), most=_MAX_COLUMNS
        )
        problems.add("too_many_columns", message, line=1)
        problems.raise_if_any()
    visible = [re.sub(f"{CONTROL_PATTERN}|{INVISIBLE_PATTERN}", "", cell).strip() for cell in cells]
    names = [cell or f"column_{position}" for position, cell in enumerate(visible, 1)]
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.add("header", build_duplicate_name_message(name), column=name[:80], line=1)
    problems.raise_if_any()
    return names


def _write_all_numbers(table: pd.DataFrame, table_format: TableFormat) -> pd.DataFrame:
    return pd.DataFrame({name: _write_numbers(str(name), table[name], table_format) for name in table})


def _write_numbers(name: str, column: pd.Series, table_format: TableFormat) -> pd.Series:
    """Return a column of numbers with half-width digits, decimal points and no thousands separators.

    Few cells among many numbers may be anything else. They stay as they are, as do other columns.
    """
    decimal_mark, is_filled = table_format.decimal_mark, column != ""
    cells = column.str.translate(_HALF_WIDTH)
    is_number = cells.str.fullmatch(_NUMBER_PATTERNS[decimal_mark])
    cells = cells.str.replace(f"[^0-9eE+{re.escape(decimal_mark)}-]", "", regex=True)
    rewritten = cells.str.replace(decimal_mark, ".", regex=False).where(is_number, column)
    if holds_amounts(pa.array(rewritten[is_filled].unique())):
        column = rewritten
    if table_format.fills_zeros and is_amount(name, pa.array(column)):
        column = column.where(is_filled, "0")
    return column


def describe_table(job: DescribeTableJob, _: object) -> ImportedTable:
    name, table_format = job.name, job.table_format
    table, rules = read_table(job.content, name, table_format), parse_common_rules(job.competition_file)
    spec, names = _find_spec(rules, name), list(table.columns)
    fixed_names = () if _takes_roles(spec, rules) else spec.header(rules) or ()
    if _takes_roles(spec, rules):
        roles = dict(spec.suggest_roles(write_csv(table), rules))
    elif fixed_names:
        roles = _match_names(names, fixed_names, has_header=table_format.has_header)
    else:
        roles = dict.fromkeys(names, _KEPT)
    return ImportedTable(
        len(table),
        tuple(_describe_column(table[column], roles.get(column, LEFT_OUT)) for column in names),
        tuple(
            tuple(cell[:_MAX_EXAMPLE_LENGTH] for cell in row) for row in table.head(_FIRST_ROWS).to_numpy()
        ),
        fixed_names or spec.roles or (_KEPT,),
        bool(fixed_names),
    )


def _find_spec(rules: Rules, name: str) -> FileSpec:
    return next(spec for spec in TRACKS[rules.track].original_files if spec.name == name)


def _takes_roles(spec: FileSpec, rules: Rules) -> bool:
    """Return whether organizers choose the columns of a file: the competition file describes them."""
    settings = TRACKS[rules.track].settings
    return bool(spec.roles) and (settings.has_columns or settings.infer is not None)


def _match_names(names: Sequence[str], fixed_names: Sequence[str], *, has_header: bool) -> dict[str, str]:
    """Return the fixed name for each column: the one that is spelled alike, or that of the same position."""
    by_spelling = {_normalize_name(name): name for name in fixed_names}
    matches = {name: by_spelling.pop(_normalize_name(name), LEFT_OUT) for name in names}
    if len(names) == len(fixed_names) and not (has_header and any(matches.values())):
        return dict(zip(names, fixed_names, strict=True))
    return matches


def _normalize_name(name: str) -> str:
    """Return a name in a form that ignores case, full width, blanks, hyphens and underscores."""
    return re.sub(r"[\s_-]", "", unicodedata.normalize("NFKC", name)).casefold()


def _describe_column(column: pd.Series, role: str) -> ImportedColumn:
    cells, name = pa.array(column), str(column.name)
    values = pc.unique(cells)
    examples = [value[:_MAX_EXAMPLE_LENGTH] for value in values.to_pylist() if value][:_MAX_EXAMPLES]
    reason = find_identifying_reason(name, cells, values)
    empty_count = int((column == "").sum())
    can_be_cut = has_fixed_format(values)
    return ImportedColumn(name, role, reason, can_be_cut, len(values), empty_count, tuple(examples))


def import_table(job: ImportTableJob, _: object) -> tuple[str, bytes]:
    file, name, roles = job.competition_file, job.name, job.roles
    table, rules = read_table(job.content, name, job.table_format), parse_common_rules(file)
    if len(roles) != len(table.columns):
        raise Conflict("the columns have changed since they were shown: check them", code="changed_meanwhile")
    spec = _find_spec(rules, name)
    roles_by_name = {
        column: role.removesuffix(CUT_SUFFIX)
        for column, role in zip(table.columns, roles, strict=True)
        if role != LEFT_OUT
    }
    for column, role in zip(table.columns, roles, strict=True):
        if role.endswith(CUT_SUFFIX):
            table[column] = table[column].str[:CUT_LENGTH]
    fixed_names = spec.header(rules)
    if _takes_roles(spec, rules) or fixed_names is None:
        csv_file = write_csv(table[list(roles_by_name)])
        return _write_roles(file, rules, spec, csv_file, roles_by_name), csv_file
    return file, write_csv(_select_columns(table, roles_by_name, fixed_names, name))


def _write_roles(file: str, rules: Rules, spec: FileSpec, content: bytes, roles: Mapping[str, str]) -> str:
    """Return the competition file with these roles of the columns in a file of the original."""
    if not _takes_roles(spec, rules):
        return file
    settings, given_roles = TRACKS[rules.track].settings, set(roles.values())
    if not set() < given_roles <= set(spec.roles) or (
        settings.has_columns and len(given_roles) < len(spec.roles)
    ):
        raise InvalidCompetition("at least one column for each role is needed", code="roles_missing")
    if settings.infer is not None:
        return replace_tables(file, rules.track, settings.infer(content, roles, rules))
    columns = Columns(
        *(tuple(name for name, assigned in roles.items() if assigned == role) for role in spec.roles)
    )
    return file if columns == rules.columns else change_columns(file, columns)


def _select_columns(
    table: pd.DataFrame, new_names: Mapping[str, str], fixed_names: Sequence[str], file: str
) -> pd.DataFrame:
    """Return the columns with these names. Raise InvalidUpload unless each is the new name of one column."""
    problems, names = Problems(file), list(new_names.values())
    for fixed_name in fixed_names:
        if (count := names.count(fixed_name)) != 1:
            message = (
                Message("two columns are {name!r}", name=fixed_name)
                if count
                else Message("no column is {name!r}", name=fixed_name)
            )
            problems.add("header", message, column=fixed_name, line=1)
    problems.raise_if_any()
    return table[list(new_names)].set_axis(names, axis=1)[list(fixed_names)]


def clean_table(job: CleanTableJob, _: object) -> tuple[bytes, tuple[Remark, ...]]:
    file, rules, table_format = job.name, parse_common_rules(job.competition_file), guess_format(job, _)
    cells, spec = _read_text_cells(job.content, file, table_format), _find_spec(rules, file)
    table, names = _write_all_numbers(cells, table_format), list(cells.columns)
    if required := spec.header(rules):
        new_names = _match_names(names, required, has_header=table_format.has_header)
    else:
        required = _list_columns_with_roles(names, rules) if _takes_roles(spec, rules) else tuple(names)
        new_names = {name: name if name in required else LEFT_OUT for name in names}
    kept = {column: name for column, name in new_names.items() if name != LEFT_OUT}
    rewritten = [column for column in kept if not table[column].equals(cells[column])]
    remarks = _describe_cleaning(file, table_format, new_names, rewritten)
    return write_csv(_select_columns(table, kept, required, file)), remarks


def _list_columns_with_roles(names: Sequence[str], rules: Rules) -> tuple[str, ...]:
    """Return the columns that the competition file names, in the order of the table."""
    roles = TRACKS[rules.track].settings.list_columns_by_role(rules.columns, rules.settings)
    columns = dict.fromkeys(column for role in roles.values() for column in role)
    return tuple(sorted(columns, key=lambda column: (*names, column).index(column)))


_CHANGES = {
    "format_guessed": N_("{file}.csv was read with the encoding, separator and decimal mark {names}"),
    "missing_values": N_("{file}.csv: cells with {names} are empty now"),
    "numbers_rewritten": N_(
        "{file}.csv: numbers have decimal points and no marks between thousands now in {names}"
    ),
    "columns_renamed": N_("{file}.csv: columns have other names now: {names}"),
    "columns_left_out": N_("{file}.csv: columns were left out: {names}"),
}


def _describe_cleaning(
    file: str, table_format: TableFormat, new_names: Mapping[str, str], rewritten: Sequence[str] = ()
) -> tuple[Remark, ...]:
    """Return what was guessed and changed. ``new_names``: those of the columns, or ``LEFT_OUT``."""
    guessed = (table_format.encoding, *map(repr, (table_format.separator, table_format.decimal_mark)))
    is_usual = replace(table_format, missing_texts=()) == TableFormat()
    names_by_change = {
        "format_guessed": () if is_usual else guessed,
        "missing_values": table_format.missing_texts,
        "numbers_rewritten": rewritten,
        "columns_renamed": [f"{old} → {new}" for old, new in new_names.items() if new not in {LEFT_OUT, old}],
        "columns_left_out": [old for old, new in new_names.items() if new == LEFT_OUT],
    }
    return tuple(
        Remark(code, Message(_CHANGES[code], file=file, names=tuple(names)))
        for code, names in names_by_change.items()
        if names
    )


def suggest_file(competition_file: str, contents: Mapping[str, bytes]) -> tuple[str, list[Remark]]:
    """Return the file with the suggested roles of the columns of an original, and what was left out.

    These are the suggestions of the organizers' page. Raises InvalidUpload for data that the page refuses.
    """
    tables: dict[str, bytes] = {}
    remarks: list[Remark] = []
    for name, content in contents.items():
        table_format = guess_format(GuessFormatJob(name=name, content=content), None)
        describe_job = DescribeTableJob(
            competition_file=competition_file, name=name, content=content, table_format=table_format
        )
        table = describe_table(describe_job, None)
        columns = table.columns
        roles = tuple(column.role for column in columns)
        import_job = ImportTableJob(**dict(describe_job), roles=roles)
        competition_file, tables[name] = import_table(import_job, None)
        left_out = {f"{column.name} ({column.reason})": LEFT_OUT for column in columns if not column.role}
        remarks += _describe_cleaning(name, table_format, left_out)
        remarks += _describe_cuts(name, table)
    file, _, dropped = drop_weights_without_scale(competition_file, lambda text: _parse(text, tables))
    return file, [*remarks, *dropped]


def _describe_cuts(file: str, table: ImportedTable) -> list[Remark]:
    """Return how columns that are left out could stay."""
    names = tuple(column.name for column in table.columns if column.can_be_cut and not column.role)
    if table.has_fixed_names or not names:
        return []
    message = Message(
        "{file}.csv: {names} could stay with the first {count} characters, such as the year of a date:"
        " cut the cells in the file and start again",
        file=file,
        names=names,
        count=CUT_LENGTH,
    )
    return [Remark("columns_can_be_cut", message)]


def _parse(competition_file: str, tables: dict[str, bytes]) -> ParsedOriginal:
    """Parse an original as the service does. Of a file with rounds, the first one counts."""
    text = next(iter(CompetitionFile(competition_file).round_texts.values()))
    return parse_original(ParseOriginalJob(competition_file=text, original=tables, in_use=False), None)
