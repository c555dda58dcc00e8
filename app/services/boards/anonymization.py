"""The anonymization board: every team's best release, by utility and by what attackers found out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from app.db.models import Competition as CompetitionRow
from app.db.models import Evaluation, Guess, State, Submission, Target, Team
from app.scoring.competition import Competition
from app.scoring.ranking import overall, pareto_front, rank_sums, ranked_values, ranks, standing
from app.scoring.tracks import TRACKS
from app.services import competitions, guesses, visibility
from app.services.accounts import Principal
from app.services.boards.spreadsheet import csv_text
from app.services.visibility import View

ENDED = (State.SCORED, State.REJECTED)


@dataclass(frozen=True, slots=True)
class Row:
    """A team's best accepted submission; a team without one has neither rank nor scores.

    ``security``: the largest rate of an attacker that counts, built in or a rival; ``rivals``: the largest
    of rivals' visible guesses, None if there is none. ``rank_sum``: only where the competition ranks by it.
    ``on_front``: no other row has less of U and of E. ``baseline``: added by the organizers for comparison,
    outside the ranking.
    """

    rank: int | None
    team: str
    own: bool
    baseline: bool
    entries: int
    overall: float | None
    utility: float | None
    security: float | None
    rivals: float | None
    rank_sum: float | None
    on_front: bool
    received_at: datetime | None
    measures: dict[str, float]
    attackers: dict[str, float]


@dataclass(frozen=True, slots=True)
class Board:
    """``finals``: it compares the finals of the first phase, and no later."""

    competition: str
    title: dict[str, str]
    frozen_from: datetime | None
    finals: bool
    measures: tuple[str, ...]
    attackers: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A finished evaluation with what rivals found out; ``counts``: it may stand for its team."""

    evaluation: Evaluation
    counts: bool
    rivals: float | None

    @property
    def submission(self) -> Submission:
        return self.evaluation.submission

    @property
    def verdict(self) -> dict[str, Any] | None:
        return self.evaluation.verdict if self.counts else None

    @property
    def utility(self) -> float | None:
        return None if self.verdict is None else self.verdict["utility"]

    @property
    def security(self) -> float | None:
        return None if self.verdict is None else max(self.verdict["security"], self.rivals or 0.0)

    @property
    def overall(self) -> float | None:
        if self.utility is None or self.security is None:
            return None
        return overall(self.utility, self.security)


def board(session: Session, principal: Principal | None, slug: str) -> Board:
    """The board as this person may see it."""
    row = competitions.find(session, slug)
    competition = competitions.read_file(row.file)
    view = visibility.view(session, row, principal)
    visibility.require_board(competition, view.audience)
    entries = entries_of(session, row, view)
    track = TRACKS[competition.track]
    return Board(
        competition=row.slug,
        title=dict(competition.title),
        frozen_from=competition.publication.frozen_from,
        finals=view.finals_only,
        measures=tuple(track.measures),
        attackers=tuple(track.attackers),
        rows=tuple(ranked(competition, entries, view.audience.team_id)),
    )


def entries_of(session: Session, row: CompetitionRow, view: View) -> list[Entry]:
    """Everything that has ended and is not disqualified, in the order of receipt."""
    rivals = rivals_rates(session, row, guesses.counting(session, row, view.guesses_before))
    return entries(session, row, view, finished(session, row, before=view.submissions_before), rivals)


def ranks_by(
    session: Session, row: CompetitionRow, file: str, judged: Sequence[Evaluation]
) -> dict[str, int]:
    """The rank of each team, as organizers see it, if the rules were ``file`` and ``judged``, in the order of
    receipt, the evaluations that count."""
    view = visibility.everything(row)
    found = guesses.counting(session, row, view.guesses_before, rejected_too=True)
    standing = [each for each in judged if has_ended(each) and is_qualified(each.submission)]
    listed = entries(session, row, view, standing, rivals_rates(session, row, found))
    board = ranked(competitions.read_file(file), listed, None)
    return {line.team: line.rank for line in board if line.rank is not None}


def has_ended(evaluation: Evaluation) -> bool:
    return evaluation.state in ENDED


def is_qualified(submission: Submission) -> bool:
    return submission.disqualified_at is None and submission.team.disqualified_at is None


def entries(
    session: Session,
    row: CompetitionRow,
    view: View,
    judged: Sequence[Evaluation],
    rivals: Mapping[UUID, float],
) -> list[Entry]:
    finals = set(session.scalars(select(Target.submission_id).where(Target.competition_id == row.id)))
    return [
        Entry(
            evaluation,
            counts=evaluation.state == State.SCORED
            and (not view.finals_only or is_baseline(evaluation) or evaluation.submission_id in finals),
            rivals=rivals.get(evaluation.submission_id),
        )
        for evaluation in judged
    ]


def is_baseline(evaluation: Evaluation) -> bool:
    return evaluation.submission.team.baseline


def finished(session: Session, row: CompetitionRow, *, before: datetime) -> Sequence[Evaluation]:
    query = (
        select(Evaluation)
        .join(Evaluation.submission)
        .join(Submission.team)
        .where(Submission.competition_id == row.id, Evaluation.current)
        .where(Evaluation.state.in_(ENDED), Submission.received_at < before)
        .where(Submission.disqualified_at.is_(None), Team.disqualified_at.is_(None))
        .options(joinedload(Evaluation.submission, innerjoin=True).joinedload(Submission.team))
        .order_by(Submission.received_at, Submission.id)
    )
    return session.scalars(query).all()


def rivals_rates(session: Session, row: CompetitionRow, counting: Sequence[Guess]) -> dict[UUID, float]:
    """The best of the guesses that count on each submission that is a target, as a rate."""
    if not counting:
        return {}
    targets = session.execute(
        select(Target.id, Target.submission_id, Target.rows).where(Target.competition_id == row.id)
    )
    best: dict[UUID, int] = {}
    for guess in counting:
        best[guess.target_id] = max(best.get(guess.target_id, 0), guess.correct or 0)
    return {
        submission_id: best[target_id] / rows
        for target_id, submission_id, rows in targets
        if target_id in best
    }


def ranked(competition: Competition, entries: Sequence[Entry], viewer: UUID | None) -> list[Row]:
    """The rows in the order of the board: by rank; equal ranks, and those without, in the order given.

    Baselines stand below, the best first.
    """
    everything = best_of_teams(entries)
    chosen = [entry for entry in everything if not is_baseline(entry.evaluation)]
    by_sum = competition.ranking.rule == "rank_sum"
    if by_sum:  # equal sums stand in the order of receipt, whatever their overall
        chosen.sort(key=lambda entry: (entry.submission.received_at, entry.submission.id))
    sums = rank_sums([compared(competition, entry) for entry in chosen])
    scores = sums if by_sum else [entry.overall for entry in chosen]
    places, front = ranks(scores), pareto_front([losses(entry) for entry in chosen])
    sent = Counter(entry.submission.team_id for entry in entries)
    return [
        board_row(
            chosen[i],
            rank=places[i],
            rank_sum=sums[i] if by_sum else None,
            on_front=front[i],
            entries=sent[chosen[i].submission.team_id],
            own=viewer == chosen[i].submission.team_id,
        )
        for i in standing(scores)
    ] + [baseline_row(entry) for entry in everything if is_baseline(entry.evaluation)]


def baseline_row(entry: Entry) -> Row:
    return board_row(entry, rank=None, rank_sum=None, on_front=False, entries=1, own=False)


def best_of_teams(entries: Sequence[Entry]) -> list[Entry]:
    """One per team: lowest overall, the earlier among equals; an unscored one only for want of others."""
    best: dict[UUID, Entry] = {}
    for entry in entries:
        held = best.get(entry.submission.team_id)
        if held is None or order(entry) < order(held):
            best[entry.submission.team_id] = entry
    return sorted(best.values(), key=order)


def order(entry: Entry) -> tuple[bool, float, datetime, UUID]:
    submission = entry.submission
    return entry.overall is None, entry.overall or 0.0, submission.received_at, submission.id


def compared(competition: Competition, entry: Entry) -> Mapping[str, float] | None:
    """The values of an accepted submission that ``rank_sum`` compares."""
    if entry.verdict is None or entry.security is None:
        return None
    return ranked_values(values(entry.verdict, "measures", "value"), entry.security, competition.measures)


def losses(entry: Entry) -> tuple[float, float] | None:
    return None if entry.utility is None or entry.security is None else (entry.utility, entry.security)


def board_row(
    entry: Entry, *, rank: int | None, rank_sum: float | None, on_front: bool, entries: int, own: bool
) -> Row:
    received = entry.submission.received_at.astimezone(UTC)
    return Row(
        rank=rank,
        team=entry.submission.team.name,
        own=own,
        baseline=is_baseline(entry.evaluation),
        entries=entries,
        overall=entry.overall,
        utility=entry.utility,
        security=entry.security,
        rivals=entry.rivals if entry.counts else None,
        rank_sum=rank_sum,
        on_front=on_front,
        received_at=received if entry.counts else None,
        measures=values(entry.verdict, "measures", "value"),
        attackers=values(entry.verdict, "attackers", "rate"),
    )


def values(verdict: dict[str, Any] | None, part: str, key: str) -> dict[str, float]:
    return {name: entry[key] for name, entry in verdict[part].items()} if verdict else {}


def as_csv(board: Board) -> str:
    head = [
        "rank",
        "team",
        "baseline",
        "entries",
        "overall",
        "utility",
        "security",
        "rivals",
        "rank_sum",
        "received_at",
    ]
    return csv_text([*head, *board.measures, *board.attackers], [csv_row(board, row) for row in board.rows])


def csv_row(board: Board, row: Row) -> list[object]:
    received = row.received_at.isoformat() if row.received_at else None
    scores = [row.overall, row.utility, row.security, row.rivals, row.rank_sum]
    measured = [row.measures.get(name) for name in board.measures]
    attacked = [row.attackers.get(name) for name in board.attackers]
    return [
        row.rank,
        row.team,
        str(row.baseline).lower(),
        row.entries,
        *scores,
        received,
        *measured,
        *attacked,
    ]
