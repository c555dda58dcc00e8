"""The anonymization board: a pure function of finished evaluations."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from app.db.models import Competition as CompetitionRow
from app.db.models import Evaluation, State, Submission
from app.scoring.competition import Competition
from app.scoring.ranking import pareto_front, rank_sums, ranked_values, ranks, standing
from app.scoring.tracks import TRACKS
from app.services import competitions, visibility
from app.services.accounts import Principal

FORMULA_START = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Row:
    """A team's best accepted submission; a team without one has neither rank nor scores.

    ``rank_sum``: only where the competition ranks by it. ``on_front``: no other row has less of U and of E.
    """

    rank: int | None
    team: str
    own: bool
    entries: int
    overall: float | None
    utility: float | None
    security: float | None
    rank_sum: float | None
    on_front: bool
    received_at: datetime | None
    measures: dict[str, float]
    attackers: dict[str, float]


@dataclass(frozen=True, slots=True)
class Board:
    competition: str
    title: dict[str, str]
    frozen_from: datetime | None
    measures: tuple[str, ...]
    attackers: tuple[str, ...]
    rows: tuple[Row, ...]


def anonymization(session: Session, principal: Principal | None, slug: str) -> Board:
    """The board as this person may see it."""
    row = competitions.find(session, slug)
    competition = competitions.read_file(row.file)
    viewer = visibility.audience(session, row, principal)
    visibility.require_board(competition, viewer)
    frozen_from = competition.publication.frozen_from
    frozen = visibility.board_is_frozen(competition, viewer)
    evaluations = finished(session, row, before=frozen_from if frozen else None)
    track = TRACKS[competition.track]
    return Board(
        competition=row.slug,
        title=dict(competition.title),
        frozen_from=frozen_from,
        measures=tuple(track.measures),
        attackers=tuple(track.attackers),
        rows=tuple(ranked(competition, best_of_teams(evaluations), viewer, evaluations)),
    )


def finished(session: Session, row: CompetitionRow, *, before: datetime | None) -> Sequence[Evaluation]:
    """Everything that has ended, in the order of receipt."""
    query = (
        select(Evaluation)
        .join(Evaluation.submission)
        .join(Submission.team)
        .where(Submission.competition_id == row.id, Evaluation.current)
        .where(Evaluation.state.in_([State.SCORED, State.REJECTED]))
        .options(joinedload(Evaluation.submission, innerjoin=True).joinedload(Submission.team))
        .order_by(Submission.received_at, Submission.id)
    )
    if before is not None:
        query = query.where(Submission.received_at < before)
    return session.scalars(query).all()


def overall_of(evaluation: Evaluation) -> float | None:
    accepted = evaluation.state == State.SCORED and evaluation.verdict is not None
    return evaluation.verdict["overall"] if accepted and evaluation.verdict else None


def best_of_teams(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """One per team: lowest overall, the earlier among equals; an unscored one only for want of others."""
    best: dict[UUID, Evaluation] = {}
    for evaluation in evaluations:
        held = best.get(evaluation.submission.team_id)
        if held is None or order(evaluation) < order(held):
            best[evaluation.submission.team_id] = evaluation
    return sorted(best.values(), key=order)


def order(evaluation: Evaluation) -> tuple[bool, float, datetime, UUID]:
    overall = overall_of(evaluation)
    submission = evaluation.submission
    return overall is None, overall or 0.0, submission.received_at, submission.id


def ranked(
    competition: Competition,
    chosen: Sequence[Evaluation],
    viewer: visibility.Audience,
    everything: Sequence[Evaluation],
) -> list[Row]:
    """The rows in the order of the board: by rank; equal ranks, and those without, in the order given."""
    sums = rank_sums([compared(competition, evaluation) for evaluation in chosen])
    by_sum = competition.ranking.rule == "rank_sum"
    scores = sums if by_sum else [overall_of(evaluation) for evaluation in chosen]
    places, front = ranks(scores), pareto_front([losses(evaluation) for evaluation in chosen])
    entries = Counter(evaluation.submission.team_id for evaluation in everything)
    return [
        board_row(
            chosen[i],
            viewer,
            rank=places[i],
            rank_sum=sums[i] if by_sum else None,
            on_front=front[i],
            entries=entries[chosen[i].submission.team_id],
        )
        for i in standing(scores)
    ]


def compared(competition: Competition, evaluation: Evaluation) -> dict[str, float] | None:
    """The values of an accepted submission that ``rank_sum`` compares."""
    if overall_of(evaluation) is None or evaluation.verdict is None:
        return None
    measured = values(evaluation.verdict, "measures", "value")
    return ranked_values(measured, evaluation.verdict["security"], competition.measures)


def losses(evaluation: Evaluation) -> tuple[float, float] | None:
    if overall_of(evaluation) is None or evaluation.verdict is None:
        return None
    return evaluation.verdict["utility"], evaluation.verdict["security"]


def board_row(
    evaluation: Evaluation,
    viewer: visibility.Audience,
    *,
    rank: int | None,
    rank_sum: float | None,
    on_front: bool,
    entries: int,
) -> Row:
    submission = evaluation.submission
    scored = evaluation.verdict if rank is not None and evaluation.verdict else None
    return Row(
        rank=rank,
        team=submission.team.name,
        own=viewer.team_id == submission.team_id,
        entries=entries,
        overall=scored["overall"] if scored else None,
        utility=scored["utility"] if scored else None,
        security=scored["security"] if scored else None,
        rank_sum=rank_sum,
        on_front=on_front,
        received_at=submission.received_at.astimezone(UTC) if scored else None,
        measures=values(scored, "measures", "value"),
        attackers=values(scored, "attackers", "rate"),
    )


def values(verdict: dict[str, Any] | None, part: str, key: str) -> dict[str, float]:
    return {name: entry[key] for name, entry in verdict[part].items()} if verdict else {}


def as_csv(board: Board) -> str:
    """Text cells cannot start a formula in a spreadsheet; numbers stay numbers, in full precision."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    head = ["rank", "team", "entries", "overall", "utility", "security", "rank_sum", "received_at"]
    writer.writerow([*head, *board.measures, *board.attackers])
    for row in board.rows:
        received = row.received_at.isoformat() if row.received_at else None
        plain = [row.rank, harmless(row.team), row.entries, row.overall, row.utility, row.security]
        measured = [row.measures.get(name) for name in board.measures]
        attacked = [row.attackers.get(name) for name in board.attackers]
        writer.writerow([*plain, row.rank_sum, received, *measured, *attacked])
    return out.getvalue()


def harmless(cell: str) -> str:
    return "'" + cell if cell.startswith(FORMULA_START) else cell
