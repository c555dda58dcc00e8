"""The organizers' dashboard: counts of a competition's contents, and tasks that need attention."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from anoncup.competition.required_packages import find_changed_package, is_unsupported
from anoncup.messages import Message
from app.boards import standing_updates
from app.competitions import revisions
from app.competitions.frame import Frame
from app.competitions.phases import ANONYMIZATION
from app.core.db.models import Evaluation, Guess, Round, State, Submission, Target, Team
from app.core.features import Feature
from app.jobs import health
from app.jobs.leases import UNFINISHED
from app.jobs.worker_reports import list_workers
from app.organizing.workload import DUTIES, Workload
from app.originals import allocated_files, sealed_inputs
from app.rescoring import rescores
from app.setup import publishing
from app.targets import targets

_STALLED_AFTER = timedelta(minutes=1)
"""If jobs wait longer than this while none is running, something is probably wrong."""
_SWEEP_OVERDUE_S = 60.0
"""If the last sweep is longer ago than this, the periodic tasks are probably not running."""
_ENDING_SOON = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class ContestCounts:
    """Counts of a competition's contents; ``idle_teams`` have no accepted or waiting submission.

    ``targets`` are those that count on the boards, without withdrawn ones.
    """

    teams: int
    disqualified: int
    baselines: int
    idle_teams: int
    submissions: dict[State, int]
    guesses: dict[State, int]
    targets: int

    @property
    def unfinished_count(self) -> int:
        """Number of submissions and guesses whose scoring delays a deadline."""
        return sum(self.submissions[state] + self.guesses[state] for state in UNFINISHED)


@dataclass(frozen=True, slots=True)
class OrganizerTask:
    """Something that organizers should do or know. It is urgent if the contest suffers until it is done.

    ``page``: the organizers' page of the feature whose duty it is.
    ``reason`` and ``since``: the cause and its moment, for tasks whose label has a place for them.
    """

    code: str
    count: int = 0
    urgent: bool = False
    page: str = ""
    rescore_id: UUID | None = None
    reason: Message | None = None
    since: datetime | None = None


def _iter_duties(
    session: Session, competition_id: UUID, features: Iterable[Feature]
) -> Iterator[OrganizerTask]:
    for duty in (feature.duty for feature in features if feature.duty):
        if count := duty.count(session, competition_id):
            yield OrganizerTask(duty.code, count, urgent=True, page=duty.page)


def count_contents(session: Session, round_: Round) -> ContestCounts:
    in_competition = Team.competition_id == round_.competition_id
    has_live_submission = exists().where(
        Submission.team_id == Team.id,
        Evaluation.submission_id == Submission.id,
        Evaluation.current,
        Evaluation.state.in_((State.SCORED, *UNFINISHED)),
        Submission.disqualified_at.is_(None),
    )
    qualified = Team.disqualified_at.is_(None)
    teams = session.execute(
        select(
            func.count().filter(~Team.baseline),
            func.count().filter(~Team.baseline, ~qualified),
            func.count().filter(Team.baseline, qualified),
            func.count().filter(~Team.baseline, qualified, ~has_live_submission),
        )
        .select_from(Team)
        .where(in_competition)
    ).one()
    current_evaluations = Evaluation.round_id == round_.id, Evaluation.current
    all_targets = session.scalars(targets.select_targets().where(Target.round_id == round_.id))
    return ContestCounts(
        *teams,
        health.count_by_state(session, Evaluation, *current_evaluations),
        health.count_by_state(session, Guess, Guess.round_id == round_.id),
        sum(not targets.is_withdrawn(target) for target in all_targets),
    )


def list_tasks(
    session: Session,
    frame: Frame,
    counts: ContestCounts,
    load: Workload,
    features: Iterable[Feature],
    *,
    without_workers: bool,
) -> list[OrganizerTask]:
    """Return the tasks of the organizers, urgent ones first."""
    rules, round_ = frame.rules, frame.round
    missing_files = sealed_inputs.list_missing_files(session, round_)
    unallocated_teams = allocated_files.count_teams_without_data(session, round_.id)
    waiting_jobs, failed = sum(load.waiting.values()), counts.submissions[State.ERROR]
    # Scoring versions change only through a rescore. Until then, no worker scores, and jobs wait.
    is_unscorable, changed_package = is_unsupported(rules), find_changed_package(rules)
    waiting_submissions = counts.submissions[State.QUEUED]
    tasks = [
        *((True, _urgent(part.code)) for part in publishing.list_missing_parts(round_)),
        (frame.status.state == "draft", OrganizerTask("draft")),
        (missing_files, _urgent("no_truth", len(missing_files))),
        *((True, task) for task in _iter_duties(session, round_.competition_id, features)),
        (unallocated_teams, _urgent("unallocated", unallocated_teams)),
        (failed, _urgent("errors", failed)),
        (not is_unscorable and without_workers, _urgent("stalled", waiting_jobs)),
        (is_sweep_overdue(load), _urgent("unswept")),
        (frame.status.paused, _urgent("paused")),
        *((True, task) for task in _list_rescore_tasks(session, round_.id)),
        (changed_package, _urgent("changed_package", waiting_submissions, reason=changed_package)),
        (is_unscorable and not changed_package, _urgent("newer_scorer", waiting_submissions)),
        *((True, task) for task in _list_stale_standings(session, round_.id)),
        (not counts.teams, OrganizerTask("no_teams")),
        *((True, task) for task in _list_waiting_tasks(frame, counts.unfinished_count)),
        (_ends_soon(frame) and counts.idle_teams, OrganizerTask("idle_teams", counts.idle_teams)),
    ]
    return sorted((task for is_due, task in tasks if is_due), key=lambda task: not task.urgent)


def _list_waiting_tasks(frame: Frame, unfinished: int) -> list[OrganizerTask]:
    """Return what the competition waits for: the notice, and the submissions or guesses without a score."""
    if frame.wait is None:
        return []
    if frame.wait.reason == "targets":
        return [OrganizerTask("preparing")]
    notice = [OrganizerTask("notice")] if frame.wait.reason == "notice" else []
    return [*notice, *([OrganizerTask("settling", unfinished)] if unfinished else [])]


def _ends_soon(frame: Frame) -> bool:
    """Whether the first phase is open and ends within a day."""
    phase, status = frame.rules.phase(ANONYMIZATION), frame.status
    return status.is_open(ANONYMIZATION) and phase is not None and phase.end - status.now <= _ENDING_SOON


def _urgent(code: str, count: int = 0, *, reason: Message | None = None) -> OrganizerTask:
    return OrganizerTask(code, count, urgent=True, reason=reason)


def _list_rescore_tasks(session: Session, round_id: UUID) -> list[OrganizerTask]:
    rescore = revisions.find_open_rescore(session, round_id)
    if rescore is None:
        return []
    progress = rescores.load_progress(session, rescore)
    is_ready = progress.stage == "ready"
    code = "rescore_ready" if is_ready else "rescore_scoring"
    return [OrganizerTask(code, progress.remaining, urgent=is_ready, rescore_id=rescore.id)]


def _list_stale_standings(session: Session, round_id: UUID) -> list[OrganizerTask]:
    """Return a task if standings could not be computed and keep their last state."""
    stale = standing_updates.find_failed(session, round_id)
    if stale is None or stale.failure is None:
        return []
    reason, since = stale.failure.message, stale.created_at
    return [OrganizerTask("stale_standings", urgent=True, reason=reason, since=since)]


def is_stalled(load: Workload) -> bool:
    """Whether jobs wait for too long while no worker is busy, not even with another competition."""
    is_overdue = load.oldest_waiting is not None and load.oldest_waiting > _STALLED_AFTER
    return is_overdue and not load.is_busy


def lacks_workers(load: Workload) -> bool:
    """Whether jobs wait for too long and no worker that does such jobs answers."""
    if not is_stalled(load):
        return False
    served_kinds = {kind for worker in list_workers() or () for kind in worker.serves}
    return any(count and DUTIES[kind] not in served_kinds for kind, count in load.waiting.items())


def is_sweep_overdue(load: Workload) -> bool:
    return load.last_sweep_s is None or load.last_sweep_s > _SWEEP_OVERDUE_S
