"""Contest lifecycle: freeze the finals, publish the targets, close, reveal.

Each step locks the competition, reads the clock under the lock, checks that the step is due and not yet done,
and performs it in one transaction. Two clock processes, or one that is restarted midway, therefore perform it
once. Long work (writing the files of a target, opening a secret) runs between the steps, target by target,
and is recorded once.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from math import fsum
from uuid import UUID

from sqlalchemy import ColumnElement, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.errors import CompetitionUnavailable
from anoncup.formulas.ranks import sort_for_board
from app.boards import entries, standing_updates, verdicts
from app.boards.formula_values import FormulaInputs, ReleaseNumbers, compute_defence
from app.competitions import competitions, phases, reveal_notice
from app.competitions.contest import Contest
from app.core import audit, outbox
from app.core.db.models import (
    Adjustment,
    Competition,
    Evaluation,
    Guess,
    Opening,
    RecordedVerdict,
    Round,
    Secret,
    State,
    Submission,
    Target,
    Team,
)
from app.core.db.now import read_clock
from app.jobs.leases import UNFINISHED
from app.originals.sealed_inputs import SealedBox
from app.submissions import attempts
from app.submissions.uploads import list_original_digests
from app.targets import allocation


@dataclass(frozen=True, slots=True)
class TargetWithoutFiles:
    """A target whose files are not written yet, with everything needed to write them."""

    round_id: UUID
    competition_file: str
    original: tuple[tuple[str, str], ...]
    target_id: UUID
    submission_id: UUID
    team_id: UUID
    files: dict[str, str]
    key_id: str
    sealed: bytes


@dataclass(frozen=True, slots=True)
class SealedTarget:
    """A target whose secret is to be opened and published."""

    target_id: UUID
    submission_id: UUID
    key_id: str
    sealed: bytes
    commitment: str


@dataclass(frozen=True, slots=True)
class DueWork:
    """Work that is due in the contests.

    ``due_ids`` lists competitions with a step to take. ``unreadable`` maps competitions whose file cannot be
    read to the reason.
    """

    due_ids: list[UUID]
    unreadable: dict[UUID, str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A valid submission. The lowest ``loss`` is the best: ``overall``, or what the formula gives.

    Without a loss it is the last.
    """

    submission: Submission
    evaluation_id: UUID
    loss: float | None


def find_due_work(session: Session) -> DueWork:
    """Return the due work. Nothing is locked here; each step checks again under the lock."""
    unrevealed = (
        select(Round).join(Competition).where(Round.revealed_at.is_(None), Round.removed_at.is_(None))
    )
    rows = session.scalars(unrevealed.order_by(Competition.created_at)).all()
    now, due_work = read_clock(session), DueWork([], {})
    for round_ in rows:
        try:
            if _is_due(round_, now) or allocation.is_due(session, round_, now):
                due_work.due_ids.append(round_.id)
        except CompetitionUnavailable as problem:
            due_work.unreadable[round_.id] = str(problem)
    return due_work


def _is_due(round_: Round, now: datetime) -> bool:
    if round_.frozen_at is None:
        return phases.has_phase_ended(round_, phases.ANONYMIZATION, now)
    return round_.published_at is None or reveal_notice.is_reveal_due(round_, now)


def take_next_step(session: Session, round_id: UUID) -> bool:
    """Take the next step of the competition; return False if it is not due or must wait."""
    round_ = session.get_one(Round, round_id)
    if round_.frozen_at is None:
        # Freezing comes first: the deadline must not wait for a key.
        return freeze(session, round_id) or _commit_seed(session, round_id)
    if round_.published_at is None:
        return publish(session, round_id)
    if round_.closed_at is None:
        return close(session, round_id)
    return reveal(session, round_id)


def has_long_work(session: Session, round_id: UUID) -> bool:
    """Return whether a worker must allocate or write files, or open secrets, before the next step."""
    round_ = session.get_one(Round, round_id)
    if allocation.find_pending(session, round_, read_clock(session)) is not None:
        return True
    in_round = Target.round_id == round_id
    if session.scalar(select(exists().where(in_round, Target.files.is_(None)))):
        return True
    has_sealed_target = session.scalar(select(exists().where(in_round, _is_sealed())))
    return bool(has_sealed_target or allocation.find_sealed_seed(session, round_.id)) and _can_open_secrets(
        session, round_
    )


def _commit_seed(session: Session, round_id: UUID) -> bool:
    """Commit to the seed of the allocation, if the service allocates data in this competition."""
    if not allocation.is_uncommitted(session.get_one(Round, round_id)):
        return False
    return allocation.commit_seed(session, competitions.lock(session, round_id))


def freeze(session: Session, round_id: UUID) -> bool:
    """Freeze the finals once the first deadline has passed and all timely submissions have been scored."""
    round_ = competitions.lock(session, round_id)
    is_ready = round_.frozen_at is None and phases.has_phase_ended(
        round_, phases.ANONYMIZATION, read_clock(session)
    )
    if (
        not is_ready
        or _is_being_scored(session, round_)
        or attempts.has_pending_uploads(session, round_, phases.ANONYMIZATION)
    ):
        return False
    _add_finals(session, round_)
    round_.frozen_at = read_clock(session)
    target_count = session.scalar(select(func.count()).where(Target.round_id == round_.id))
    audit.record_by_clock(session, round_, "finals.freeze", targets=target_count)
    outbox.add_phase_change(session, round_.competition_id, round_.id, "finals_frozen")
    return True


def _add_finals(session: Session, round_: Round) -> None:
    finals = choose_finals(session, round_)
    # Shuffle, so that target names reveal neither the team nor the time of receipt.
    secrets.SystemRandom().shuffle(finals)
    width = max(2, len(str(len(finals))))
    for number, submission in enumerate(finals, 1):
        session.add(Target.from_submission(submission, f"T{number:0{width}}"))


def _is_being_scored(session: Session, round_: Round) -> bool:
    in_round = Evaluation.round_id == round_.id
    unfinished = exists().where(in_round, Evaluation.current, Evaluation.state.in_(UNFINISHED))
    return bool(session.scalar(select(unfinished)))


def list_targets_without_files(session: Session, round_id: UUID) -> list[TargetWithoutFiles]:
    round_ = session.get_one(Round, round_id)
    target_rows = session.execute(
        select(Target.id, Submission.id, Submission.team_id, Submission.files, Secret.key_id, Secret.sealed)
        .join(Target.submission)
        .join(Secret, Secret.submission_id == Submission.id)
        .where(Target.round_id == round_id, Target.files.is_(None))
        .order_by(Target.name)
    )
    original = list_original_digests(round_)
    return [TargetWithoutFiles(round_.id, round_.file, original, *row) for row in target_rows]


def record_files(session: Session, target_id: UUID, files: dict[str, str]) -> None:
    """Record the files of a target, unless another process has recorded them."""
    session.execute(update(Target).where(Target.id == target_id, Target.files.is_(None)).values(files=files))


def publish(session: Session, round_id: UUID) -> bool:
    """Publish the targets once all their files are written."""
    round_ = competitions.lock(session, round_id)
    without_files = exists().where(Target.round_id == round_.id, Target.files.is_(None))
    if round_.frozen_at is None or round_.published_at is not None or session.scalar(select(without_files)):
        return False
    round_.published_at = read_clock(session)
    standing_updates.refresh(session, round_id, since=round_.published_at)
    audit.record_by_clock(session, round_, "targets.publish")
    outbox.add_phase_change(session, round_.competition_id, round_.id, "targets_published")
    return True


def close(session: Session, round_id: UUID) -> bool:
    """Close the contest once the reveal is due and every guess has been judged.

    If the end was moved to an earlier time, the reveal waits for the notice period. Until then organizers can
    move the end again, so that an accidental change can be undone.
    """
    round_ = competitions.lock(session, round_id)
    is_ready = round_.closed_at is None and round_.published_at is not None
    if not is_ready or not reveal_notice.is_reveal_due(round_, read_clock(session)):
        return False
    unjudged = exists().where(Guess.round_id == round_.id, Guess.state.in_(UNFINISHED))
    if session.scalar(select(unjudged)) or attempts.has_pending_uploads(
        session, round_, phases.REIDENTIFICATION
    ):
        return False
    round_.closed_at = read_clock(session)
    # Functions of later rounds may read from now on what was hidden.
    standing_updates.refresh(session, round_id, since=round_.closed_at)
    audit.record_by_clock(session, round_, "competition.close")
    outbox.add_phase_change(session, round_.competition_id, round_.id, "closed")
    return True


def _can_open_secrets(session: Session, round_: Round) -> bool:
    """Return whether secrets may be opened: the competition is closed and the reveal is due."""
    return round_.closed_at is not None and reveal_notice.is_reveal_due(round_, read_clock(session))


def list_sealed_targets(session: Session, round_id: UUID) -> list[SealedTarget]:
    """Return the targets whose secrets are still sealed; none unless the secrets may be opened."""
    if not _can_open_secrets(session, session.get_one(Round, round_id)):
        return []
    secret_rows = session.execute(
        select(Target.id, Secret.submission_id, Secret.key_id, Secret.sealed, Submission.commitment)
        .join(Secret, Secret.submission_id == Target.submission_id)
        .join(Submission, Submission.id == Target.submission_id)
        .where(Target.round_id == round_id, Submission.round_id == round_id)
        .where(_is_sealed())
        .order_by(Target.name)
    )
    return [SealedTarget(*row) for row in secret_rows]


def find_unopened_seed(session: Session, round_id: UUID) -> SealedBox | None:
    """Return the seed if it is still sealed; None unless secrets may be opened."""
    if not _can_open_secrets(session, session.get_one(Round, round_id)):
        return None
    return allocation.find_sealed_seed(session, round_id)


def _is_sealed() -> ColumnElement[bool]:
    return ~exists().where(Opening.target_id == Target.id)


def record_opening(session: Session, target_id: UUID, *, salt: bytes, secret: str) -> None:
    """Record the opened secret of a target, which is shown from the reveal on.

    It is ignored if another process has recorded it.
    """
    opening = insert(Opening).values(target_id=target_id, salt=salt, secret=secret)
    session.execute(opening.on_conflict_do_nothing())


def reveal(session: Session, round_id: UUID) -> bool:
    """Reveal the secrets of the targets once all are opened."""
    round_ = competitions.lock(session, round_id)
    still_sealed = exists().where(Target.round_id == round_.id, _is_sealed())
    if (
        round_.revealed_at is not None
        or session.scalar(select(still_sealed))
        or not _can_open_secrets(session, round_)
    ):
        return False
    if allocation.find_sealed_seed(session, round_.id) is not None:
        return False
    round_.revealed_at = read_clock(session)
    secret_count = session.scalar(select(func.count()).where(Target.round_id == round_.id))
    audit.record_by_clock(session, round_, "secrets.reveal", secrets=secret_count)
    outbox.add_phase_change(session, round_.competition_id, round_.id, "revealed")
    return True


def choose_finals(session: Session, round_: Round) -> list[Submission]:
    """Return the finals of all teams at the deadline: those that a team marked, or else its best valid ones.

    A marked submission is taken even if it is disqualified, so that reinstating it restores the target.
    Submissions scored with versions that do not count are never taken.
    """
    ranking_settings = round_.timetable.ranking
    valid = session.execute(
        # Load one number instead of the verdict: a contest has thousands, and the clock holds the lock.
        select(Submission, Evaluation.id, RecordedVerdict.content["overall"].as_float())
        .join(Evaluation, (Evaluation.submission_id == Submission.id) & Evaluation.current)
        .join(RecordedVerdict, RecordedVerdict.evaluation_id == Evaluation.id)
        .join(Submission.team)
        .where(Submission.round_id == round_.id, Evaluation.state == State.SCORED)
        .where(~Team.baseline, verdicts.has_same_versions(round_.scored_by))
        .order_by(Submission.team_id, Submission.received_at, Submission.id)
    )
    candidates = [Candidate(*fields) for fields in valid]
    if ranking_settings.rule == "formula":
        candidates = _apply_formula(session, Contest(round_), candidates)
    by_team = groupby(candidates, key=lambda candidate: candidate.submission.team_id)
    return [
        final
        for _, team_candidates in by_team
        for final in _choose_team_finals(list(team_candidates), ranking_settings.finals)
    ]


def _apply_formula(session: Session, contest: Contest, candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates with their losses under the formula. Nobody has attacked them yet.

    If it compares teams, a team's release is chosen by ``overall``.
    """
    rules = contest.rules
    if compares_teams(rules):
        return candidates
    numbers = verdicts.load_numbers(session, [candidate.evaluation_id for candidate in candidates])
    releases = [
        ReleaseNumbers(
            candidate.submission.id,
            candidate.submission.team_id,
            numbers[candidate.evaluation_id],
            numbers[candidate.evaluation_id].security,
        )
        for candidate in candidates
    ]
    inputs = FormulaInputs(adjustments=_load_adjustments(session, contest.round.id))
    values = compute_defence(rules, releases, inputs)
    return [
        replace(candidate, loss=entries.to_loss(rules, value))
        for candidate, value in zip(candidates, values, strict=True)
    ]


def _load_adjustments(session: Session, round_id: UUID) -> dict[UUID, float]:
    """Return the present sum of the penalties and bonuses of each team that got any."""
    points = select(Adjustment.team_id, func.array_agg(Adjustment.points)).group_by(Adjustment.team_id)
    rows = session.execute(points.where(Adjustment.round_id == round_id, Adjustment.withdrawn_at.is_(None)))
    return {team_id: fsum(values) for team_id, values in rows}


def _choose_team_finals(team_candidates: Sequence[Candidate], max_finals: int) -> list[Submission]:
    """Return a team's best marked submissions, or its best qualified ones if it marked none.

    The candidates are in order of receipt, which decides ties.
    More than ``max_finals`` may be marked if the limit was lowered later.
    """
    marked = [candidate for candidate in team_candidates if candidate.submission.final]
    qualified = [candidate for candidate in team_candidates if candidate.submission.disqualified_at is None]
    eligible = marked or qualified
    order = sort_for_board([candidate.loss for candidate in eligible])
    return [eligible[index].submission for index in order[:max_finals]]
