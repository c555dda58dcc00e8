"""A competition's first page: who leads and why, how long it goes on, what to do next, and what it is."""

import re
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from anoncup.errors import NotAllowed
from anoncup.rules.model import Rules
from anoncup.schemas import AttackersBoard, Board
from anoncup.tracks.model import Track
from app.db.transaction import transaction
from app.http.authentication import MaybeSignedIn
from app.locale.language import Words
from app.services.accounts.accounts import Principal
from app.services.boards import anonymization, reidentification
from app.services.contests import announcements, clarifications, observed_deadlines, visibility
from app.web.site import language
from app.web.site.frame import Frame, frame_of
from app.web.site.pages import PageRoute, page
from app.web.visitor import board_pictures, leader_text, standings
from app.web.visitor.call_to_action import next_step
from app.web.visitor.leader import podium
from app.web.visitor.winners import first_of_attacks, winners
from app.web.visitor.your_rank import desk_of, place_of

router = APIRouter(route_class=PageRoute)
IN_VIEW = 3
"""How many announcements stand open; older ones are folded."""
ANSWERS = 2
"""How many answers to everybody stand beside them; all have a page."""


@router.get("/competitions/{slug}")
def overview(request: Request, slug: str, principal: MaybeSignedIn) -> HTMLResponse:
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        board = open_board(session, principal, slug)
        attacks = attackers_board(session, principal, frame) if board else None
        said = announcements.listed(session, principal, slug)
        asked = clarifications.listed(session, principal, slug)
        answers = clarifications.for_everybody(session, principal, slug, limit=ANSWERS)
        reveal = observed_deadlines.expected(session, [frame.contest.row]).get(frame.contest.id)
        desk = desk_of(session, principal, frame)
        place = place_of(session, principal, frame, board, attacks)
    rules, track, t = frame.rules, frame.contest.track, language.words_of(request)
    over = frame.standing.state == "closed"
    return page(
        request,
        principal,
        "visitor/overview.html",
        frame=frame,
        board=board,
        podium=podium(board) if board else [],
        why=leader_text.told(board, rules, t, over=over) if board else "",
        winners=list(winners(board, attacks, t)) if over and board else [],
        attacks=attacks_said(attacks, t, over=over),
        attackers_hidden=attacks is not None and attacks.hidden,
        picture=board_pictures.scatter_of(board, rules, t)
        if board and standings.ranked_teams(board)
        else None,
        paragraphs=paragraphs,
        announcements=said,
        answers=answers,
        in_view=IN_VIEW,
        answered=sum(each.one.answer is not None for each in asked),
        waits_until=waits_until(frame, reveal),
        step=next_step(frame, principal, board_open=board is not None),
        desk=desk,
        place=place,
        columns=column_count(rules, track),
        built_in=len(track.attackers),
        two_phases=rules.phase("reidentification") is not None,
        counted=track.counts(rules),
        drawn=track.draw is not None and track.draw.each_team,
    )


def waits_until(frame: Frame, reveal: datetime | None) -> datetime | None:
    """When the secrets are revealed, where that is later than the end, and still to come."""
    second = frame.rules.phase("reidentification")
    if second is None or reveal is None or frame.contest.row.revealed_at is not None:
        return None
    return reveal if reveal > second.end else None


def open_board(session: Session, principal: Principal | None, slug: str) -> Board | None:
    try:
        return anonymization.board(session, visibility.boards(session, principal, slug))
    except NotAllowed:
        return None


def attackers_board(session: Session, principal: Principal | None, frame: Frame) -> AttackersBoard | None:
    """The board of the second phase, as soon as there are targets."""
    if frame.contest.row.published_at is None:
        return None
    return reidentification.board(session, visibility.boards(session, principal, frame.contest.slug))


def attacks_said(board: AttackersBoard | None, t: Words, *, over: bool) -> str:
    """Who leads the attacks, as far as the scores of guesses are visible; empty: nobody found any."""
    first = first_of_attacks(board)
    return leader_text.attacks(first, t, over=over) if first else ""


def paragraphs(text: str) -> list[str]:
    """What stands between empty lines."""
    return [part.strip() for part in re.split(r"\n[ \t]*\n", text) if part.strip()]


def column_count(rules: Rules, track: Track) -> int:
    """The columns of the original, as far as they are known before the data."""
    if rules.columns is None:
        return sum(len(file.header(rules) or ()) for file in track.original)
    return len(rules.columns.quasi_identifiers) + len(rules.columns.sensitive)
