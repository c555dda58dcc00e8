"""Answers of built-in attackers to the questions of a contest, and their success rates."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from anoncup.evaluation.results import ResultChecker, rate_prediction
from anoncup.messages import Message
from anoncup.rules.model import Rules
from anoncup.tracks.model import AnyContext, AnyQuestion, AnyTrack, find_largest_risk
from anoncup.tracks.outcomes import Rate
from anoncup.tracks.parts import AnyAttacker

if TYPE_CHECKING:
    from numpy.random import Generator


def select_questions(attacker: AnyAttacker, track: AnyTrack, rules: Rules) -> dict[str, AnyQuestion]:
    """Return the questions of the competition that the attacker answers, by name."""
    contest_questions = track.select_questions(rules)
    return {name: contest_questions[name] for name in attacker.questions if name in contest_questions}


def predict(attacker: AnyAttacker, target: object, *, track: AnyTrack, rules: Rules) -> object:
    """Return the attacker's answer; None if the competition asks none of its questions."""
    if not select_questions(attacker, track, rules):
        return None
    return attacker.attack(target, **rules.attacker_settings(attacker.name).parameters)


def get_answers_by_question(attacker: AnyAttacker, answer: object) -> Mapping[str, object]:
    """Return an attacker's answers by question, even if it answers only one."""
    if isinstance(attacker.question, str):
        return {attacker.question: answer}
    return cast(Mapping[str, object], answer)


def write_guesses(
    attacker: AnyAttacker, target: object, *, track: AnyTrack, rules: Rules, rng: "Generator"
) -> dict[str, bytes]:
    """Attack a target and return the guess files by question."""
    attacker_answer = predict(attacker, target, track=track, rules=rules)
    return write_answer(attacker, attacker_answer, track=track, rules=rules, rng=rng)


def write_answer(
    attacker: AnyAttacker, attacker_answer: object, *, track: AnyTrack, rules: Rules, rng: "Generator"
) -> dict[str, bytes]:
    """Return guess files by question for an attacker's answer. Parts that lead to no guess are left out."""
    answers = get_answers_by_question(attacker, attacker_answer)
    questions = select_questions(attacker, track, rules)
    guesses = {name: question.resolve_guess(answers[name], rng) for name, question in questions.items()}
    return {name: questions[name].write(guess) for name, guess in guesses.items() if guess is not None}


def rate_attack(
    attacker: AnyAttacker,
    attacker_answer: object,
    secret: object,
    context: AnyContext,
    *,
    track: AnyTrack,
) -> Rate:
    """Return the success rate of an attacker.

    The rates of several questions are combined as ``Track.rival_risk`` combines risks. The result is then
    the rate of the question with the largest risk, or a combined number without counts. Its details contain
    the rate of each question.
    """
    rules, contest_questions = context.rules, track.select_questions(context.rules)
    rates = {
        name: rate_prediction(
            question, get_answers_by_question(attacker, attacker_answer)[name], secret, context
        )
        for name, question in select_questions(attacker, track, rules).items()
    }
    if not rates:
        return Rate(
            0.0,
            None,
            None,
            0.0,
            note=Message("this competition does not ask the question that this attacker answers"),
        )
    if isinstance(attacker.question, str) and (
        len(contest_questions) == 1 or track.rival_risk is find_largest_risk
    ):
        return rates[attacker.question]
    risks = {name: rate.risk for name, rate in rates.items()}
    if track.rival_risk is find_largest_risk:
        combined_rate = max(rates.values(), key=lambda rate: (rate.risk, rate.rate))
    else:
        combined_risk = track.rival_risk(
            {name: (risks[name],) if name in risks else () for name in contest_questions}
        )
        checker = ResultChecker(track.name, "rival_risk")
        combined_rate = Rate(checker.require_share(combined_risk), None, None, 0.0)
    return replace(combined_rate, details={name: rate.rate for name, rate in rates.items()}, risks=risks)
