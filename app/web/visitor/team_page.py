"""A team as the boards show it: its rank and how that went, and, once they are known, its targets."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from anoncup import schemas
from anoncup.errors import NotFound
from app.db.models import Team
from app.db.transaction import transaction
from app.http import board_cache
from app.http.authentication import MaybeSignedIn, ShownBy
from app.locale.language import Words
from app.services.boards import anonymization, board_timeline, matrix, reidentification
from app.services.contests.visibility import Sight
from app.web.site import language
from app.web.site.frame import frame_of
from app.web.site.names import listed
from app.web.site.pages import PageRoute, page
from app.web.visitor import standings
from app.web.visitor.board_pictures import title_of
from app.web.visitor.board_view import view_of
from app.web.visitor.replay import AN_HOUR
from app.web.visitor.standings import Change

router = APIRouter(route_class=PageRoute)


@dataclass(frozen=True, slots=True)
class Best:
    """The attackers that found the most in a target, and how much that is."""

    attackers: tuple[str, ...]
    rate: float

    def first(self, t: Words) -> str:
        """The first of those that are built in, and how many more there are."""
        name, others = title_of("attacker", self.attackers[0], t), len(self.attackers) - 1
        if not others:
            return name
        return t.ngettext(
            "{name} and {n} other attacker", "{name} and {n} other attackers", others, name=name
        )


@dataclass(frozen=True, slots=True)
class Attacked:
    """A target of the team, and what teams and built-in attackers found in it, if that is told."""

    target: str
    teams: Best | None
    built_in: Best | None


@dataclass(frozen=True, slots=True)
class Told:
    """What the boards say of a team. ``board``: without the rows of others; ``ranked``: how many have a rank;
    ``steps``: its own, the latest first; ``attacker``: its row among the attackers."""

    board: schemas.Board
    row: schemas.BoardRow
    ranked: int
    tied: frozenset[int]
    change: Change | None
    steps: Sequence[schemas.HistoryStep]
    ranks: Sequence[schemas.HistoryRank]
    targets: Sequence[Attacked]
    counted: bool
    attacker: schemas.AttackersRow | None

    @property
    def reasons(self) -> bool:
        return any(step.why for step in self.steps)

    @property
    def brief(self) -> bool:
        """Whether all of it happened within an hour: seconds matter."""
        return self.steps[0].at - self.steps[-1].at < AN_HOUR

    @property
    def size(self) -> int:
        return 1_000 + 500 * (len(self.steps) + len(self.ranks))


async def kept(request: Request, slug: str, team_id: UUID, shown: ShownBy) -> Told:
    return await board_cache.kept(request).of(shown, slug, told_of, team_id)


@router.get("/competitions/{slug}/teams/{team_id}")
def team(
    request: Request,
    slug: str,
    team_id: UUID,
    principal: MaybeSignedIn,
    told: Annotated[Told, Depends(kept)],
) -> HTMLResponse:
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        closed = frame.contest.row.closed_at is not None
        approach = session.get_one(Team, team_id).approach if closed else None
    t = language.words_of(request)
    return page(
        request,
        principal,
        "visitor/team_page.html",
        listed=partial(listed, t=t),
        frame=frame,
        view=view_of(frame),
        told=told,
        row=told.row,
        approach=approach,
        ranks=[[milliseconds(one.at), one.rank, one.ranked] for one in told.ranks],
        words=words(t),
    )


def told_of(session: Session, sight: Sight, team_id: UUID) -> Told:
    board = anonymization.board(session, sight)
    row = row_of(board, team_id)
    told, ranks = board_timeline.followed(session, sight, team_id)
    attacks = matrix.board(session, sight, of_team=team_id)
    attackers = reidentification.board(session, sight)
    return Told(
        board=board.model_copy(update={"rows": (row,)}),
        row=row,
        ranked=standings.ranked_teams(board),
        tied=standings.tied(board),
        change=standings.change(row, board),
        steps=steps_of(told, team_id),
        ranks=ranks,
        targets=[attacked(attacks, place) for place in range(len(attacks.targets))],
        counted=attacks.counted,
        attacker=next((one for one in attackers.rows if one.team == row.team and one.rank), None),
    )


def milliseconds(at: datetime) -> int:
    return round(1000 * at.timestamp())


def row_of(board: schemas.Board, team_id: UUID) -> schemas.BoardRow:
    """Who does not stand on the board has no page, and looks like nobody."""
    found = (row for row in board.rows if row.team_id == team_id and not row.baseline)
    if (row := next(found, None)) is None:
        raise NotFound("there is nothing here")
    return row


def steps_of(told: schemas.History, team_id: UUID) -> Sequence[schemas.HistoryStep]:
    """Its steps, the latest first."""
    return next((team.steps[::-1] for team in told.teams if team.team_id == team_id), ())


def attacked(attacks: schemas.Matrix, place: int) -> Attacked:
    return Attacked(
        attacks.targets[place].target,
        teams=best(attacks, place, built_in=False),
        built_in=best(attacks, place, built_in=True),
    )


def best(attacks: schemas.Matrix, place: int, *, built_in: bool) -> Best | None:
    rows = [row for row in attacks.rows if row.built_in == built_in]
    found = [(cell.rate, row.attacker) for row in rows if (cell := row.cells[place])]
    if not found:
        return None
    most = max(rate for rate, _ in found)
    return Best(tuple(name for rate, name in found if rate == most), most)


def words(t: Words) -> dict[str, Any]:
    """What the picture says."""
    return {"rank": t("Rank"), "picture": t("Rank over time"), "among": t("Teams with a rank")}
