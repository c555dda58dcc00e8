"""The organizers' dashboard: counts of a competition's contents, and tasks that need attention."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal
from uuid import UUID

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from anoncup.competition.scoring_versions import is_unsupported
from anoncup.rules.model import Rules
from app.db.models import Competition, Evaluation, Guess, State, Submission, Target, Team
from app.services.accounts.accounts import Principal
from app.services.boards import source, verdicts
from app.services.boards.version_filter import compute_eligible_numbers
from app.services.contests import clarifications, competitions, phases, revisions, sealed_inputs
from app.services.contests.phases import PhaseStatus
from app.services.contests.visibility import UNFROZEN
from app.services.jobs import health
from app.services.jobs.leases import UNFINISHED
from app.services.organizing import rescores, workload
from app.services.organizing.rescores import RescorePreview
from app.services.organizing.workload import Workload
from app.services.originals import allocated_files

_STALLED_AFTER = timedelta(minutes=1)
"""If jobs wait longer than this while none is running, there is probably no worker."""
_SWEEP_OVERDUE_S = 60.0
"""If the last sweep is longer ago than this, the periodic tasks are probably not running."""
_ENDING_SOON = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class ContestCounts:
    """Counts of a competition's contents; ``idle_teams`` have no accepted or waiting submission."""

    teams: int
    disqualified: int
    baselines: int
    idle_teams: int
    submissions: dict[State, int]
    guesses: dict[State, int]
    targets: int


@dataclass(frozen=True, slots=True)
class OrganizerTask:
    """Something that organizers should do or know. It is urgent if the contest suffers until it is done."""

    code: Literal[
        "no_original",
        "no_truth",
        "no_threshold",
        "no_phases",
        "no_teams",
        "unallocated",
        "errors",
        "questions",
        "stalled",
        "unswept",
        "paused",
        "settling",
        "idle_teams",
        "rescore_scoring",
        "rescore_ready",
        "newer_scorer",
        "mixed_versions",
    ]
    count: int = 0
    urgent: bool = False
    rescore_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Dashboard:
    """Everything that the dashboard shows.

    ``unfinished``: submissions and guesses whose scoring delays a deadline.
    ``mixed_versions``: submissions scored by other versions than the current ones.
    ``missing_files``: organizer files still to be uploaded.
    ``unanswered_questions``: questions of teams without an answer.
    ``unallocated_teams``: teams for which no data are left.
    """

    counts: ContestCounts
    workload: Workload
    open_rescore: RescorePreview | None
    unfinished: int
    mixed_versions: int
    missing_files: tuple[str, ...]
    unanswered_questions: int
    unallocated_teams: int


def load_dashboard(session: Session, principal: Principal, slug: str) -> Dashboard:
    """Load the dashboard for an organizer; raises NotFound or Forbidden."""
    current_load = workload.measure(session, principal, slug)
    contest = competitions.find(session, principal, slug)
    rescore = revisions.find_open_rescore(session, contest.id)
    counts = count_contents(session, contest.id)
    return Dashboard(
        counts,
        current_load,
        None if rescore is None else rescores.load_progress(session, rescore),
        sum(
            state_counts[state]
            for state_counts in (counts.submissions, counts.guesses)
            for state in UNFINISHED
        ),
        _count_mixed_versions(session, contest.competition),
        sealed_inputs.list_missing_files(session, contest.competition),
        clarifications.count_unanswered(session, contest.id),
        allocated_files.count_teams_without_data(session, contest.id),
    )


def _count_mixed_versions(session: Session, competition: Competition) -> int:
    evaluation_keys = (
        [
            period.evaluation.key
            for period in source.list_effective_periods(session, competition.id)
            if period.ends_at == UNFROZEN
        ]
        if competition.scored_by
        else []
    )
    numbers = verdicts.load_numbers(session, evaluation_keys)
    return sum(
        compute_eligible_numbers(evaluation, competition.scored_by) != evaluation
        for evaluation in numbers.values()
    )


def count_contents(session: Session, competition_id: UUID) -> ContestCounts:
    in_competition = Team.competition_id == competition_id
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
    current_evaluations = Evaluation.competition_id == competition_id, Evaluation.current
    targets = select(func.count()).where(Target.competition_id == competition_id)
    return ContestCounts(
        *teams,
        health.count_by_state(session, Evaluation, *current_evaluations),
        health.count_by_state(session, Guess, Guess.competition_id == competition_id),
        session.scalars(targets).one(),
    )


def list_tasks(
    rules: Rules, competition: Competition, status: PhaseStatus, dashboard: Dashboard
) -> list[OrganizerTask]:
    """Return the tasks of the organizers, urgent ones first."""
    tasks = [
        *(
            [OrganizerTask("no_truth", len(dashboard.missing_files), urgent=True)]
            if dashboard.missing_files
            else []
        ),
        *(
            [OrganizerTask("questions", dashboard.unanswered_questions, urgent=True)]
            if dashboard.unanswered_questions
            else []
        ),
        *(
            [OrganizerTask("unallocated", dashboard.unallocated_teams, urgent=True)]
            if dashboard.unallocated_teams
            else []
        ),
        *_list_setup_tasks(rules, competition, dashboard.counts),
        *(
            task
            for task in _list_job_tasks(status, dashboard)
            if task.code != "stalled" or not is_unsupported(rules)
        ),
        *_list_phase_tasks(rules, status, dashboard.counts),
        *_list_rescore_tasks(dashboard.open_rescore),
        *_list_version_tasks(rules, dashboard),
    ]
    return sorted(tasks, key=lambda item: not item.urgent)


def _list_setup_tasks(rules: Rules, competition: Competition, counts: ContestCounts) -> list[OrganizerTask]:
    tasks = []
    if competition.original_rows is None:
        tasks.append(OrganizerTask("no_original", urgent=True))
    if rules.excessive is not None and rules.threshold is None:
        tasks.append(OrganizerTask("no_threshold", urgent=True))
    if not rules.phases:
        tasks.append(OrganizerTask("no_phases", urgent=True))
    if not counts.teams:
        tasks.append(OrganizerTask("no_teams"))
    return tasks


def _list_job_tasks(status: PhaseStatus, dashboard: Dashboard) -> list[OrganizerTask]:
    tasks = []
    failed_count = dashboard.counts.submissions[State.ERROR]
    if failed_count:
        tasks.append(OrganizerTask("errors", failed_count, urgent=True))
    if is_stalled(dashboard.workload):
        tasks.append(OrganizerTask("stalled", sum(dashboard.workload.waiting.values()), urgent=True))
    if is_sweep_overdue(dashboard.workload):
        tasks.append(OrganizerTask("unswept", urgent=True))
    if status.state == "settling":
        tasks.append(OrganizerTask("settling", dashboard.unfinished))
    return tasks


def _list_phase_tasks(rules: Rules, status: PhaseStatus, counts: ContestCounts) -> list[OrganizerTask]:
    tasks = [OrganizerTask("paused", urgent=True)] if status.paused else []
    first_phase = rules.phase(phases.ANONYMIZATION)
    ends_soon = (
        status.open_phase is not None
        and status.open_phase == first_phase
        and first_phase.end - status.now <= _ENDING_SOON
    )
    if ends_soon and counts.idle_teams:
        tasks.append(OrganizerTask("idle_teams", counts.idle_teams))
    return tasks


def _list_version_tasks(rules: Rules, dashboard: Dashboard) -> list[OrganizerTask]:
    """Return tasks about scoring versions, which change only through a rescore."""
    tasks = []
    if is_unsupported(rules):
        tasks.append(OrganizerTask("newer_scorer", dashboard.counts.submissions[State.QUEUED], urgent=True))
    if dashboard.mixed_versions:
        tasks.append(OrganizerTask("mixed_versions", dashboard.mixed_versions, urgent=True))
    return tasks


def _list_rescore_tasks(open_rescore: RescorePreview | None) -> list[OrganizerTask]:
    if open_rescore is None:
        return []
    code: Literal["rescore_ready", "rescore_scoring"] = (
        "rescore_ready" if open_rescore.stage == "ready" else "rescore_scoring"
    )
    remaining = open_rescore.total - open_rescore.finished
    return [
        OrganizerTask(code, remaining, urgent=code == "rescore_ready", rescore_id=open_rescore.rescore.id)
    ]


def is_stalled(load: Workload) -> bool:
    """Whether jobs wait for too long while no worker is busy, not even with another competition."""
    is_overdue = load.oldest_waiting is not None and load.oldest_waiting > _STALLED_AFTER
    return is_overdue and not load.is_busy


def is_sweep_overdue(load: Workload) -> bool:
    return load.last_sweep_s is None or load.last_sweep_s > _SWEEP_OVERDUE_S
