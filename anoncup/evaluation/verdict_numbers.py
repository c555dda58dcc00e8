"""The numbers of verdicts that boards and formulas use."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from anoncup.competition.ranking_formulas import (
    build_strongest,
    evaluate_defence,
    list_counting_attackers,
    scores_alone,
)
from anoncup.competition.scoring_versions import Versions
from anoncup.evaluation.ranking import compute_overall_loss
from anoncup.formulas.evaluation import TeamNumbers
from anoncup.messages import JsonObject
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules


@dataclass(frozen=True, slots=True)
class VerdictNumbers:
    """Numbers of a verdict.

    ``attackers`` maps each attacker to the risk that enters E; ``risks`` maps attackers that answer several
    questions to their risk by question; ``correct`` maps attackers that count records to the (possibly
    expected) number they re-identified. ``rounding`` maps each measure to the largest value that is rounding
    noise. ``versions`` maps each part to its version, as in ``[scored_by]``.
    """

    utility: float
    security: float
    violations: tuple[str, ...] = ()
    measures: Mapping[str, float] = field(default_factory=dict)
    rounding: Mapping[str, float] = field(default_factory=dict)
    attackers: Mapping[str, float] = field(default_factory=dict)
    risks: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    correct: Mapping[str, float] = field(default_factory=dict)
    versions: Versions = field(default_factory=dict)

    @property
    def overall(self) -> float:
        return compute_overall_loss(self.utility, self.security)

    def find_risk(self, attacker: str, question: str) -> float:
        """Return the risk that an attacker found with a question; NaN if it did not answer it."""
        by_question = self.risks.get(attacker, {question: self.attackers.get(attacker, math.nan)})
        return by_question.get(question, math.nan)


def extract_numbers(verdict: JsonObject) -> VerdictNumbers:
    """Return the numbers of a stored verdict, which was checked when it was recorded."""
    measures, attackers = verdict["measures"], verdict["attackers"]
    return VerdictNumbers(
        utility=verdict["utility"],
        security=verdict["security"],
        violations=tuple(violation["code"] for violation in verdict["violations"]),
        measures={name: result["value"] for name, result in measures.items()},
        rounding={name: result["rounding"] for name, result in measures.items()},
        attackers={name: result.get("risk", result["rate"]) for name, result in attackers.items()},
        risks={name: result["risks"] for name, result in attackers.items() if result.get("risks")},
        correct={
            name: correct
            for name, result in attackers.items()
            if (correct := result.get("correct")) is not None
        },
        versions={f"measures.{name}": str(result["version"]) for name, result in measures.items()}
        | {f"attackers.{name}": str(result["version"]) for name, result in attackers.items()},
    )


def collect_numbers(
    rules: Rules,
    numbers: VerdictNumbers,
    *,
    security: float | None = None,
    penalty: float = 0.0,
    rival_risks: Mapping[str, Sequence[float]] = MappingProxyType({}),
) -> TeamNumbers:
    """Return the numbers of a release by their names in formulas.

    ``security`` replaces that of the verdict if other teams found more. ``rival_risks`` are the risks that
    they found, by question.
    """
    track, attackers = TRACKS[rules.track], list_counting_attackers(rules)
    names = {
        **{name: numbers.measures.get(name, math.nan) for name in track.measures},
        **{name: numbers.attackers.get(name, math.nan) for name in attackers},
        "utility": numbers.utility,
        "security": numbers.security if security is None else security,
        "penalty": penalty,
    }

    def list_risks(question: str) -> list[float]:
        """Return the risks that other teams and the attackers that count found with a question."""
        return [
            *rival_risks.get(question, ()),
            *(numbers.find_risk(name, question) for name, asked in attackers.items() if question in asked),
        ]

    questions = tuple(track.select_questions(rules))
    return TeamNumbers(names, {"strongest": build_strongest(questions, list_risks)})


def evaluate_releases(rules: Rules, releases: Sequence[VerdictNumbers]) -> list[float | None]:
    """Return the scores of releases by the formula of the rules, without guesses of others and penalties.

    None for a score without a finite value.
    """
    names = [collect_numbers(rules, release) for release in releases]
    scores = evaluate_defence(rules, names, releases[0].rounding)
    return [score if math.isfinite(score) else None for score in scores]


def compute_lone_score(rules: Rules, verdict: JsonObject) -> float | None:
    """Return that score of a stored verdict; None if no formula ranks, or one that compares releases."""
    return evaluate_releases(rules, [extract_numbers(verdict)])[0] if scores_alone(rules) else None
