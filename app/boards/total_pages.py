"""The page of the totals over all rounds of a competition."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from anoncup.rules.rounds import choose_text
from anoncup.schemas import TotalRow
from app.boards.board_view import build_board_view
from app.boards.open_boards import OpenAttackTotal, OpenReleaseTotal
from app.boards.pages import build_headings
from app.competitions.frame import load_frame
from app.core.db.transaction import transaction
from app.core.pages.pages import PageRoute, RequestedPage

router = APIRouter(route_class=PageRoute)


@router.get("/competitions/{slug}/boards/total")
def show_total_board(
    page: RequestedPage, slug: str, release_total: OpenReleaseTotal, attack_total: OpenAttackTotal
) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
    competition = frame.contest.competition
    return page.render(
        "boards/board_total.html",
        frame=frame,
        title=competition.title,
        view=build_board_view(frame),
        board=release_total,
        boards={"release_total": release_total, "attack_total": attack_total},
        round_titles={
            entry.name: choose_text(entry.title, page.t.language) if entry.title else entry.name
            for entry in competition.round_settings
        },
        **build_headings(TotalRow.COLUMNS, page.t),
    )
