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
_DETAILS = N_("numbers by name")


@dataclass(frozen=True, slots=True)
class ResultChecker:
    """Checks the results of a part of a track, such as ``measures.mean_mae``; raises InvalidResult."""

    track: str
    part: str

    def require_number(
        self, value: object, *, minimum: float = -math.inf, maximum: float = math.inf
    ) -> int | float:
        """Return a finite number in a range as a Python number; whole numbers stay whole."""
        expected = _SHARE if maximum == 1 else _LOSS if minimum == 0 else _NUMBER
        if not isinstance(value, Real):
            raise self.build_error(type(value).__name__, expected)
        try:
            number = float(value)
        except OverflowError:  # a whole number that exceeds the largest float
            number = math.inf
        if not (math.isfinite(number) and minimum <= number <= maximum):
            raise self.build_error(str(number), expected)
        return int(value) if isinstance(value, Integral) else number

    def require_details(self, details: Mapping[str, object]) -> dict[str, float]:
        """Return further numbers by name, which may be negative."""
        if not isinstance(details, Mapping):
            raise self.build_error(type(details).__name__, _DETAILS)
        return {name: self.require_number(value) for name, value in details.items()}

    def build_error(self, returned: str, expected: str | Message) -> InvalidResult:
        """Return the error for a result. ``returned`` is a number or the name of a type, never a text."""
        provider = INSTALLED.find_provider(f"{self.track}.{self.part}")
        provider = provider or INSTALLED.find_provider(f"tracks.{self.track}")
        part, expectation = self.part, expected if isinstance(expected, Message) else Message(expected)
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


def compute_measure(
    measure: Measure[OriginalT, ScoredT], release: ScoredT, settings: MeasureSettings, *, track: str
) -> float:
    """Return the value of a measure; raise InvalidResult unless it is a finite number of 0 or more."""
    checker = ResultChecker(track, f"measures.{measure.name}")
    return float(checker.require_number(measure.compute(release, **settings.parameters), minimum=0))


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

    def require_optional(value: float | None) -> int | float | None:
        return None if value is None else checker.require_number(value, minimum=0)

    require_number, interval = checker.require_number, outcome.interval
    return replace(
        outcome,
        value=float(require_number(outcome.value, minimum=0, maximum=1)),
        baseline=float(require_number(outcome.baseline, minimum=0, maximum=1)),
        correct=require_optional(outcome.correct),
        trials=None if outcome.trials is None else int(require_number(outcome.trials, minimum=0)),
        interval=interval and (require_number(interval[0]), require_number(interval[1])),
        details=checker.require_details(outcome.details),
        sd=require_optional(outcome.sd),
    )


def serialize_outcome(outcome: Outcome) -> JsonObject:
    """Return the outcome of a team's guess as it is stored."""
    numbers = {
        name: getattr(outcome, name) for name in ("value", "baseline", "correct", "trials", "interval")
    }
    return {name: value for name, value in numbers.items() if value is not None} | {
        "details": dict(outcome.details)
    }
