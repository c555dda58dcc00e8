"""The scores, by the ranking's formula or function, of releases that nobody else has attacked yet."""

import math
from collections.abc import Sequence

from anoncup.competition.ranking_formulas import compares_teams, list_counting_attackers
from anoncup.competition.ranking_functions import rank_board
from anoncup.evaluation.attacks import AttackerResult
from anoncup.evaluation.evaluate import Verdict
from anoncup.evaluation.verdict_numbers import evaluate_releases, extract_numbers
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.ranking_board import BoardAttack, BoardSubmission, RankingBoard


def compute_formula_score(rules: Rules, verdict: Verdict) -> float | None:
    """Return the score of a release on a board without guesses of other teams and without penalties.

    None if the formula compares releases, so that the score depends on those of other teams, or if it has no
    finite value.
    """
    return None if compares_teams(rules) else compute_formula_scores(rules, [verdict])[0]


def compute_formula_scores(rules: Rules, verdicts: Sequence[Verdict]) -> list[float | None]:
    """Return the scores of releases on a board that has no others, without guesses and penalties.

    None for a score without a finite value. Each release counts as that of another team.
    """
    if rules.ranking.function:
        ranked = rank_board(rules.ranking.function, _build_board(rules, verdicts))
        return [entry.score for entry in ranked]
    return evaluate_releases(rules, [extract_numbers(verdict.to_json()) for verdict in verdicts])


def _build_board(rules: Rules, verdicts: Sequence[Verdict]) -> RankingBoard:
    track = TRACKS[rules.track]
    counting, questions = list_counting_attackers(rules), track.select_questions(rules)
    releases = {str(index): verdict for index, verdict in enumerate(verdicts)}
    submissions = tuple(
        BoardSubmission(
            id=name,
            team=name,
            received=int(name),
            utility=verdict.utility,
            security=verdict.security,
            overall=verdict.overall,
            measures={measure: result.value for measure, result in verdict.measures.items()},
        )
        for name, verdict in releases.items()
    )
    attacks = tuple(
        BoardAttack(
            submission=name,
            question=question,
            attacker=attacker,
            risk=_find_risk(result, question),
            correct=result.rate.correct,
            is_built_in=True,
            counts=attacker in counting,
        )
        for name, verdict in releases.items()
        for attacker, result in verdict.attackers.items()
        for question in track.attackers[attacker].questions
        if question in questions
    )
    return RankingBoard(tuple(releases), submissions, attacks)


def _find_risk(result: AttackerResult, question: str) -> float:
    return result.risks.get(question, math.nan) if result.risks else result.rate.risk
