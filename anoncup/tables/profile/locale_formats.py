"""Convert tables from other locales, with semicolons or tabs between cells and decimal commas in numbers."""

import csv
import io
import re
from collections.abc import Iterator, Sequence

from anoncup.tables.csv_text import NUMBER_PATTERN, decode_upload
from anoncup.tables.profile.model import LocaleFormat, RewrittenColumn

_FOREIGN_SEPARATORS = (";", "\t")
_SEPARATOR_LINE = re.compile(r"sep=(.)\s*")
"""First line with which Excel declares the separator."""
_QUOTED_GROUPED = re.compile('"[+-]?[0-9]{1,3}(,[0-9]{3})+')
"""A quoted number with commas between thousands. A comma-separated file without one needs no conversion."""
MAX_BYTES = 32 << 20
"""Maximum size of a converted text. Parsing it takes many times as much memory."""
_THOUSANDS_MARKS = " \u00a0\u202f'’"
"""Thousands separators that occur together with either decimal sign."""
_GROUPED_NUMBER = {
    decimal: re.compile(
        rf"[+-]?(?:[0-9]+|[0-9]{{1,3}}(?P<mark>[{re.escape(thousands + _THOUSANDS_MARKS)}])[0-9]{{3}}"
        rf"(?:(?P=mark)[0-9]{{3}})*)"
        rf"(?:{re.escape(decimal)}[0-9]+)?"
    )
    for decimal, thousands in ((",", "."), (".", ","))
}
"""Pattern of numbers with optional thousands separators, by decimal sign."""


def convert_locale_format(content: bytes, file: str) -> tuple[bytes, LocaleFormat | None]:
    """Convert a table to comma-separated cells and decimal points, and describe the previous format.

    Returns the unchanged content and None if there is nothing to convert, if it is larger than MAX_BYTES, or
    if it cannot be parsed; the error is then reported when it is imported. Raises InvalidUpload if the
    content is not text.
    """
    text = decode_upload(content, file)[0].decode()
    separator, text = _detect_separator(text)
    if len(content) > MAX_BYTES or (separator == "," and not _QUOTED_GROUPED.search(text)):
        return content, None
    try:
        header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    except (ValueError, csv.Error):
        return content, None
    decimal = "." if separator == "," else ","
    columns = [[row[index] for row in rows if index < len(row)] for index in range(len(header))]
    foreign_numbers = _find_foreign_columns(columns, decimal)
    if separator == "," and not foreign_numbers:
        return content, None
    rewritten_columns = tuple(
        RewrittenColumn(header[column_index], number, _convert_number(number, decimal))
        for column_index, number in foreign_numbers.items()
    )
    return _write_rows([header, *_convert_numbers(rows, foreign_numbers, decimal)]), LocaleFormat(
        separator, rewritten_columns
    )


def _detect_separator(text: str) -> tuple[str, str]:
    """Return the separator, judged by the first line, and the text without a declaration of the separator."""
    first_line, _, rest = text.partition("\n")
    if (declaration := _SEPARATOR_LINE.fullmatch(first_line)) and declaration[1] in {
        *_FOREIGN_SEPARATORS,
        ",",
    }:
        return declaration[1], rest
    if "," in re.sub('"[^"]*"', "", first_line):
        return ",", text
    return max(_FOREIGN_SEPARATORS, key=first_line.count) if any(
        separator in first_line for separator in _FOREIGN_SEPARATORS
    ) else ",", text


def _find_foreign_columns(columns: Sequence[Sequence[str]], decimal: str) -> dict[int, str]:
    """Return the first number in a foreign format for each numeric column that has one, by column.

    If a column has decimal commas, the points in other columns are thousands separators too.
    """
    numeric_columns = {
        index: column
        for index, column in enumerate(columns)
        if all(_GROUPED_NUMBER[decimal].fullmatch(cell) for cell in column if cell)
    }
    foreign_numbers = {
        index: cell
        for index, column in numeric_columns.items()
        if (cell := next((text for text in column if text and not re.match(NUMBER_PATTERN, text)), None))
    }
    dotted_numbers = {
        index: next((text for text in column if "." in text), None)
        for index, column in numeric_columns.items()
    }
    if decimal == "," and foreign_numbers:
        foreign_numbers |= {
            index: cell for index, cell in dotted_numbers.items() if cell and index not in foreign_numbers
        }
    return dict(sorted(foreign_numbers.items()))


def _convert_number(number: str, decimal: str) -> str:
    integer_part, _, fraction = number.partition(decimal)
    integer_part = re.sub("[^0-9+-]", "", integer_part)
    return f"{integer_part}.{fraction}" if fraction else integer_part


def _convert_numbers(
    rows: Sequence[Sequence[str]], columns: dict[int, str], decimal: str
) -> Iterator[list[str]]:
    for row in rows:
        yield [_convert_number(cell, decimal) if index in columns else cell for index, cell in enumerate(row)]


def _write_rows(rows: Sequence[Sequence[str]]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue().encode()
