"""A test track: microdata with two questions, the second about values."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anoncup.errors import FileProblem, InvalidUpload
from anoncup.geometry.arrays import IntArray
from anoncup.messages import Message
from anoncup.rules.parameters import Parameter
from anoncup.tracks.files import GUESS_FILE, FileSpec
from anoncup.tracks.linkage.question import LINK_QUESTION
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.microdata.release import MicrodataOriginal
from anoncup.tracks.model import Question, ReleaseContext
from anoncup.tracks.outcomes import Outcome
from anoncup.tracks.plugin import Plugin

if TYPE_CHECKING:
    from anoncup.rules.model import Rules

QUESTIONS_TOML = """
[questions.value]
column = "age"
chance = 0.5
"""


@dataclass(frozen=True, slots=True)
class ValueClaims:
    """The guessed original value of each row of the release; ``?`` abstains.

    ``matches`` (n', n) marks the original rows that have the value.
    """

    column: str
    values: tuple[str, ...]
    matches: NDArray[np.bool_]


def get_column(rules: "Rules") -> str:
    return str(rules.questions["value"].get("column", "sex"))


def read_claims(content: bytes, context: ReleaseContext[MicrodataOriginal, object]) -> ValueClaims:
    column = get_column(context.rules)
    header, *values = content.decode().splitlines()
    if header != column or len(values) != context.sizes["rows"]:
        message = Message("the first line must be {column}, a line for each row below", column=column)
        raise InvalidUpload([FileProblem(GUESS_FILE, None, column, "header", message)])
    original_values = context.original().table[column].to_numpy()
    return ValueClaims(column, tuple(values), np.array([original_values == value for value in values]))


def write_claims(claims: ValueClaims) -> bytes:
    return "\n".join([claims.column, *claims.values, ""]).encode()


def judge_claims(
    claims: ValueClaims,
    source: IntArray,
    context: ReleaseContext[MicrodataOriginal, object],
    *,
    column: str = "sex",
    chance: float = 0.25,
    credit: float | None = None,
) -> Outcome:
    """Judge the claims. With ``credit``, a right row counts that much; without, nothing is counted."""
    is_correct = claims.matches[np.arange(context.sizes["rows"]), source]
    outcome = Outcome(float(is_correct.mean()), chance, details={"columns": float(len(column))})
    if credit is None:
        return outcome
    return replace(outcome, correct=credit * int(is_correct.sum()), trials=context.sizes["rows"])


VALUE_QUESTION = Question(
    name="value",
    file=FileSpec(
        GUESS_FILE,
        title="the values",
        format_description="CSV headed like the column that is asked for, a line per row; ? = abstain",
        header=lambda rules: (get_column(rules),),
        row_limits=lambda sizes, _: (sizes["rows"], sizes["rows"]),
        kind="values",
        samples=(("age", "20", "?", "…"),),
        excerpts=(("age", "20", "?", "…"),),
    ),
    read=read_claims,
    write=write_claims,
    count_answered=lambda claims: sum(value != "?" for value in claims.values),
    judge=judge_claims,
    make_perfect_guess=lambda source: ValueClaims(
        "sex", ("!",) * len(source), np.eye(max(source) + 1, dtype=bool)[source]
    ),
    parameters=(
        Parameter("column", "column", "quasi_identifiers"),
        Parameter("chance", "share"),
        Parameter("credit", "amount"),
    ),
    optional=True,
)
SEVERAL_QUESTIONS_TRACK = replace(
    MICRODATA, name="riddles", title="riddles", questions={"link": LINK_QUESTION, "value": VALUE_QUESTION}
)
PLUGIN = Plugin(api=0, tracks={"riddles": SEVERAL_QUESTIONS_TRACK})


def build_value_claims(column: Any, source: IntArray, correct_count: int) -> bytes:
    """Return a file with the true values of the first ``correct_count`` rows, abstaining on the others."""
    values = [str(column[original]) if row < correct_count else "?" for row, original in enumerate(source)]
    return "\n".join([column.name, *values, ""]).encode()
