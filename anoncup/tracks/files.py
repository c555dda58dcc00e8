"""What the files of a contest are called and hold, and remarks on them; they are read elsewhere."""

from __future__ import annotations  # rules know their tracks, which know these files

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anoncup.tables.files import MAX_ROWS

if TYPE_CHECKING:
    from anoncup.rules.model import Rules

SECRET = "secret"  # noqa: S105  # the name of the upload's part, not a password
GUESS = "guess"


Columns = tuple[str, ...]
Rows = Callable[[Mapping[str, int], "Rules"], tuple[int, int]]
"""Of the sizes of an original, of a guess also of a release, and the rules: the fewest and the most rows."""


def headed(*names: str) -> Callable[[Rules], Columns | None]:
    """The columns that a file has in every competition."""
    return lambda _: names


def as_given(rules: Rules) -> Columns | None:  # noqa: ARG001
    """None: the data decide which columns a file has."""
    return None


def some_originals(sizes: Mapping[str, int], rules: Rules) -> tuple[int, int]:  # noqa: ARG001
    """Rows are deleted, never added, and one is left."""
    return 1, sizes["originals"]


def each_released(sizes: Mapping[str, int], rules: Rules) -> tuple[int, int]:  # noqa: ARG001
    """A guess about every individual of a release."""
    return sizes["rows"], sizes["rows"]


def any_number(sizes: Mapping[str, int], rules: Rules) -> tuple[int, int]:  # noqa: ARG001
    return 0, MAX_ROWS


def no_lines(rules: Rules) -> tuple[Columns, ...]:  # noqa: ARG001
    """No line of it is known."""
    return ()


def as_lines(*lines: str) -> Callable[[Rules], tuple[Columns, ...]]:
    """The first lines of a file, the same in every competition; no cell has a comma."""
    cells = tuple(tuple(line.split(",")) for line in lines)
    return lambda _: cells


@dataclass(frozen=True, slots=True)
class FileSpec:
    """A file that is given out or taken in: forms, commands, kits and pages are made of these.

    ``title``: in a few words; ``said``: what it must be, where programs read it. Pages call it by the word
    ``file_NAME``. ``header(rules)``: its columns, None where the data decide; ``like``: the file of the
    original that has the same ones. ``rows``: how many. ``individuals``: its rows are those of the contest.
    ``kind``: how a page explains it. ``samples``: small ones, ``excerpts``: how long ones begin, by lines;
    several where it can be written in several ways. ``required``: it cannot be left out. ``example``: how
    one begins that organizers bring, its header first.
    """

    name: str
    title: str = ""
    said: str = ""
    header: Callable[[Rules], Columns | None] = as_given
    like: str | None = None
    rows: Rows = any_number
    individuals: bool = False
    kind: str = "table"
    samples: tuple[Columns, ...] = ()
    excerpts: tuple[Columns, ...] = ()
    required: bool = True
    example: Callable[[Rules], tuple[Columns, ...]] = no_lines
