"""Timeline of the anonymization board: each team's best submission over time.

For each moment, the timeline shows only what the board then showed to the same viewer
(``visibility.compute_past_scope``). A change hidden by a freeze or until midnight appears when the board
showed it; a change that was never shown does not appear. Moments are whole seconds, so changes within one
second are one step.

The changes are read once, each with the second from which the viewer sees it, and applied in that order.
"""

import itertools
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from math import fsum
from operator import itemgetter
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Select, func, or_, over, select
from sqlalchemy.orm import Session

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.formulas.ranks import TIE_TOLERANCE
from anoncup.rules.model import Rules
from anoncup.rules.settings import Publication
from anoncup.schemas import History, HistoryStep, HistoryTeam
from app.db.models import Guess, State, Target, Team
from app.services.boards import best_guesses, formula_inputs, ranking, source, spreadsheet, verdicts
from app.services.boards.best_guesses import RiskCombiner
from app.services.boards.formula_values import FormulaInputs
from app.services.boards.ranking import BoardEntry
from app.services.boards.source import BoardRows, EffectivePeriod, FinishedEvaluation, TargetRow
from app.services.boards.verdicts import VerdictNumbers
from app.services.boards.version_filter import compute_eligible_numbers
from app.services.contests import phases, visibility
from app.services.contests.contest import Contest
from app.services.contests.visibility import BoardAccess, BoardScope

_JudgedGuessQuery = Select[UUID, str, UUID, float, datetime, datetime]
_MICROSECOND, _SECOND = timedelta(microseconds=1), timedelta(seconds=1)
_RankKey = tuple[bool, float, datetime, UUID, UUID]
"""Sort key of a team's best entry, followed by the team."""
_StepReason = Literal["release", "scoring", "guesses"] | None
_VisibleScores = tuple[float, float, float, float | None] | None
"""``overall``, U, E and the value of the formula as the board shows them for a team.

None while no submission of the team counts.
"""


_BoardChange = Callable[["PastBoard"], Iterable[UUID]]
"""Makes a change to the board and returns the teams that it may affect."""
_TimedChange = tuple[datetime | None, _BoardChange]
"""The last moment at which boards hide a change, and the change; None if it is never shown."""


@dataclass(frozen=True, slots=True)
class BoardVisibility:
    """Determines when one viewer sees a change.

    ``can_see_exact_scores`` means that changes are visible at once. ``stable_since`` is the moment from which
    the present publication settings hold; earlier boards are unknown.
    """

    can_see_exact_scores: bool
    stable_since: datetime | None
    publication: Publication
    timezone: str
    closed_at: datetime | None
    contest_end: datetime | None

    def find_last_hidden_moment(self, moment: datetime) -> datetime | None:
        """Return the last moment whose board still hides a change made at ``moment``; None if all hide it."""
        frozen_from = self.publication.frozen_from
        if not self.can_see_exact_scores and frozen_from is not None and frozen_from <= moment:
            if self.contest_end is None:
                return None
            moment = max(moment, self.contest_end - _MICROSECOND)
        return moment if self.stable_since is None else max(moment, self.stable_since)

    def find_last_hidden_moment_of_guess(self, accepted_at: datetime, judged_at: datetime) -> datetime | None:
        """Return the last moment whose board still hides a guess; None if all hide it."""
        moment = max(accepted_at, judged_at)
        if self.can_see_exact_scores or self.publication.feedback == "immediate":
            return self.find_last_hidden_moment(moment)
        candidates = [] if self.closed_at is None else [max(moment, self.closed_at - _MICROSECOND)]
        if self.publication.feedback == "daily":
            midnight = phases.find_midnights(accepted_at, self.timezone)[1]
            candidates.append(max(moment, midnight - _MICROSECOND))
        return self.find_last_hidden_moment(min(candidates)) if candidates else None


def _build_visibility(session: Session, access: BoardAccess) -> BoardVisibility:
    contest, viewer = access.contest, access.scope.viewer
    rules = contest.rules
    return BoardVisibility(
        can_see_exact_scores=visibility.can_see_exact_scores(contest.round, viewer),
        stable_since=visibility.find_last_visibility_change(session, contest, viewer),
        publication=rules.publication,
        timezone=rules.timezone,
        closed_at=contest.round.closed_at,
        contest_end=contest.over_at,
    )


def _iter_rule_changes(
    contest: Contest,
    rule_periods: Sequence[tuple[datetime, Rules]],
    targets: Iterable[TargetRow],
    board_visibility: BoardVisibility,
) -> Iterator[_TimedChange]:
    for (replaced_at, _), (_, rules) in itertools.pairwise(rule_periods):
        yield (
            board_visibility.find_last_hidden_moment(replaced_at),
            partial(PastBoard.set_rules, rules=rules),
        )
    if contest.round.published_at is not None:
        hidden_until = board_visibility.find_last_hidden_moment(contest.round.published_at)
        finals = frozenset(target.submission_id for target in targets)
        yield hidden_until, partial(PastBoard.compare_finals, finals=finals)


def _iter_evaluation_changes(
    periods: Iterable[EffectivePeriod], board_visibility: BoardVisibility
) -> Iterator[_TimedChange]:
    for period in periods:
        start = partial(PastBoard.start, evaluation=period.evaluation)
        yield board_visibility.find_last_hidden_moment(period.begins_at), start
        if period.ends_at != visibility.UNFROZEN:
            end = partial(PastBoard.end, evaluation=period.evaluation)
            yield board_visibility.find_last_hidden_moment(period.ends_at), end


def _iter_guess_changes(
    session: Session, contest: Contest, board_visibility: BoardVisibility, *, largest_only: bool
) -> Iterator[_TimedChange]:
    """Yield the judged guesses on finals that can change the board, each with its last hidden moment.

    Guesses of disqualified teams are left out. ``largest_only``: only the largest risk of a target counts.
    """
    highest_by_key: dict[tuple[UUID, str, UUID | None], tuple[float, datetime]] = {}
    judged_guesses = session.execute(_select_judged_guesses(contest, largest_only=largest_only))
    for submission_id, question, team_id, risk, accepted_at, judged_at in judged_guesses:
        key = submission_id, question, None if largest_only else team_id
        highest_risk, highest_accepted_at = highest_by_key.get(key, (-1.0, accepted_at))
        if risk <= highest_risk and highest_accepted_at <= accepted_at:
            continue  # a guess with at least this risk is visible at least as early
        if risk > highest_risk:
            highest_by_key[key] = risk, accepted_at
        add_risk = partial(
            PastBoard.add_risk, submission_id=submission_id, question=question, team_id=team_id, risk=risk
        )
        yield board_visibility.find_last_hidden_moment_of_guess(accepted_at, judged_at), add_risk


def _iter_team_changes(
    session: Session, contest: Contest, board_visibility: BoardVisibility
) -> Iterator[_TimedChange]:
    """Yield the teams that may guess and their penalties and bonuses, which formulas use."""
    for team in formula_inputs.list_competing_teams(session, contest.round.id):
        yield (
            board_visibility.find_last_hidden_moment(team.created_at),
            partial(PastBoard.add_team, team_id=team.id),
        )
    for adjustment in formula_inputs.list_adjustments(session, contest.round.id):
        change: dict[str, Any] = {"team_id": adjustment.team_id, "points": adjustment.points}
        yield (
            board_visibility.find_last_hidden_moment(adjustment.created_at),
            partial(PastBoard.add_points, **change),
        )
        if adjustment.withdrawn_at is not None:
            yield (
                board_visibility.find_last_hidden_moment(adjustment.withdrawn_at),
                partial(PastBoard.remove_points, **change),
            )


def _select_judged_guesses(contest: Contest, *, largest_only: bool) -> _JudgedGuessQuery:
    """Select the judged guesses on finals in the order in which they were judged, without redundant ones.

    A guess is redundant if one judged earlier found at least as much risk and none judged earlier was
    accepted later. This reduces sixty thousand guesses to a few hundred. ``largest_only`` compares the
    guesses of all teams with each other; otherwise each team's guesses are compared among themselves. Guesses
    of disqualified teams are left out.
    """
    risk = func.coalesce(Guess.risk, 0.0)
    partition = [Guess.target_id, Guess.question, *([] if largest_only else [Guess.team_id])]
    over_earlier = partial(
        over, partition_by=partition, order_by=(Guess.finished_at, Guess.id), rows=(None, -1)
    )
    guess = (
        select(
            Target.submission_id,
            Guess.question,
            Guess.team_id,
            risk.label("risk"),
            Guess.created_at,
            Guess.finished_at,
            Guess.id,
            over_earlier(func.max(risk)).label("most"),
            over_earlier(func.max(Guess.created_at)).label("latest"),
        )
        .join(Target, Target.id == Guess.target_id)
        .join(Team, Team.id == Guess.team_id)
        .where(Guess.round_id == contest.round.id, Guess.state == State.SCORED)
        .where(Guess.finished_at.is_not(None), Team.disqualified_at.is_(None))
        .subquery()
        .c
    )
    is_visible_change = or_(guess.most.is_(None), guess.risk > guess.most, guess.created_at < guess.latest)
    columns = (
        guess.submission_id,
        guess.question,
        guess.team_id,
        guess.risk,
        guess.created_at,
        guess.finished_at,
    )
    return select(*columns).where(is_visible_change).order_by(guess.finished_at, guess.id)


@dataclass
class PastBoard:
    """State of the board during a board.

    ``evaluations_by_team`` holds the evaluations in effect, by team and submission. ``risks_by_submission``
    holds the highest risk found in each submission, by question and team. ``ranking`` lists the best entries
    that have a rank, sorted by ``BoardEntry.sort_key``.
    """

    rules: Rules
    numbers_by_evaluation: Mapping[UUID, VerdictNumbers]
    finals: frozenset[UUID] | None = None
    evaluations_by_team: dict[UUID, dict[UUID, FinishedEvaluation]] = field(default_factory=dict)
    risks_by_submission: dict[UUID, dict[str, dict[UUID, float]]] = field(default_factory=dict)
    best_entries: dict[UUID, BoardEntry] = field(default_factory=dict)
    ranking: list[_RankKey] = field(default_factory=list)
    team_by_submission: dict[UUID, UUID] = field(default_factory=dict)
    effective_numbers: dict[UUID, VerdictNumbers | None] = field(default_factory=dict)
    team_ids: list[UUID] = field(default_factory=list)
    points_by_team: dict[UUID, list[float]] = field(default_factory=dict)
    combine_risks: RiskCombiner = field(init=False)
    compares_teams: bool = field(init=False)

    def __post_init__(self) -> None:
        self.set_rules(self.rules)

    def apply(self, changes: Iterable[_BoardChange]) -> set[UUID]:
        """Apply simultaneous changes and return the teams whose scores may have changed."""
        affected_teams = {team_id for change in changes for team_id in change(self)}
        if self.rules.ranking.rule != "score":
            return affected_teams | self.rank_by_formula()
        return {team_id for team_id in affected_teams if self.update_best(team_id)}

    def rank_by_formula(self) -> set[UUID]:
        """Rank all teams again, because each of them can affect every rank; return those that changed."""
        evaluations = [evaluation for own in self.evaluations_by_team.values() for evaluation in own.values()]
        adjustments = {team_id: fsum(points) for team_id, points in self.points_by_team.items()}
        inputs = FormulaInputs(self.team_ids, self.risks_by_submission, adjustments)
        ranked_entries = ranking.rank_teams(self.rules, list(map(self.build_entry, evaluations)), inputs)
        entries = {ranked.entry.evaluation.team_id: ranked.entry for ranked in ranked_entries}
        previous_entries, self.best_entries = self.best_entries, entries
        self.ranking = [(*entry.sort_key, team_id) for team_id, entry in entries.items() if _is_ranked(entry)]
        return {
            team_id
            for team_id in previous_entries.keys() | entries.keys()
            if previous_entries.get(team_id) != entries.get(team_id)
        }

    def add_team(self, team_id: UUID) -> Iterable[UUID]:
        self.team_ids.append(team_id)
        return ()

    def add_points(self, team_id: UUID, points: float) -> Iterable[UUID]:
        self.points_by_team.setdefault(team_id, []).append(points)
        return ()

    def remove_points(self, team_id: UUID, points: float) -> Iterable[UUID]:
        self.points_by_team[team_id].remove(points)
        return ()

    def start(self, evaluation: FinishedEvaluation) -> Iterable[UUID]:
        """Let an evaluation take effect for its submission."""
        team_evaluations = self.evaluations_by_team.setdefault(evaluation.team_id, {})
        team_evaluations[evaluation.submission_id] = evaluation
        self.team_by_submission[evaluation.submission_id] = evaluation.team_id
        return [evaluation.team_id]

    def end(self, evaluation: FinishedEvaluation) -> Iterable[UUID]:
        """End the effect of an evaluation for its submission."""
        team_evaluations = self.evaluations_by_team[evaluation.team_id]
        if team_evaluations.get(evaluation.submission_id) is evaluation:
            del team_evaluations[evaluation.submission_id]
        return [evaluation.team_id]

    def add_risk(self, submission_id: UUID, question: str, team_id: UUID, risk: float) -> Iterable[UUID]:
        """Record that a guess of a team found ``risk`` in a submission that is a target."""
        team_risks = self.risks_by_submission.setdefault(submission_id, {}).setdefault(question, {})
        team_risks[team_id] = max(risk, team_risks.get(team_id, 0.0))
        is_known = submission_id in self.team_by_submission
        return [self.team_by_submission[submission_id]] if is_known else []

    def set_rules(self, rules: Rules) -> Iterable[UUID]:
        self.rules, self.combine_risks = rules, best_guesses.make_risk_combiner(rules)
        self.compares_teams = compares_teams(rules)
        self.effective_numbers.clear()
        return list(self.evaluations_by_team)

    def compare_finals(self, finals: frozenset[UUID]) -> Iterable[UUID]:
        """Compare only these submissions from now on."""
        self.finals = finals
        return list(self.evaluations_by_team)

    def update_best(self, team_id: UUID) -> bool:
        """Update the team's best entry and return whether it changed."""
        previous = self.best_entries.get(team_id)
        entries = map(self.build_entry, self.evaluations_by_team[team_id].values())
        best = next(iter(ranking.sort_entries(entries)), None)
        if best == previous:
            return False
        if previous is not None:
            del self.best_entries[team_id]
            if _is_ranked(previous):
                del self.ranking[bisect_left(self.ranking, (*previous.sort_key, team_id))]
        if best is not None:
            self.best_entries[team_id] = best
            if _is_ranked(best):
                insort(self.ranking, (*best.sort_key, team_id))
        return True

    def build_entry(self, evaluation: FinishedEvaluation) -> BoardEntry:
        is_eligible = evaluation.state == State.SCORED
        if self.finals is not None:
            is_eligible = is_eligible and (evaluation.is_baseline or evaluation.submission_id in self.finals)
        numbers = self.find_effective_numbers(evaluation.evaluation_id) if is_eligible else None
        return ranking.build_entry(evaluation, numbers, self.find_rival_risk(evaluation.submission_id))

    def find_effective_numbers(self, evaluation_id: UUID) -> VerdictNumbers | None:
        """Return the evaluation's numbers under the present rules.

        Results are cached because this is called again whenever the risk found in the submission changes.
        """
        if evaluation_id not in self.effective_numbers:
            numbers = self.numbers_by_evaluation.get(evaluation_id)
            scored_by = self.rules.scored_by
            self.effective_numbers[evaluation_id] = (
                compute_eligible_numbers(numbers, scored_by) if numbers is not None and scored_by else numbers
            )
        return self.effective_numbers[evaluation_id]

    def find_rival_risk(self, submission_id: UUID) -> float | None:
        """Return the risk from all guesses on a submission, combined as the present rules ask."""
        if submission_id not in self.risks_by_submission:
            return None
        risks_by_question = self.risks_by_submission[submission_id].items()
        return self.combine_risks(
            {name: max(risk_by_team.values()) for name, risk_by_team in risks_by_question}
        )

    def find_rank(self, team_id: UUID) -> int | None:
        best = self.best_entries.get(team_id)
        if best is None or not _is_ranked(best):
            return None
        return bisect_left(self.ranking, (False, (best.loss or 0.0) - TIE_TOLERANCE)) + 1


def _is_ranked(entry: BoardEntry) -> bool:
    return entry.loss is not None and not entry.evaluation.is_baseline


def build_history(session: Session, access: BoardAccess, board_rows: BoardRows | None = None) -> History:
    """Return the steps of all teams. ``board_rows`` are read if they are not given."""
    contest, scope = access.contest, access.scope
    timelines: dict[UUID, TeamTimeline] = {}
    for moment, board, changed_teams in _iter_changes(session, access, board_rows):
        for team_id in sorted(changed_teams):
            _add_step(timelines, team_id, moment, board, scope)
    return History(
        competition=contest.address,
        title=dict(contest.rules.title),
        frozen_from=contest.rules.publication.frozen_from,
        digits=scope.digits,
        teams=tuple(timeline.build_team_history(scope) for timeline in timelines.values()),
    )


def render_csv(history: History) -> str:
    """Return one line for each step of each team."""
    columns = ("rank", "overall", "utility", "security", "score")
    rows = (
        [step.at.isoformat(), team.team, *(getattr(step, name) for name in columns)]
        for team in history.teams
        for step in team.steps
    )
    return spreadsheet.render_csv(["at", "team", *columns], rows)


@dataclass
class TeamTimeline:
    """A team's steps so far. ``entry`` is its present or last best entry."""

    entry: BoardEntry
    last_scores: _VisibleScores
    steps: list[HistoryStep]

    def build_team_history(self, scope: BoardScope) -> HistoryTeam:
        evaluation = self.entry.evaluation
        return HistoryTeam(
            team_id=evaluation.team_id,
            team=evaluation.team,
            own=scope.viewer.team_id == evaluation.team_id,
            baseline=evaluation.is_baseline,
            steps=tuple(self.steps),
        )


def _add_step(
    timelines: dict[UUID, TeamTimeline],
    team_id: UUID,
    moment: datetime,
    board: PastBoard,
    scope: BoardScope,
) -> None:
    """Add a step if the scores that the board shows for the team have changed."""
    entry = board.best_entries.get(team_id)
    scores = _mask_scores(entry, board, scope)
    if entry is not None and scores is not None:
        timelines.setdefault(team_id, TeamTimeline(entry, None, []))
    timeline = timelines.get(team_id)
    if timeline is None:
        return
    if scores != timeline.last_scores:
        is_exact = scope.digits is None or scope.viewer.team_id == team_id
        reason = _find_reason(timeline, entry) if is_exact else None
        timeline.last_scores = scores
        timeline.steps.append(_build_step(moment, scores, board.find_rank(team_id), reason))
    timeline.entry = entry or timeline.entry


def _find_reason(timeline: TeamTimeline, current: BoardEntry | None) -> _StepReason:
    """Return why the shown scores changed; None if it is unknown or the team has no score any more."""
    if current is None or current.overall is None:
        return None
    if (
        timeline.last_scores is None
        or current.evaluation.submission_id != timeline.entry.evaluation.submission_id
    ):
        return "release"
    if current.numbers != timeline.entry.numbers:
        return "scoring"
    # A formula can change with the penalties of the team and with other teams.
    return "guesses" if current.rival_risk != timeline.entry.rival_risk else None


def _iter_changes(
    session: Session, access: BoardAccess, board_rows: BoardRows | None
) -> Iterator[tuple[datetime, PastBoard, set[UUID]]]:
    """Yield each second at which the board changed, the board, and the teams whose scores may have."""
    contest, board_visibility = access.contest, _build_visibility(session, access)
    board_rows = board_rows or source.read_rows(session, contest)
    rule_periods = board_rows.list_rule_periods()
    by_formula = any(rules.ranking.rule != "score" for _, rules in rule_periods)
    largest_only = contest.track.security == "largest" and not by_formula
    hidden_changes = [
        *_iter_rule_changes(contest, rule_periods, board_rows.targets, board_visibility),
        *_iter_evaluation_changes(board_rows.periods, board_visibility),
        *_iter_guess_changes(session, contest, board_visibility, largest_only=largest_only),
        *(_iter_team_changes(session, contest, board_visibility) if by_formula else ()),
    ]
    shown_changes = [
        (hidden_until.replace(microsecond=0) + _SECOND, change)
        for hidden_until, change in hidden_changes
        if hidden_until is not None
    ]
    shown_changes.sort(key=itemgetter(0))
    numbers = verdicts.load_numbers(session, [period.evaluation.key for period in board_rows.periods])
    board = PastBoard(rule_periods[0][1], numbers)
    for moment, simultaneous_changes in itertools.groupby(shown_changes, key=itemgetter(0)):
        if changed_teams := board.apply(change for _, change in simultaneous_changes):
            yield moment, board, changed_teams


def _mask_scores(entry: BoardEntry | None, board: PastBoard, scope: BoardScope) -> _VisibleScores:
    if entry is None or entry.overall is None or entry.utility is None or entry.security is None:
        return None
    if scope.viewer.team_id == entry.evaluation.team_id:
        return entry.overall, entry.utility, entry.security, ranking.find_score(board.rules, entry)
    hides_score = scope.digits is not None and board.compares_teams
    score = None if hides_score else scope.round_score(ranking.find_score(board.rules, entry))
    return scope.round_overall(entry.overall), *scope.round_losses(entry.utility, entry.security), score


def _build_step(
    moment: datetime, scores: _VisibleScores, rank: int | None, reason: _StepReason
) -> HistoryStep:
    overall, utility, security, score = scores or (None, None, None, None)
    return HistoryStep(
        at=moment, rank=rank, overall=overall, utility=utility, security=security, score=score, why=reason
    )
