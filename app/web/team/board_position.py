"""Load the anonymization board for the pages of a team's submissions, and find the position of the team."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from anoncup.schemas import Board
from app.db.models import State
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal, RequestCredential
from app.http.board_cache import load_open_board
from app.services.accounts.principal import Principal
from app.services.boards import anonymization
from app.services.submissions import submissions, summaries
from app.web.team.submission_lines import SubmissionLine


@dataclass(frozen=True, slots=True)
class TeamBoardPosition:
    """The rank of a team among all ranked teams, and the time of receipt that identifies its submission."""

    received_at: datetime
    rank: int
    ranked_teams: int


async def load_team_board(
    request: Request, slug: str, principal: CurrentPrincipal, credential: RequestCredential
) -> Board | None:
    """Return the reader's board; None if it is not open to them, or their team has no score yet."""
    if not await run_in_threadpool(_has_score, principal, slug):
        return None
    return await load_open_board(request, credential, slug, anonymization.build_board, Board)


def _has_score(principal: Principal, slug: str) -> bool:
    with transaction() as session:
        own_summaries = summaries.list_summaries(session, principal, slug)
    return any(summary.state == State.SCORED for summary in own_summaries)


async def _load_submission_board(
    request: Request, submission_id: UUID, principal: CurrentPrincipal, credential: RequestCredential
) -> Board | None:
    """Return the reader's board; None if it is not open to them, or the submission has no verdict yet."""
    slug = await run_in_threadpool(_find_slug_of_judged, principal, submission_id)
    if slug is None:
        return None
    return await load_open_board(request, credential, slug, anonymization.build_board, Board)


def _find_slug_of_judged(principal: Principal, submission_id: UUID) -> str | None:
    """Return the slug of a submission's competition; None without a verdict."""
    with transaction() as session:
        submission = submissions.find_visible(session, principal, submission_id)
        has_verdict = submission.evaluation.verdict is not None
        return submissions.get_competition_slug(session, submission) if has_verdict else None


TeamBoard = Annotated[Board | None, Depends(load_team_board)]
SubmissionBoard = Annotated[Board | None, Depends(_load_submission_board)]


def find_position(board: Board | None, lines: Sequence[SubmissionLine]) -> TeamBoardPosition | None:
    """Return the team's position on the board, or None if it has no rank or no line has a score."""
    if board is None or not any(line.displayed_state == State.SCORED for line in lines):
        return None
    ranked_rows = [row for row in board.rows if row.rank is not None]
    own_row = next((row for row in ranked_rows if row.own), None)
    if own_row is None or own_row.rank is None or own_row.received_at is None:
        return None
    return TeamBoardPosition(own_row.received_at, own_row.rank, len(ranked_rows))
