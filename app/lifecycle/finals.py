"""Choose the finals of each team at the deadline: those that it marked, or else its best valid ones."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from math import fsum
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from anoncup.competition.ranking_formulas import scores_alone
from anoncup.evaluation.verdict_numbers import VerdictNumbers
from anoncup.formulas.ranks import sort_for_board
from app.boards import verdicts
from app.boards.entries import Entry, apply_formula, build_entry
from app.boards.facts import FinishedRelease
from app.core.db.models import Adjustment, Evaluation, RecordedVerdict, Round, State, Submission, Team


def choose_finals(session: Session, round_: Round) -> list[Submission]:
    """Return the finals of all teams at the deadline: those that a team marked, or else its best valid ones.

    A marked submission is taken even if it is disqualified, so that reinstating it restores the target.
    Submissions scored with versions that do not count are never taken.
    """
    ranking, content = round_.timetable.ranking, RecordedVerdict.content
    # Load two numbers instead of the verdict: a contest has thousands, and the clock holds the lock.
    valid = session.execute(
        select(Submission, Evaluation.id, content["utility"].as_float(), content["security"].as_float())
        .join(Evaluation, (Evaluation.submission_id == Submission.id) & Evaluation.current)
        .join(RecordedVerdict, RecordedVerdict.evaluation_id == Evaluation.id)
        .join(Submission.team)
        .where(Submission.round_id == round_.id, Evaluation.state == State.SCORED)
        .where(~Team.baseline, verdicts.has_same_versions(round_.scored_by))
        .order_by(Submission.team_id, Submission.received_at, Submission.id)
    ).all()
    candidates: Sequence[Entry] = [_build_candidate(*row) for row in valid]
    # By a formula that compares teams, a team's release is chosen by ``overall``.
    if scores_alone(round_.rules):
        candidates = _apply_formula(session, round_, candidates)
    submissions = [submission for submission, *_ in valid]
    pairs = zip(submissions, [candidate.loss for candidate in candidates], strict=True)
    by_team = groupby(pairs, key=lambda pair: pair[0].team_id)
    return [final for _, team in by_team for final in _choose_team_finals(list(team), ranking.finals)]


def _build_candidate(submission: Submission, evaluation_id: UUID, utility: float, security: float) -> Entry:
    """Return a submission as an entry that nobody has attacked yet."""
    release = FinishedRelease(
        submission_id=submission.id,
        evaluation_id=evaluation_id,
        team_id=submission.team_id,
        is_baseline=False,
        received_at=submission.received_at,
        at=submission.received_at,
        numbers=VerdictNumbers(utility, security),
    )
    return build_entry(release, release.numbers)


def _apply_formula(session: Session, round_: Round, candidates: Sequence[Entry]) -> Sequence[Entry]:
    """Return the candidates with their losses under the formula, and the penalties of this moment."""
    ids = [candidate.release.evaluation_id for candidate in candidates]
    numbers = verdicts.load_numbers(session, ids)
    points = select(Adjustment.team_id, func.array_agg(Adjustment.points)).group_by(Adjustment.team_id)
    rows = session.execute(points.where(Adjustment.round_id == round_.id, Adjustment.withdrawn_at.is_(None)))
    adjustments = {team_id: fsum(values) for team_id, values in rows}
    entries = [
        replace(candidate, numbers=numbers[candidate.release.evaluation_id]) for candidate in candidates
    ]
    return apply_formula(round_.rules, entries, adjustments=adjustments, risks={})


def _choose_team_finals(
    candidates: Sequence[tuple[Submission, float | None]], max_finals: int
) -> list[Submission]:
    """Return a team's best marked submissions, or its best qualified ones if it marked none.

    The candidates have their losses and are in order of receipt, which decides ties; one without a loss is
    the last. More than ``max_finals`` may be marked if the limit was lowered later.
    """
    marked = [candidate for candidate in candidates if candidate[0].final]
    eligible = marked or [candidate for candidate in candidates if candidate[0].disqualified_at is None]
    order = sort_for_board([loss for _, loss in eligible])
    return [eligible[index][0] for index in order[:max_finals]]
