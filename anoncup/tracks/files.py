"""Specifications of the files of a contest: names, headers, numbers of rows and examples."""

from __future__ import annotations  # avoids an import cycle: rules import tracks, which import this module

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anoncup.tables.files import MAX_ROWS

if TYPE_CHECKING:
    from anoncup.rules.model import Rules

SECRET = "secret"  # the name of an upload part, not a password  # noqa: S105
GUESS = "guess"


ColumnNames = tuple[str, ...]
RowLimits = Callable[[Mapping[str, int], "Rules"], tuple[int, int]]
"""Returns the smallest and largest number of rows. The sizes have the release's ``rows`` only for guesses."""


def fixed_header(*names: str) -> Callable[[Rules], ColumnNames | None]:
    """Return a header function for a file with the same columns in every competition."""
    return lambda _: names


def _header_from_data(rules: Rules) -> ColumnNames | None:  # noqa: ARG001
    """Return None: the columns of the file depend on the data."""
    return None


def subset_of_originals(sizes: Mapping[str, int], rules: Rules) -> tuple[int, int]:  # noqa: ARG001
    """Allow 1 to n rows: rows may be deleted, but not added."""
    return 1, sizes["originals"]


def every_released_row(sizes: Mapping[str, int], rules: Rules) -> tuple[int, int]:  # noqa: ARG001
    """Require one row for each individual of a release."""
    return sizes["rows"], sizes["rows"]


def any_row_count(sizes: Mapping[str, int], rules: Rules) -> tuple[int, int]:  # noqa: ARG001
    return 0, MAX_ROWS


def _no_example_lines(rules: Rules) -> tuple[ColumnNames, ...]:  # noqa: ARG001
    return ()


def fixed_lines(*lines: str) -> Callable[[Rules], tuple[ColumnNames, ...]]:
    """Return a function for first lines that are the same in every competition; cells have no commas."""
    cells = tuple(tuple(line.split(",")) for line in lines)
    return lambda _: cells


@dataclass(frozen=True, slots=True)
class FileSpec:
    """A file that is given out or uploaded. Forms, commands, kits and pages are generated from it.

    ``title``: a few words; ``format_description``: its format, for programs. Pages use the label
    ``file_NAME``. ``header(rules)`` returns its columns, None where they depend on the data; ``header_like``
    is the name of the file of the original with the same columns. ``rows``: limits of the number of rows.
    ``rows_are_individuals``: its rows are the individuals of the contest. ``kind``: selects the explanation
    on pages; "permutation" also marks a secret of row numbers. ``samples``: small complete examples;
    ``excerpts``: the first lines of long ones; both as lists of lines, one for each way to write the file.
    ``required``: it must not be left out.
    ``example_lines(rules)``: the first lines of a file that organizers upload, header first.
    """

    name: str
    title: str = ""
    format_description: str = ""
    header: Callable[[Rules], ColumnNames | None] = _header_from_data
    header_like: str | None = None
    rows: RowLimits = any_row_count
    rows_are_individuals: bool = False
    kind: str = "table"
    samples: tuple[ColumnNames, ...] = ()
    excerpts: tuple[ColumnNames, ...] = ()
    required: bool = True
    example_lines: Callable[[Rules], tuple[ColumnNames, ...]] = _no_example_lines
