"""The values that ranking formulas take from the rows of a board."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np

from anoncup.competition.ranking_formulas import find_defence_formula, list_counting_attackers
from anoncup.errors import CompetitionUnavailable
from anoncup.formulas.board_numbers import (
    Attacks,
    BoardNumbers,
    build_attack_functions,
    build_defence_functions,
)
from anoncup.formulas.errors import FormulaError
from anoncup.formulas.evaluation import evaluate_formula
from anoncup.formulas.filled_formula import FilledFormula
from anoncup.formulas.filling import fill_in_formula
from anoncup.formulas.syntax import Formula
from anoncup.formulas.values import ROUNDING, Values
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from app.services.boards.formula_rows import FormulaInputs, ReleaseNumbers


def compute_defence(
    rules: Rules, releases: Sequence[ReleaseNumbers], inputs: FormulaInputs
) -> list[float | None]:
    """Return the value of the formula that ranks releases for each of them, or None where it is missing."""
    return _evaluate(*_list_defence_formulas(rules, releases, inputs)["defence"])


def fill_in_defence(
    rules: Rules,
    releases: Sequence[ReleaseNumbers],
    inputs: FormulaInputs,
    row: int,
    *,
    hides_comparisons: bool,
) -> dict[str, FilledFormula]:
    """Return the formulas that rank releases by their key, with the numbers of the release in a row.

    ``hides_comparisons``: show no part that compares teams, except the value of the whole.
    """
    formulas = _list_defence_formulas(rules, releases, inputs)
    hides_utility = hides_comparisons and "utility" in formulas and formulas["utility"][0].compares_teams
    hidden_names = [*(["rank"] if hides_comparisons else []), *(["utility"] if hides_utility else [])]
    filled = {
        key: fill_in_formula(formula, board, row, hidden_names) for key, (formula, board) in formulas.items()
    }
    return filled | ({"utility": replace(filled["utility"], value=None)} if hides_utility else {})


def _list_defence_formulas(
    rules: Rules, releases: Sequence[ReleaseNumbers], inputs: FormulaInputs
) -> dict[str, tuple[Formula, BoardNumbers]]:
    """Return the formulas that rank releases by their key, each with its numbers."""
    names = _collect_names(rules, releases, inputs)
    functions = build_defence_functions(_collect_attacks(rules, releases, inputs))
    board = BoardNumbers(len(releases), names, functions)
    formula, utility_formula = find_defence_formula(rules), rules.ranking.utility
    if utility_formula is None:
        return {"defence": (formula, board)}
    utility = Values(_collect(_evaluate(utility_formula, board)))
    return {
        "utility": (utility_formula, board),
        "defence": (formula, BoardNumbers(len(releases), {**names, "utility": utility}, functions)),
    }


def compute_attack(
    rules: Rules,
    formula: Formula,
    owners: Mapping[UUID, UUID],
    identified: Mapping[UUID, int | None],
    inputs: FormulaInputs,
) -> dict[UUID, float | None]:
    """Return the value of the formula that ranks attacks for each team.

    ``owners`` has the team of each submission that is a target, and ``identified`` the number of individuals
    that each team re-identified.
    """
    team_ids, submission_ids = inputs.team_ids, list(owners)
    attacks = Attacks(
        _build_risk_tables(rules, submission_ids, inputs), _find_columns(owners.values(), team_ids)
    )
    names = {
        "adjustment": _build_adjustments(team_ids, inputs),
        "identified": Values(np.array([float(identified.get(team_id) or 0) for team_id in team_ids])),
    }
    board = BoardNumbers(len(team_ids), names, build_attack_functions(attacks))
    return dict(zip(team_ids, _evaluate(formula, board), strict=True))


def _collect_names(
    rules: Rules, releases: Sequence[ReleaseNumbers], inputs: FormulaInputs
) -> dict[str, Values]:
    rounding = {name: limit for release in releases for name, limit in release.numbers.rounding.items()}
    track = TRACKS[rules.track]
    return {
        **{
            name: Values(
                _collect(release.numbers.measures.get(name) for release in releases),
                rounding=rounding.get(name, ROUNDING),
            )
            for name in track.measures
        },
        **{
            name: Values(_collect(release.numbers.attackers.get(name) for release in releases))
            for name in list_counting_attackers(rules)
        },
        "utility": Values(_collect(release.numbers.utility for release in releases)),
        "security": Values(_collect(release.security for release in releases)),
        "adjustment": _build_adjustments([release.team_id for release in releases], inputs),
    }


def _collect(numbers: Iterable[float | None]) -> FloatArray:
    return np.array([math.nan if number is None else number for number in numbers], dtype=np.float64)


def _build_adjustments(team_ids: Iterable[UUID], inputs: FormulaInputs) -> Values:
    return Values(_collect(inputs.adjustments.get(team_id, 0.0) for team_id in team_ids))


def _collect_attacks(rules: Rules, releases: Sequence[ReleaseNumbers], inputs: FormulaInputs) -> Attacks:
    submission_ids = [release.submission_id for release in releases]
    return Attacks(
        _build_risk_tables(rules, submission_ids, inputs),
        _find_columns((release.team_id for release in releases), inputs.team_ids),
        {
            name: {
                question: _collect(_find_attacker_risk(release, name, question) for release in releases)
                for question in questions
            }
            for name, questions in list_counting_attackers(rules).items()
        },
    )


def _find_attacker_risk(release: ReleaseNumbers, attacker: str, question: str) -> float | None:
    risks = release.numbers.risks.get(attacker)
    return release.numbers.attackers.get(attacker) if risks is None else risks.get(question)


def _build_risk_tables(
    rules: Rules, submission_ids: Sequence[UUID], inputs: FormulaInputs
) -> dict[str, FloatArray]:
    questions = TRACKS[rules.track].select_questions(rules)
    columns = {team_id: column for column, team_id in enumerate(inputs.team_ids)}
    tables = {question: np.zeros((len(submission_ids), len(columns))) for question in questions}
    for row, submission_id in enumerate(submission_ids):
        for question, risks in inputs.risks.get(submission_id, {}).items():
            for team_id, risk in risks.items():
                if question in tables and team_id in columns:
                    tables[question][row, columns[team_id]] = risk
    return tables


def _find_columns(team_ids: Iterable[UUID], guessing_team_ids: Sequence[UUID]) -> IntArray:
    columns = {team_id: column for column, team_id in enumerate(guessing_team_ids)}
    return np.array([columns.get(team_id, -1) for team_id in team_ids], dtype=np.int64)


def _evaluate(formula: Formula, board: BoardNumbers) -> list[float | None]:
    """Return the value of each row. Raises CompetitionUnavailable for this competition alone."""
    try:
        values = evaluate_formula(formula, board)
    except FormulaError as error:
        raise CompetitionUnavailable(error.message) from None
    return [None if math.isnan(number) else number for number in values.numbers.tolist()]
