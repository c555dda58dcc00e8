"""What stands on the anonymization board for each team: its finished submissions, one of them the best."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.competition.scoring_versions import Versions
from anoncup.evaluation.ranking import overall
from anoncup.rules.model import Rules
from app.db.models import Competition, Evaluation, State, Submission, Target
from app.services.boards import best_guesses, effective_evaluations, verdicts
from app.services.boards.effective_evaluations import ENDED, Finished
from app.services.boards.verdicts import Numbers
from app.services.boards.version_filter import comparable
from app.services.contests.contest import Contest
from app.services.contests.visibility import View


@dataclass(frozen=True, slots=True)
class Entry:
    """A finished submission and what rivals found out; ``numbers``: None if it may not stand for its team."""

    finished: Finished
    numbers: Numbers | None
    rivals: float | None
    security: float | None
    overall: float | None

    @property
    def utility(self) -> float | None:
        return self.numbers.utility if self.numbers else None

    @property
    def order(self) -> tuple[bool, float, datetime, UUID]:
        """The best first: lowest overall, the earlier among equals; what does not count last."""
        return self.overall is None, self.overall or 0.0, *self.finished.place


def entries(session: Session, contest: Contest, view: View) -> list[Entry]:
    """Everything that has ended, as this view has it, and is not disqualified, in the order of receipt."""
    rules = effective_evaluations.rules(session, contest, view.as_of)
    rivals = best_guesses.rivals_risks(session, contest.row, view, rules)
    found = effective_evaluations.finished(session, contest.row, view.as_of)
    counting = those_that_count(session, contest.row, view, found)
    numbers = comparable(verdicts.numbers_of(session, [one.ending for one in counting]), rules.scored_by)
    return [entry(one, numbers.get(one.evaluation_id), rivals.get(one.submission_id)) for one in found]


def proposed(
    session: Session,
    row: Competition,
    view: View,
    rules: Rules,
    judged: Iterable[Evaluation],
    *,
    scored_by: Versions,
) -> list[Entry]:
    """Those of ``judged`` that have ended and are not disqualified, in their order, as if they counted."""
    rivals = best_guesses.rivals_risks(session, row, view, rules, rejected_too=True)
    standing = [each for each in judged if each.state in ENDED and is_qualified(each.submission)]
    found = [finished_as(each) for each in standing]
    counting = those_that_count(session, row, view, found)
    numbers = comparable(verdicts.numbers_of(session, [one.ending for one in counting]), scored_by)
    return [entry(one, numbers.get(one.evaluation_id), rivals.get(one.submission_id)) for one in found]


def is_qualified(submission: Submission) -> bool:
    return submission.disqualified_at is None and submission.team.disqualified_at is None


def finished_as(evaluation: Evaluation) -> Finished:
    submission = evaluation.submission
    team = submission.team
    known = submission.id, submission.received_at, team.id, team.name, team.baseline
    return Finished(*known, evaluation.state, evaluation.id, evaluation.finished_at)


def those_that_count(
    session: Session, row: Competition, view: View, found: Sequence[Finished]
) -> list[Finished]:
    """The accepted ones; once the targets are published, only finals and baselines of them."""
    accepted = [one for one in found if one.state == State.SCORED]
    if not view.finals_only:
        return accepted
    finals = set(session.scalars(select(Target.submission_id).where(Target.competition_id == row.id)))
    return [one for one in accepted if one.baseline or one.submission_id in finals]


def entry(finished: Finished, numbers: Numbers | None, rivals: float | None) -> Entry:
    if numbers is None:
        return Entry(finished, None, None, None, None)
    security = max(numbers.security, rivals or 0.0)
    return Entry(finished, numbers, rivals, security, overall(numbers.utility, security))


def best_of_teams(entries: Iterable[Entry]) -> list[Entry]:
    """One per team, the best first; one that does not count only for want of others."""
    best: dict[UUID, Entry] = {}
    for one in entries:
        held = best.get(one.finished.team_id)
        if held is None or one.order < held.order:
            best[one.finished.team_id] = one
    return sorted(best.values(), key=lambda one: one.order)
