"""What a release of the monthly track comes to: utility, security and overall, in [0, 1]; 0 is best."""

from collections.abc import Mapping, Sequence
from math import fsum

from app.scoring.arrays import BoolArray
from app.scoring.outcomes import Outcome
from app.scoring.tracks.monthly.answer import Names, judge
from app.scoring.tracks.monthly.attackers import ATTACKERS, attack, target_of
from app.scoring.tracks.monthly.files import QUESTIONS
from app.scoring.tracks.monthly.measures import MEASURES
from app.scoring.tracks.monthly.release import Release


def measured(release: Release) -> dict[str, float]:
    """Every measure of the release by name."""
    return {name: compute(release) for name, compute in MEASURES.items()}


def attacked(
    release: Release, answer: Names, knowledge: Mapping[str, BoolArray]
) -> dict[str, dict[str, Outcome]]:
    """What every built-in attacker finds, by question and attacker; ``knowledge`` by table, (rows,)."""
    found = {}
    for question, table in QUESTIONS.items():
        target = target_of(release, knowledge[table])
        guesses = {name: attack(target, columns) for name, columns in ATTACKERS.items()}
        found[question] = {name: judge(guess, answer) for name, guess in guesses.items()}
    return found


def utility(measures: Mapping[str, float]) -> float:
    """The largest measure: a release is as useful as its worst use."""
    return max(measures.values())


def security(attackers: Mapping[str, Mapping[str, float]], guesses: Mapping[str, Sequence[float]]) -> float:
    """The larger of the largest built-in outcome and the mean over the questions of the largest guess.

    Outcomes by question: of ``attackers`` by name, of ``guesses`` those of all teams; a question that no team
    answered counts 0.
    """
    built_in = max(max(each.values()) for each in attackers.values())
    teams = fsum(max(guesses.get(question, ()), default=0.0) for question in QUESTIONS) / len(QUESTIONS)
    return max(built_in, teams)


def overall(utility: float, security: float) -> float:
    """The mean of both."""
    return (utility + security) / 2
