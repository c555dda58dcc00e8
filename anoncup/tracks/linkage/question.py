"""The linkage question (which original row each released row comes from) and its answer, the source index."""

from typing import TYPE_CHECKING

from anoncup.lazy import lazy_module
from anoncup.tracks.files import GUESS_FILE, SECRET_FILE, FileSpec, fixed_header, require_every_individual
from anoncup.tracks.model import AnswerSpec, Question, ReleaseContext, Sizes
from anoncup.tracks.outcomes import Outcome
from anoncup.tracks.parts import HasRows

if TYPE_CHECKING:
    from anoncup.geometry.arrays import IntArray
    from anoncup.tracks.linkage import attack_rates as _attack_rates
    from anoncup.tracks.linkage import permutation as _permutation
else:
    _attack_rates = lazy_module("anoncup.tracks.linkage.attack_rates")
    _permutation = lazy_module("anoncup.tracks.linkage.permutation")
from collections.abc import Mapping, Sequence
from typing import Any

from anoncup.rules.parameters import Parameter
from anoncup.tracks.parts import Strengths

# Every process reads the questions, but not all of them load numpy (``anoncup.lazy``).


def _read_secret(content: bytes, context: ReleaseContext[HasRows, object]) -> "IntArray":
    sizes = context.sizes
    return _permutation.parse_secret(
        content, original_count=sizes["originals"], anonymized_count=sizes.get("rows")
    )


def check_answer(source: "IntArray", sizes: Sizes) -> None:
    _permutation.check_source(source, original_count=sizes["originals"], anonymized_count=sizes["rows"])


def read_guess(content: bytes, context: ReleaseContext[HasRows, object]) -> "IntArray":
    sizes = context.sizes
    return _permutation.parse_guess(
        content, original_count=sizes["originals"], anonymized_count=sizes["rows"]
    )


def judge(guess: "IntArray", source: "IntArray", context: ReleaseContext[HasRows, object]) -> Outcome:
    """Return the share of individuals that are guessed right, not adjusted for chance (2015 and 2016)."""
    return _attack_rates.rate_guess(guess, source, rows=context.sizes["originals"])


SOURCE_ANSWER = AnswerSpec(
    file=FileSpec(
        SECRET_FILE,
        title="the secret",
        format_description="CSV headed original_row or anonymized_row, 1-based",
        kind="permutation",
        samples=(("original_row", "3", "1", "2"), ("anonymized_row", "2", "3", "1")),
        excerpts=(("original_row", "17", "4", "…"), ("anonymized_row", "3", "0", "…")),
    ),
    read=_read_secret,
    write=_permutation.write_secret,
    find_remarks=_permutation.find_order_remarks,
    check=check_answer,
    normalize=_permutation.normalize_source,
    reads_without_release=True,
)
LINK_QUESTION = Question(
    name="link",
    file=FileSpec(
        GUESS_FILE,
        title="the guess",
        format_description="CSV headed original_row, a line per row; 0 = abstain",
        header=fixed_header("original_row"),
        row_limits=require_every_individual,
        kind="rows",
        samples=(("original_row", "27", "0", "3", "…"),),
        excerpts=(("original_row", "17", "0", "…"),),
    ),
    read=read_guess,
    write=_permutation.write_guess,
    count_answered=_attack_rates.count_answered,
    judge=judge,
    make_perfect_guess=lambda source: source,
    asks_identity=True,
    find_remarks=_permutation.find_guess_remarks,
)


DENSE_LIMIT = 1000
"""Largest number of original rows for which a full matrix is matched: 0.1 s, or 1 s if all of Y is equal."""
DENSE_LIMIT_PARAMETER = Parameter("dense_limit", "whole", default=DENSE_LIMIT)
"""Parameter of attackers: the largest number of individuals for a full matrix."""
SHARE_PARAMETER = Parameter("share", "share", default=0.01)
"""Parameter of methods: the share of rows to delete."""


def vary_parameter(name: str, *values: Any) -> Strengths:
    return lambda rows, columns: [{name: value} for value in values]  # noqa: ARG005


SHARE_STRENGTHS = vary_parameter("share", 0.01, 0.1)


def keep_columns(rows: int, columns: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    """Return one strength, in which a permutation keeps the given columns."""
    return [{"columns": list(columns)}]
