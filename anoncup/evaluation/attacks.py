"""What a built-in attacker is asked of a target, and how often what it says is right."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anoncup.messages import Message
from anoncup.rules.model import Rules
from anoncup.tracks.model import Question, Sizes, Track, largest
from anoncup.tracks.outcomes import Rate
from anoncup.tracks.parts import Attacker

if TYPE_CHECKING:
    from numpy.random import Generator


def asked(attacker: Attacker, track: Track, rules: Rules) -> dict[str, Question]:
    """Of the questions that it answers those that the competition asks."""
    known = track.asked(rules)
    return {name: known[name] for name in attacker.questions if name in known}


def said_to(attacker: Attacker, said: Any) -> Mapping[str, Any]:
    """What it says, by question."""
    return {attacker.question: said} if isinstance(attacker.question, str) else said


def guesses_of(
    attacker: Attacker, target: Any, *, track: Track, rules: Rules, rng: "Generator"
) -> dict[str, bytes]:
    """The files of its guesses, by question: where nobody could make one of what it says, none."""
    said = said_to(attacker, attacker.attack(target, **rules.attacker(attacker.name).parameters))
    questions = asked(attacker, track, rules)
    found = {name: one.guess_of(said[name], rng) for name, one in questions.items()}
    return {name: questions[name].write(guess) for name, guess in found.items() if guess is not None}


def rate_of_attack(
    attacker: Attacker, said: Any, answer: Any, sizes: Sizes, *, track: Track, rules: Rules
) -> Rate:
    """Return its rate. Of several questions it is what E takes of them (``Track.rivals``): the worst one's
    rate, or a number without counts. The rate of each question is among the details.
    """
    known = track.asked(rules)
    found = {
        name: question.rated(said_to(attacker, said)[name], answer, sizes, **rules.questions.get(name, {}))
        for name, question in asked(attacker, track, rules).items()
    }
    if not found:
        return Rate(
            0.0,
            None,
            None,
            0.0,
            note=Message("this competition does not ask the question that this attacker answers"),
        )
    if isinstance(attacker.question, str) and (len(known) == 1 or track.rivals is largest):
        return found[attacker.question]
    risks = {name: rate.risk for name, rate in found.items()}
    if track.rivals is largest:
        combined = max(found.values(), key=lambda rate: (rate.risk, rate.rate))
    else:
        taken = track.rivals({name: (risks[name],) if name in risks else () for name in known})
        combined = Rate(taken, None, None, 0.0)
    return replace(combined, details={name: rate.rate for name, rate in found.items()}, risks=risks)
