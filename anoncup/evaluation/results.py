"""Check what measures, attackers and questions return, because a package may return anything."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TypeVar

from anoncup.errors import InvalidResult
from anoncup.messages import N_, JsonObject, Message
from anoncup.plugins import INSTALLED
from anoncup.rules.settings import MeasureSettings
from anoncup.tracks.model import AnswerT, GuessT, OriginalT, Question, ReleaseContext, ReleaseT
from anoncup.tracks.outcomes import Outcome
from anoncup.tracks.parts import BuiltInGuess, Measure

ScoredT = TypeVar("ScoredT")

_NUMBER = N_("a finite number")
_LOSS = N_("a finite number that is not negative")
_SHARE = N_("a number from 0 to 1")
_OUTCOME = N_("an outcome")


@dataclass(frozen=True, slots=True)
class ResultChecker:
    """Checks the results of a part of a track, such as ``measures.mean_mae``; raises InvalidResult."""

    track: str
    part: str

    def require_number(
        self,
        value: object,
        *,
        minimum: float = -math.inf,
        maximum: float = math.inf,
        expected: str = _NUMBER,
    ) -> int | float:
        """Return a finite number in a range as a Python number; whole numbers stay whole."""
        if not isinstance(value, Real):
            raise self.build_error(type(value).__name__, expected)
        number = _convert_to_float(value)
        if not (math.isfinite(number) and minimum <= number <= maximum):
            raise self.build_error(str(number), expected)
        return int(value) if isinstance(value, Integral) else number

    def require_loss(self, value: object) -> float:
        """Return a finite number of 0 or more as a float."""
        return float(self.require_number(value, minimum=0, expected=_LOSS))

    def require_share(self, value: object) -> float:
        """Return a number in [0, 1] as a float."""
        return float(self.require_number(value, minimum=0, maximum=1, expected=_SHARE))

    def require_details(self, details: Mapping[str, object]) -> dict[str, float]:
        """Return further numbers by name, which may be negative."""
        return {name: self.require_number(value) for name, value in details.items()}

    def require_interval(self, interval: tuple[float, float] | None) -> tuple[float, float] | None:
        return interval and (self.require_number(interval[0]), self.require_number(interval[1]))

    def require_optional(self, value: float | None) -> int | float | None:
        """Return a number of 0 or more that may be missing; whole numbers stay whole."""
        return None if value is None else self.require_number(value, minimum=0, expected=_LOSS)

    def build_error(self, returned: str, expected: str) -> InvalidResult:
        """Return the error for a result. ``returned`` is a number or the name of a type, never a text."""
        provider = INSTALLED.find_provider(f"{self.track}.{self.part}")
        provider = provider or INSTALLED.find_provider(f"tracks.{self.track}")
        part, expectation = self.part, Message(expected)
        if provider is None:
            return InvalidResult(
                "{part} returned {returned} instead of {expected}",
                part=part,
                returned=returned,
                expected=expectation,
            )
        return InvalidResult(
            "{part} of the package {package} returned {returned} instead of {expected}",
            part=part,
            package=provider.name,
            returned=returned,
            expected=expectation,
        )


def _convert_to_float(value: Real) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number that exceeds the largest float
        return math.inf


def compute_measure(
    measure: Measure[OriginalT, ScoredT], release: ScoredT, settings: MeasureSettings, *, track: str
) -> float:
    """Return the value of a measure; raise InvalidResult unless it is a finite number of 0 or more."""
    checker = ResultChecker(track, f"measures.{measure.name}")
    return checker.require_loss(measure.compute(release, **settings.parameters))


def judge_guess(
    question: Question[OriginalT, ReleaseT, AnswerT, GuessT],
    guess: GuessT | BuiltInGuess[AnswerT, GuessT],
    answer: AnswerT,
    context: ReleaseContext[OriginalT, ReleaseT],
) -> Outcome:
    """Return the outcome of a guess; raise InvalidResult if one of its numbers is impossible."""
    if isinstance(guess, BuiltInGuess):
        outcome = guess.judge(answer, context.sizes)
    else:
        parameters = context.rules.questions.get(question.name, {})
        outcome = question.judge(guess, answer, context, **parameters)
    checker = ResultChecker(context.rules.track, f"questions.{question.name}")
    if not isinstance(outcome, Outcome):
        raise checker.build_error(type(outcome).__name__, _OUTCOME)
    return replace(
        outcome,
        value=checker.require_share(outcome.value),
        baseline=checker.require_share(outcome.baseline),
        correct=checker.require_optional(outcome.correct),
        trials=None if outcome.trials is None else int(checker.require_loss(outcome.trials)),
        interval=checker.require_interval(outcome.interval),
        details=checker.require_details(outcome.details),
        sd=checker.require_optional(outcome.sd),
    )


def serialize_outcome(outcome: Outcome) -> JsonObject:
    """Return the outcome of a team's guess as it is stored."""
    numbers = {
        name: getattr(outcome, name) for name in ("value", "baseline", "correct", "trials", "interval")
    }
    return {name: value for name, value in numbers.items() if value is not None} | {
        "details": dict(outcome.details)
    }
