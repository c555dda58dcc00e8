"""The question which original row each row of a release comes from, and the answer that its makers hold.

Sizes: ``originals`` and ``rows``, the individuals of the original and of the release.
"""

from typing import TYPE_CHECKING, Any

from anoncup.lazy import deferred, deferred_in
from anoncup.tracks.files import GUESS, SECRET, FileSpec, each_released, headed
from anoncup.tracks.model import About, Answers, Question, Sizes
from anoncup.tracks.outcomes import Outcome

if TYPE_CHECKING:
    from anoncup.geometry.arrays import IntArray
    from anoncup.tracks.linkage.attack_rates import Answer, guess_rate, rate_of
    from anoncup.tracks.linkage.permutation import check_source, guess_from_file, source_from_secret
    from anoncup.tracks.outcomes import Rate
else:
    check_source = deferred("anoncup.tracks.linkage.permutation.check_source")
    guess_from_file = deferred("anoncup.tracks.linkage.permutation.guess_from_file")
    source_from_secret = deferred("anoncup.tracks.linkage.permutation.source_from_secret")
    guess_rate = deferred("anoncup.tracks.linkage.attack_rates.guess_rate")
    rate_of = deferred("anoncup.tracks.linkage.attack_rates.rate_of")

_permutation = deferred_in("anoncup.tracks.linkage.permutation")
_rates = deferred_in("anoncup.tracks.linkage.attack_rates")


def read_secret(content: bytes, about: About) -> "IntArray":
    sizes = about.sizes
    return source_from_secret(content, originals=sizes["originals"], anonymized=sizes.get("rows"))


def check(source: Any, sizes: Sizes) -> None:
    check_source(source, originals=sizes["originals"], anonymized=sizes["rows"])


def read_guess(content: bytes, about: About) -> "IntArray":
    sizes = about.sizes
    return guess_from_file(content, originals=sizes["originals"], anonymized=sizes["rows"])


def judge(guess: "IntArray", source: "IntArray", sizes: Sizes) -> Outcome:
    """#{j : g_j = s_j} / n'. Nothing is taken off for chance, as in the cups of 2015 and 2016."""
    found = guess_rate(guess, source, rows=sizes["originals"])
    return Outcome(found.rate, correct=found.correct, trials=found.trials, interval=found.interval)


def rate(answer: "Answer", source: "IntArray", sizes: Sizes) -> "Rate":
    return rate_of(answer, source, rows=sizes["originals"])


SOURCES = Answers(
    file=FileSpec(
        SECRET,
        title="the secret",
        said="CSV headed original_row or anonymized_row, 1-based",
        kind="permutation",
        samples=(("original_row", "3", "1", "2"), ("anonymized_row", "2", "3", "1")),
        excerpts=(("original_row", "17", "4", "…"), ("anonymized_row", "3", "0", "…")),
    ),
    read=read_secret,
    write=_permutation("secret_csv"),
    remarks=_permutation("remarks_on_order"),
    check=check,
    read_alone=True,
)
LINK = Question(
    name="link",
    file=FileSpec(
        GUESS,
        title="the guess",
        said="CSV headed original_row, a line per row; 0 = abstain",
        header=headed("original_row"),
        rows=each_released,
        kind="rows",
        samples=(("original_row", "27", "0", "3", "…"),),
        excerpts=(("original_row", "17", "0", "…"),),
    ),
    read=read_guess,
    write=_permutation("guess_csv"),
    answered=_rates("answered"),
    judge=judge,
    perfect=lambda source: source,
    rate=rate,
    guess_of=_rates("guess_of"),
    right=_rates("chances"),
    counts=True,
    remarks=_permutation("remarks_on_guess"),
)
