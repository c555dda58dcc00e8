"""Judged guesses that count on the boards, aggregated by the database because there may be thousands."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from math import fsum
from typing import Any, NamedTuple, TypeVarTuple
from uuid import UUID

from sqlalchemy import Select, Subquery, case, func, literal, select, true
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session, aliased

from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from app.db.models import Guess, Rejudgement, Rescore, State, Target, Team
from app.services.accounts import names
from app.services.boards.source import BoardSource
from app.services.contests.visibility import UNFROZEN


class BestGuess(NamedTuple):
    """Summary of a team's guesses on one question about one target.

    ``risk`` and ``correct`` are the maxima over these guesses, ``trials`` is their number.
    """

    risk: float
    correct: int
    trials: int
    first_received_at: datetime


BestByQuestion = Mapping[str, BestGuess]
"""A team's best guesses on one target, by question. Unanswered questions are absent."""

_GUESS_COLUMNS = (
    "id",
    "round_id",
    "team_id",
    "target_id",
    "question",
    "received_at",
    "created_at",
    "finished_at",
)
_ColumnTypes = TypeVarTuple("_ColumnTypes")
RiskCombiner = Callable[[Mapping[str, float]], float]
"""Combines the largest risk of each question into one risk. Questions may be absent."""


@dataclass(frozen=True, slots=True)
class AttackTotals:
    """Totals of a team's best guesses over all targets that it attacked.

    Tracks that count individuals set ``identified`` and ``tried``: individuals re-identified and individuals
    in the attacked targets. Other tracks set ``score``, the sum of the risks of the targets, and
    ``by_question``, the mean risk over the targets, where an unanswered question counts as 0. ``rate`` is the
    fraction of the maximum, in [0, 1].
    """

    rate: float
    targets: int
    first_received_at: datetime
    identified: int | None = None
    tried: int | None = None
    score: float | None = None
    by_question: dict[str, float] | None = None

    @property
    def ranked_value(self) -> float:
        """Value by which the board ranks; higher is better."""
        return float(self.identified or 0) if self.score is None else self.score


def make_risk_combiner(rules: Rules) -> RiskCombiner:
    """Return the function by which the competition's track combines the risks of its questions."""
    return partial(TRACKS[rules.track].combine_risks, rules=rules)


def load_rival_risks(session: Session, source: BoardSource) -> dict[UUID, float]:
    """Return the risk in [0, 1] from the visible guesses of other teams, by target submission."""
    if source.scope.guesses_before is None or not source.targets:
        return {}
    best = _select_best(source).c
    risks_by_target: dict[UUID, dict[str, float]] = defaultdict(dict)
    by_question = select(best.target_id, best.question, func.max(best.risk)).group_by(
        best.target_id, best.question
    )
    for target_id, question, risk in session.execute(by_question):
        risks_by_target[target_id][question] = risk
    combine_risks = make_risk_combiner(source.rules)
    return {
        target.evaluation.submission_id: combine_risks(risks_by_target[target.id])
        for target in source.targets
        if target.id in risks_by_target
    }


def summarize_by_team(session: Session, source: BoardSource) -> dict[UUID, AttackTotals]:
    if source.scope.guesses_before is None:
        return {}
    return (_summarize_counts if source.counts_individuals else _summarize_risks)(session, source)


def _summarize_counts(session: Session, source: BoardSource) -> dict[UUID, AttackTotals]:
    """Return attacks by team for a track that counts individuals."""
    best = _select_best(source).c
    sums = (
        select(
            best.team_id, func.sum(best.correct), func.sum(Target.rows), func.count(), func.min(best.since)
        )
        .join(Target, Target.id == best.target_id)
        .group_by(best.team_id)
    )
    return {
        team_id: AttackTotals(
            identified / tried, target_count, first_received_at, identified=identified, tried=tried
        )
        for team_id, identified, tried, target_count, first_received_at in session.execute(sums)
    }


def _summarize_risks(session: Session, source: BoardSource) -> dict[UUID, AttackTotals]:
    """Return attacks by team for a track that compares risks.

    Sums use ``fsum``, so they do not depend on the order of the targets.
    """
    combine_risks = make_risk_combiner(source.rules)

    def add_up(attacked_targets: Sequence[BestByQuestion]) -> AttackTotals:
        score = fsum(combine_risks(collect_risks(best_by_question)) for best_by_question in attacked_targets)
        by_question = {
            name: fsum(
                best_by_question[name].risk
                for best_by_question in attacked_targets
                if name in best_by_question
            )
            / len(attacked_targets)
            for name in source.questions
        }
        first_received_at = min(
            best.first_received_at
            for best_by_question in attacked_targets
            for best in best_by_question.values()
        )
        return AttackTotals(
            score / len(attacked_targets),
            len(attacked_targets),
            first_received_at,
            score=score,
            by_question=by_question,
        )

    best_by_team = group_by_team_and_target(session, source)
    return {
        team_id: add_up(list(best_by_target.values())) for team_id, best_by_target in best_by_team.items()
    }


def collect_risks(best_by_question: BestByQuestion) -> dict[str, float]:
    """Return the best risk of one team by question."""
    return {name: best.risk for name, best in best_by_question.items()}


def group_by_team_and_target(
    session: Session, source: BoardSource
) -> Mapping[UUID, Mapping[UUID, BestByQuestion]]:
    best_by_team: dict[UUID, dict[UUID, dict[str, BestGuess]]] = {}
    if source.scope.guesses_before is None:
        return best_by_team
    for team_id, target_id, question, *best in session.execute(_select_best(source).select()):
        best_by_target = best_by_team.setdefault(team_id, {})
        best_by_target.setdefault(target_id, {})[question] = BestGuess._make(best)
    return best_by_team


def _select_best(source: BoardSource) -> Subquery:
    """Build a subquery of the best guess for each team, target and question.

    Each row has the maximum risk and count of the guesses that count, their number and the first receipt.
    """
    guess = _select_guesses(source)
    first_question, *other_questions = source.questions
    question = guess.question if other_questions else literal(first_question).label("question")
    best = select(
        guess.team_id,
        guess.target_id,
        question,
        func.max(func.coalesce(guess.risk, 0.0)).label("risk"),
        func.max(func.coalesce(guess.correct, 0)).label("correct"),
        func.count().label("trials"),
        func.min(guess.received_at).label("since"),
    ).group_by(guess.team_id, guess.target_id, *([guess.question] if other_questions else []))
    return _filter_effective(best, guess, source).subquery()


def _select_guesses(source: BoardSource) -> type[Guess]:
    """Return the guesses with the results that are in effect in this scope.

    A frozen board takes the results that the first rescore after its moment has replaced. The board that a
    rescore proposes takes those of its rejudgements.
    """
    if source.proposed_by is not None:
        return _replace_results(
            select(Rejudgement.guess_id, Rejudgement.state, Rejudgement.risk, Rejudgement.correct)
            .join(Guess, Guess.id == Rejudgement.guess_id)
            .where(Rejudgement.rescore_id == source.proposed_by, Guess.state != State.REFUSED)
        )
    if source.scope.as_of == UNFROZEN:
        return Guess
    replaced = Rejudgement.replaced
    return _replace_results(
        select(
            Rejudgement.guess_id,
            replaced["state"].as_string().label("state"),
            replaced["risk"].as_float().label("risk"),
            replaced["correct"].as_integer().label("correct"),
        )
        .join(Rescore, Rescore.id == Rejudgement.rescore_id)
        .where(Rescore.round_id == source.round_id, Rescore.applied_at >= source.scope.as_of)
        .where(replaced["state"].as_string().is_not(None))
        .ext(distinct_on(Rejudgement.guess_id))
        .order_by(Rejudgement.guess_id, Rescore.applied_at)
    )


def _replace_results(results: Select[*tuple[Any, ...]]) -> type[Guess]:
    """Return the guesses, those in ``results`` with the state, risk and count given there."""
    result = results.subquery()
    replaced_columns = (
        case((result.c.guess_id.is_not(None), result.c[name]), else_=getattr(Guess, name)).label(name)
        for name in ("state", "risk", "correct")
    )
    guesses = select(*(getattr(Guess, name) for name in _GUESS_COLUMNS), *replaced_columns)
    joined = guesses.outerjoin(result, result.c.guess_id == Guess.id)
    return aliased(Guess, joined.subquery(), adapt_on_names=True)


def _filter_effective(
    query: Select[*_ColumnTypes], guess: type[Guess], source: BoardSource
) -> Select[*_ColumnTypes]:
    """Limit the query to the judged guesses that count in this scope, without those of disqualified teams.

    ``guess`` is the result of ``_select_guesses``.
    """
    scope = source.scope
    return (
        query.join(Team, Team.id == guess.team_id)
        .where(guess.round_id == source.round_id, guess.state == State.SCORED)
        .where(guess.created_at < scope.guesses_before, Team.disqualified_at.is_(None))
        .where(true() if scope.as_of == UNFROZEN else guess.finished_at < scope.as_of)
        .where(guess.target_id.in_([target.id for target in source.targets]))
        .where(guess.question.in_(source.questions))
    )


def list_teams_by_name(session: Session, team_ids: Iterable[UUID]) -> list[tuple[UUID, str]]:
    """Return the identifiers and names of these teams, sorted by name."""
    teams = session.execute(select(Team.id, Team.name).where(Team.id.in_(team_ids)))
    return sorted(
        ((team_id, name) for team_id, name in teams), key=lambda team: (names.build_key(team[1]), team[1])
    )
