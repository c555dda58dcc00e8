"""The page of a team: its scores over time, and the attacks on its targets once these are known."""

from datetime import timedelta
from functools import partial
from typing import NamedTuple
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from anoncup import schemas
from anoncup.errors import NotFound
from app.boards import anonymization, history, matrix, reidentification
from app.boards import standing_pages as standings
from app.boards.pages import build_board_view
from app.competitions import visibility
from app.competitions.frame import load_frame
from app.core.db.models import Team
from app.core.db.transaction import transaction
from app.core.pages.language import adapt_to_track, join_names
from app.core.pages.pages import PageRoute, RequestedPage

router = APIRouter(route_class=PageRoute)
_ONE_HOUR = timedelta(hours=1)


class BestAttackers(NamedTuple):
    """The teams that share the highest rate on a target, and that rate."""

    names: tuple[str, ...]
    rate: float


@router.get("/competitions/{slug}/teams/{team_id}")
def show_team(page: RequestedPage, slug: str, team_id: UUID) -> HTMLResponse:
    with transaction() as session:
        access = visibility.authorize_boards(session, page.principal, slug)
        board = anonymization.build_board(session, access)
        row = _find_row(board, team_id)
        all_attacks = matrix.build_matrix(session, access)
        all_attackers = reidentification.build_board(session, access).rows
        timelines = history.build_history(session, access).teams
        frame = load_frame(session, page.principal, slug)
        is_closed = frame.round.closed_at is not None
        method_description = session.get_one(Team, team_id).method_description if is_closed else None
    t = adapt_to_track(page.t, frame.round.track.name)
    steps = next((team.steps[::-1] for team in timelines if team.team_id == team_id), ())
    return page.render(
        "boards/team_page.html",
        frame=frame,
        view=build_board_view(frame),
        board=board,
        row=row,
        ranked_teams=standings.count_ranked_teams(board),
        steps=steps,
        has_scores=any(step.score is not None for step in steps),
        is_brief=bool(steps) and steps[0].at - steps[-1].at < _ONE_HOUR,
        targets=_list_targets(all_attacks, row.team),
        counts_individuals=all_attacks.counted,
        attackers_row=next(
            (attacker for attacker in all_attackers if attacker.team == row.team and attacker.rank), None
        ),
        method_description=method_description,
        listed=partial(join_names, t=t),
    )


def _find_row(board: schemas.Board, team_id: UUID) -> schemas.BoardRow:
    """Return the row of a team.

    Teams that are not on the board have no page, so raise the same NotFound as for unknown ids.
    """
    matching_rows = (row for row in board.rows if row.team_id == team_id and not row.baseline)
    if (row := next(matching_rows, None)) is None:
        raise NotFound("there is nothing here")
    return row


def _list_targets(attacks: schemas.Matrix, team: str) -> dict[str, BestAttackers | None]:
    """Return the targets of a team with the best of the other teams; none while their teams are hidden."""
    return {
        target.target: _find_best_attackers(attacks, index)
        for index, target in enumerate(attacks.targets)
        if target.team == team
    }


def _find_best_attackers(attacks: schemas.Matrix, index: int) -> BestAttackers | None:
    rows = [row for row in attacks.rows if not row.built_in]
    rates = [(cell.rate, row.attacker) for row in rows if (cell := row.cells[index])]
    if not rates:
        return None
    highest = max(rate for rate, _ in rates)
    return BestAttackers(tuple(name for rate, name in rates if rate == highest), highest)
