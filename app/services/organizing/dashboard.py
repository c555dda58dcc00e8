"""Where a competition stands, for its organizers: what there is, and what waits for them."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from anoncup.competition.scoring_versions import lacks
from anoncup.rules.model import Rules
from app.db.models import Competition, Evaluation, Guess, State, Submission, Target, Team
from app.services.accounts.accounts import Principal
from app.services.boards import effective_evaluations, verdicts
from app.services.boards.version_filter import by_rules
from app.services.contests import clarifications, competitions, phases, revisions, sealed_inputs
from app.services.contests.phases import Standing
from app.services.contests.visibility import ALWAYS
from app.services.jobs.leases import UNFINISHED
from app.services.organizing import load, rejudgings
from app.services.organizing.load import Load
from app.services.organizing.rejudgings import Preview
from app.services.originals import allocations

STALLED = timedelta(minutes=1)
"""Work that has waited so long while nothing of it runs: no worker is there."""
UNSWEPT_S = 60.0
"""So long without a sweep: the regular tasks do not run."""
SOON = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Counts:
    """What a competition holds; ``idle``: teams without an accepted or waiting submission."""

    teams: int
    disqualified: int
    baselines: int
    idle: int
    submissions: dict[State, int]
    guesses: dict[State, int]
    targets: int


@dataclass(frozen=True, slots=True)
class Duty:
    """Something for the organizers to do or to know; ``urgent``: the contest suffers until it is done."""

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
    """``unfinished``: submissions and guesses whose scoring a deadline waits for. ``mixed``: submissions that
    were scored by something else than what counts. ``lacking``: files that only organizers hold and have
    still to give. ``questions``: those of teams that nobody has answered. ``unallocated``: teams for
    which no data are left."""

    counts: Counts
    load: Load
    open_set: Preview | None
    unfinished: int
    mixed: int
    lacking: tuple[str, ...]
    questions: int
    unallocated: int


def of_competition(session: Session, principal: Principal, slug: str) -> Dashboard:
    """For the competition's organizers."""
    found = load.of_competition(session, principal, slug)
    contest = competitions.find(session, principal, slug)
    rescore = revisions.open_rescore(session, contest.id)
    counts = counted(session, contest.id)
    return Dashboard(
        counts,
        found,
        None if rescore is None else rejudgings.progress_of(session, rescore),
        sum(each[state] for each in (counts.submissions, counts.guesses) for state in UNFINISHED),
        mixed(session, contest.row),
        sealed_inputs.lacking(session, contest.row),
        clarifications.unanswered(session, contest.id),
        allocations.teams_without(session, contest.id),
    )


def mixed(session: Session, row: Competition) -> int:
    endings = (
        [one.ending for one in effective_evaluations.finished(session, row, ALWAYS)] if row.scored_by else []
    )
    found = verdicts.numbers_of(session, endings)
    return sum(by_rules(one, row.scored_by) != one for one in found.values())


def counted(session: Session, competition_id: UUID) -> Counts:
    mine = Team.competition_id == competition_id
    live = exists().where(
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
            func.count().filter(~Team.baseline, qualified, ~live),
        )
        .select_from(Team)
        .where(mine)
    ).one()
    evaluations = select(Evaluation.state, func.count()).join(Evaluation.submission).where(Evaluation.current)
    guesses = select(Guess.state, func.count()).where(Guess.competition_id == competition_id)
    targets = select(func.count()).where(Target.competition_id == competition_id)
    return Counts(
        *teams,
        by_state(session, evaluations.where(Submission.competition_id == competition_id), Evaluation.state),
        by_state(session, guesses, Guess.state),
        session.scalars(targets).one(),
    )


def by_state(session: Session, query: Any, state: Any) -> dict[State, int]:
    found: dict[State, int] = dict(session.execute(query.group_by(state)).all())
    return {each: found.get(each, 0) for each in State}


def duties(rules: Rules, row: Competition, now: Standing, found: Dashboard) -> list[Duty]:
    """What waits for the organizers, the urgent first."""
    listed = [
        *([Duty("no_truth", len(found.lacking), urgent=True)] if found.lacking else []),
        *([Duty("questions", found.questions, urgent=True)] if found.questions else []),
        *([Duty("unallocated", found.unallocated, urgent=True)] if found.unallocated else []),
        *set_up(rules, row, found.counts),
        *(each for each in at_work(now, found) if each.code != "stalled" or not lacks(rules)),
        *contest(rules, now, found.counts),
        *re_scoring(found.open_set),
        *what_counts(rules, found),
    ]
    return sorted(listed, key=lambda duty: not duty.urgent)


def set_up(rules: Rules, row: Competition, counts: Counts) -> list[Duty]:
    missing = []
    if row.original_rows is None:
        missing.append(Duty("no_original", urgent=True))
    if rules.excessive is not None and rules.threshold is None:
        missing.append(Duty("no_threshold", urgent=True))
    if not rules.phases:
        missing.append(Duty("no_phases", urgent=True))
    if not counts.teams:
        missing.append(Duty("no_teams"))
    return missing


def at_work(now: Standing, found: Dashboard) -> list[Duty]:
    listed = []
    failed = found.counts.submissions[State.ERROR]
    if failed:
        listed.append(Duty("errors", failed, urgent=True))
    if is_stalled(found.load):
        listed.append(Duty("stalled", sum(found.load.waiting.values()), urgent=True))
    if is_unswept(found.load):
        listed.append(Duty("unswept", urgent=True))
    if now.state == "settling":
        listed.append(Duty("settling", found.unfinished))
    return listed


def contest(rules: Rules, now: Standing, counts: Counts) -> list[Duty]:
    listed = [Duty("paused", urgent=True)] if now.paused else []
    first = rules.phase(phases.ANONYMIZATION)
    ends_soon = now.open is not None and now.open == first and first.end - now.now <= SOON
    if ends_soon and counts.idle:
        listed.append(Duty("idle_teams", counts.idle))
    return listed


def what_counts(rules: Rules, found: Dashboard) -> list[Duty]:
    """Only a re-score set puts other versions in force."""
    listed = []
    if lacks(rules):
        listed.append(Duty("newer_scorer", found.counts.submissions[State.QUEUED], urgent=True))
    if found.mixed:
        listed.append(Duty("mixed_versions", found.mixed, urgent=True))
    return listed


def re_scoring(open_set: Preview | None) -> list[Duty]:
    if open_set is None:
        return []
    code: Literal["rescore_ready", "rescore_scoring"] = (
        "rescore_ready" if open_set.stage == "ready" else "rescore_scoring"
    )
    left = open_set.total - open_set.finished
    return [Duty(code, left, urgent=code == "rescore_ready", rescore_id=open_set.rescore.id)]


def is_stalled(found: Load) -> bool:
    """Work waits and waits, and nobody is at any, nor at that of another competition."""
    waits = found.oldest_waiting is not None and found.oldest_waiting > STALLED
    return waits and not found.busy


def is_unswept(found: Load) -> bool:
    return found.last_sweep_s is None or found.last_sweep_s > UNSWEPT_S
