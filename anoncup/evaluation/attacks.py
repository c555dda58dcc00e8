"""Guesses of built-in attackers on the questions of a competition, and the rates of what they get right."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from anoncup.errors import InvalidInput, InvalidResult
from anoncup.evaluation.results import ResultChecker, judge_guess
from anoncup.messages import JsonObject, Message, serialize_prefixed
from anoncup.rules.model import Rules
from anoncup.tracks.model import (
    AnswerT,
    AnyContext,
    AnyQuestion,
    AnyTrack,
    OriginalT,
    ReleaseContext,
    ReleaseT,
    TargetT,
    Track,
)
from anoncup.tracks.outcomes import Outcome
from anoncup.tracks.parts import AnyAttacker, Attacker, BuiltInGuess, Guesses

if TYPE_CHECKING:
    from numpy.random import Generator

_GuessT = TypeVar("_GuessT")
_NOT_ASKED = Message("this competition does not ask the question that this attacker answers")


@dataclass(frozen=True, slots=True)
class AttackerResult:
    """What an attacker gets right.

    - ``rate``: its ``value`` is the share of the answer that is guessed right, its ``baseline`` what blind
      guessing gets, and its ``risk`` the value adjusted for the baseline, which counts towards E; all in
      [0, 1].
    - ``version``: that of the attacker's code.
    - ``risks``: those of each question in [0, 1], if the attacker answers several or if E is their mean. The
      rate is then that of the question with the largest risk, or their mean without counts.
    """

    rate: Outcome
    version: int
    risks: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> JsonObject:
        """Return the rate as stored in the verdict, with its interval or standard deviation."""
        rate = self.rate
        optional: JsonObject = {
            "sd": None if rate.interval else rate.sd,
            "interval": list(rate.interval) if rate.interval else None,
            "risk": rate.risk if rate.baseline else None,
            "details": dict(rate.details) or None,
            "risks": dict(self.risks) or None,
        }
        shown_baseline = rate.baseline if rate.shown_baseline is None else rate.shown_baseline
        return {
            "rate": rate.value,
            **({} if rate.trials is None else {"correct": rate.correct, "trials": rate.trials}),
            "version": self.version,
            "baseline": shown_baseline,
            **{name: value for name, value in optional.items() if value is not None},
            **(serialize_prefixed("note", rate.note) if rate.note else {}),
        }


def make_guesses(
    attacker: Attacker[TargetT, _GuessT], target: TargetT, *, track: AnyTrack, rules: Rules
) -> Guesses:
    """Attack a target, and return the guesses by question; none if the competition asks no such question.

    Raises InvalidResult if the attacker leaves a question without a guess.
    """
    asked = track.select_questions(rules).keys() & set(attacker.questions)
    if not asked:
        return {}
    guess = attacker.attack(target, **rules.attacker_settings(attacker.name).parameters)
    guesses = {attacker.question: guess} if isinstance(attacker.question, str) else guess
    if not isinstance(guesses, Mapping) or any(guesses.get(name) is None for name in asked):
        expected = Message("a guess for each of these questions: {names}", names=attacker.questions)
        raise _build_error(attacker, guess, expected, rules)
    return {name: guesses[name] for name in attacker.questions if name in asked}


def write_guesses(guesses: Guesses, *, track: AnyTrack, rng: "Generator") -> dict[str, bytes]:
    """Return guess files by question, without guesses that no team could send."""
    sendable = {
        name: guess.sample(rng) if isinstance(guess, BuiltInGuess) else guess
        for name, guess in guesses.items()
    }
    return {name: track.questions[name].write(guess) for name, guess in sendable.items() if guess is not None}


def rate_attack(
    attacker: AnyAttacker,
    guesses: Guesses,
    answer: AnswerT,
    context: ReleaseContext[OriginalT, ReleaseT],
    *,
    track: Track[OriginalT, ReleaseT, TargetT, AnswerT],
) -> AttackerResult:
    """Return what an attacker's guesses get right, given the answer.

    Raises InvalidResult if a guess is no array where it should be one, has another number of rows than its
    file may have, or names rows that do not exist.
    """
    if not guesses:
        return AttackerResult(Outcome(0.0, note=_NOT_ASKED), attacker.version)
    for name, guess in guesses.items():
        if not isinstance(guess, BuiltInGuess):
            _check_shape(attacker, guess, answer, context, question=track.questions[name])
    outcomes = {}
    for name, guess in guesses.items():
        try:
            outcomes[name] = judge_guess(track.questions[name], guess, answer, context)
        except InvalidResult:
            raise
        except InvalidInput as error:
            raise _build_error(attacker, guess, error.message, context.rules) from None
    is_mean = track.security == "mean" and len(track.select_questions(context.rules)) > 1
    if len(attacker.questions) == 1 and not is_mean:
        (rate,) = outcomes.values()
        return AttackerResult(rate, attacker.version)
    risks = {name: outcome.risk for name, outcome in outcomes.items()}
    if track.security == "mean":
        rate = Outcome(track.combine_risks(risks, context.rules))
    else:
        rate = max(outcomes.values(), key=lambda outcome: (outcome.risk, outcome.value))
    details = {name: outcome.value for name, outcome in outcomes.items()}
    return AttackerResult(replace(rate, details=details), attacker.version, risks)


def _check_shape(
    attacker: AnyAttacker, guess: object, answer: object, context: AnyContext, *, question: AnyQuestion
) -> None:
    perfect_shape: tuple[int, ...] = getattr(question.make_perfect_guess(answer), "shape", ())
    if not perfect_shape:
        return
    shape: tuple[int, ...] = getattr(guess, "shape", ())
    least, most = question.file.row_limits(context.sizes, context.rules)
    if len(shape) != len(perfect_shape) or not least <= shape[0] <= most:
        rows = str(least) if least == most else f"{least}–{most}"
        needed = str((rows, *perfect_shape[1:])).replace("'", "")
        expected = Message("an array of the shape {shape}, with an entry for each row", shape=needed)
        raise _build_error(attacker, guess, expected, context.rules)


def _build_error(attacker: AnyAttacker, guess: object, expected: Message, rules: Rules) -> InvalidResult:
    returned = f"{type(guess).__name__} {getattr(guess, 'shape', '')}".strip()
    return ResultChecker(rules.track, f"attackers.{attacker.name}").build_error(returned, expected)
