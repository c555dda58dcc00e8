"""A track of the tests' own: microdata, of which two questions are asked, the second about values."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anoncup.errors import InvalidUpload, Problem
from anoncup.geometry.arrays import IntArray
from anoncup.messages import Message
from anoncup.rules.parameters import Parameter
from anoncup.tracks.files import GUESS, FileSpec
from anoncup.tracks.linkage.question import LINK
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.model import About, Question, Sizes
from anoncup.tracks.outcomes import Outcome
from anoncup.tracks.plugin import Plugin

if TYPE_CHECKING:
    from anoncup.rules.model import Rules

ASKED = """
[questions.value]
column = "age"
chance = 0.5
"""


@dataclass(frozen=True, slots=True)
class Claims:
    """Of each row of the release the value that its original is said to have, ``?`` where nothing is said;
    ``fits`` (n', n): the original rows that have it."""

    column: str
    values: tuple[str, ...]
    fits: NDArray[np.bool_]


def column_of(rules: "Rules") -> str:
    return str(rules.questions["value"].get("column", "sex"))


def read(content: bytes, about: About) -> Claims:
    column = column_of(about.rules)
    header, *values = content.decode().splitlines()
    if header != column or len(values) != about.sizes["rows"]:
        wrong = Message("the first line must be {column}, a line for each row below", column=column)
        raise InvalidUpload([Problem(GUESS, None, column, "header", wrong)])
    known = about.original()[column].to_numpy()
    return Claims(column, tuple(values), np.array([known == value for value in values]))


def write(claims: Claims) -> bytes:
    return "\n".join([claims.column, *claims.values, ""]).encode()


def judge(
    claims: Claims,
    source: IntArray,
    sizes: Sizes,
    *,
    column: str = "sex",
    chance: float = 0.25,
    credit: float | None = None,
) -> Outcome:
    """``credit``: what a right row is counted as; nothing is counted without."""
    right = claims.fits[np.arange(sizes["rows"]), source]
    found = Outcome(float(right.mean()), chance, details={"columns": float(len(column))})
    if credit is None:
        return found
    return replace(found, correct=credit * int(right.sum()), trials=sizes["rows"])


VALUE = Question(
    name="value",
    file=FileSpec(
        GUESS,
        title="the values",
        said="CSV headed like the column that is asked for, a line per row; ? = abstain",
        header=lambda rules: (column_of(rules),),
        rows=lambda sizes, _: (sizes["rows"], sizes["rows"]),
        kind="values",
        samples=(("age", "20", "?", "…"),),
        excerpts=(("age", "20", "?", "…"),),
    ),
    read=read,
    write=write,
    answered=lambda claims: sum(value != "?" for value in claims.values),
    judge=judge,
    perfect=lambda source: Claims("sex", ("!",) * len(source), np.eye(max(source) + 1, dtype=bool)[source]),
    rate=LINK.rate,
    guess_of=lambda said, rng: None,  # noqa: ARG005 - none of the attackers is asked for values
    parameters=(
        Parameter("column", "column", "quasi_identifiers"),
        Parameter("chance", "share"),
        Parameter("credit", "amount"),
    ),
    optional=True,
)
RIDDLES = replace(MICRODATA, name="riddles", title="riddles", questions={"link": LINK, "value": VALUE})
PLUGIN = Plugin(api=0, tracks={"riddles": RIDDLES})


def claims_of(column: Any, source: IntArray, right: int) -> bytes:
    """The true values of the first ``right`` rows, and nothing of the others."""
    values = [str(column[original]) if place < right else "?" for place, original in enumerate(source)]
    return "\n".join([column.name, *values, ""]).encode()
