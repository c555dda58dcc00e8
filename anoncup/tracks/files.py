"""Specifications of the files of a contest: names, headers, numbers of rows and examples."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from anoncup.rules.model import Rules
from anoncup.tables.files import MAX_ROWS

SECRET_FILE = "secret"  # the name of an uploaded file, not a password  # noqa: S105
GUESS_FILE = "guess"


Files = Mapping[str, bytes]
ColumnNames = tuple[str, ...]
RowLimits = Callable[[Mapping[str, int], Rules], tuple[int, int]]
"""Computes the smallest and largest number of rows; the sizes include ``rows`` only for guesses."""


def fixed_header(*names: str) -> Callable[[Rules], ColumnNames | None]:
    """Return a header function for a file with the same columns in every competition."""
    return lambda _: names


def allow_subset(sizes: Mapping[str, int], rules: Rules) -> tuple[int, int]:
    """Allow rows to be deleted but not added: 1 to n rows."""
    return 1, sizes["originals"]


def require_every_individual(sizes: Mapping[str, int], rules: Rules) -> tuple[int, int]:
    """Require one row for each individual of a release."""
    return sizes["rows"], sizes["rows"]


def allow_any_row_count(sizes: Mapping[str, int], rules: Rules) -> tuple[int, int]:
    return 0, MAX_ROWS


def fixed_lines(*lines: str) -> Callable[[Rules], tuple[ColumnNames, ...]]:
    """Return a function that gives the same first lines in every competition; cells contain no commas."""
    split_lines = tuple(tuple(line.split(",")) for line in lines)
    return lambda _: split_lines


@dataclass(frozen=True, slots=True)
class FileSpec:
    """A file that is given out or uploaded. Forms, commands, kits and pages are generated from it.

    - ``title`` names the file in a few words; pages use the label ``file_NAME`` instead.
    - ``format_description`` describes the format in the API's documentation.
    - ``header(rules)`` returns the columns, or None if they depend on the data.
    - ``header_like`` is the name of the original's file that has the same columns.
    - ``row_limits(sizes, rules)`` returns the smallest and largest number of rows.
    - ``rows_are_individuals`` is true if each row is one individual of the contest.
    - ``kind`` selects the explanation on pages; "permutation" also marks a secret of row numbers.
    - ``samples`` are small complete files, ``excerpts`` the first lines of long ones. Both have one list of
      lines for each way to write the file.
    - ``required`` is false if the file may be left out.
    - ``example_lines(rules)`` returns the first lines of a file that organizers upload, header first.
    - ``roles`` are the roles that organizers can give to the columns of a file whose columns they choose.
    - ``suggest_roles(content, rules)`` returns the role of each column of such a file; an empty one leaves
      the column out.
    """

    name: str
    title: str = ""
    format_description: str = ""
    header: Callable[[Rules], ColumnNames | None] = lambda _: None
    header_like: str | None = None
    row_limits: RowLimits = allow_any_row_count
    rows_are_individuals: bool = False
    kind: str = "table"
    samples: tuple[ColumnNames, ...] = ()
    excerpts: tuple[ColumnNames, ...] = ()
    required: bool = True
    example_lines: Callable[[Rules], tuple[ColumnNames, ...]] = lambda _: ()
    roles: ColumnNames = ()
    suggest_roles: Callable[[bytes, Rules], Mapping[str, str]] = lambda *_: {}

    def list_example_lines(self, rules: Rules) -> tuple[ColumnNames, ...]:
        """Return the first lines of an example, or the header; nothing if the columns depend on the data."""
        header = self.header(rules)
        return (self.example_lines(rules) or (header,)) if header else ()
