"""A team as the boards show it: its rank and how that went, and, once they are known, its targets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app import wire
from app.db.models import Team
from app.errors import NotFound
from app.http.dependencies import MaybeSignedIn
from app.language import Words
from app.services.boards import anonymization, history, matrix, reidentification
from app.services.contest import visibility
from app.transaction import transaction
from app.web.site import languages
from app.web.site.frame import frame_of
from app.web.site.pages import PageRoute, page
from app.web.visitor import standings
from app.web.visitor.board_view import view_of
from app.web.visitor.replay import milliseconds

router = APIRouter(route_class=PageRoute)


@dataclass(frozen=True, slots=True)
class Best:
    """The attackers that found the most in a target, and how much that is."""

    attackers: tuple[str, ...]
    rate: float


@dataclass(frozen=True, slots=True)
class Attacked:
    """A target of the team, and what teams and built-in attackers found in it, if that is told."""

    target: str
    teams: Best | None
    built_in: Best | None


@router.get("/competitions/{slug}/teams/{team_id}")
def team(request: Request, slug: str, team_id: UUID, principal: MaybeSignedIn) -> HTMLResponse:
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        sight = visibility.boards(session, principal, slug)
        board = anonymization.board(session, sight)
        row = row_of(board, team_id)
        told, ranks = history.followed(session, sight, team_id)
        attacks = matrix.board(session, sight)
        attackers = reidentification.board(session, sight)
        closed = frame.contest.row.closed_at is not None
        approach = session.get_one(Team, team_id).approach if closed else None
    return page(
        request,
        principal,
        "visitor/team_page.html",
        frame=frame,
        view=view_of(frame),
        board=board,
        row=row,
        approach=approach,
        ranked=standings.ranked_teams(board),
        tied=standings.tied(board),
        change=standings.change(row, board),
        steps=steps_of(told, team_id),
        ranks=[[milliseconds(one.at), one.rank, one.ranked] for one in ranks],
        targets=[attacked(attacks, place) for place in places_of(attacks, row.team)],
        counted=attacks.counted,
        attacker=next((one for one in attackers.rows if one.team == row.team and one.rank), None),
        words=words(languages.words_of(request)),
    )


def row_of(board: wire.Board, team_id: UUID) -> wire.BoardRow:
    """Who does not stand on the board has no page, and looks like nobody."""
    found = (row for row in board.rows if row.team_id == team_id and not row.baseline)
    if (row := next(found, None)) is None:
        raise NotFound("there is nothing here")
    return row


def steps_of(told: wire.History, team_id: UUID) -> Sequence[wire.HistoryStep]:
    """Its steps, the latest first."""
    return next((team.steps[::-1] for team in told.teams if team.team_id == team_id), ())


def places_of(attacks: wire.Matrix, team: str) -> list[int]:
    """Where the targets stand that are known to be the team's."""
    return [place for place, one in enumerate(attacks.targets) if one.team == team]


def attacked(attacks: wire.Matrix, place: int) -> Attacked:
    return Attacked(
        attacks.targets[place].target,
        teams=best(attacks, place, built_in=False),
        built_in=best(attacks, place, built_in=True),
    )


def best(attacks: wire.Matrix, place: int, *, built_in: bool) -> Best | None:
    rows = [row for row in attacks.rows if row.built_in == built_in]
    found = [(cell.rate, row.attacker) for row in rows if (cell := row.cells[place])]
    if not found:
        return None
    most = max(rate for rate, _ in found)
    return Best(tuple(name for rate, name in found if rate == most), most)


def words(t: Words) -> dict[str, Any]:
    """What the picture says."""
    return {"rank": t("Rank"), "picture": t("How the rank went")}
