"""The page of the totals over all rounds of a competition."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from anoncup.rules.rounds import choose_text
from anoncup.schemas import TotalRow
from app.db.transaction import transaction
from app.web.site.frame import load_frame
from app.web.site.open_boards import OpenAttackTotal, OpenReleaseTotal
from app.web.site.pages import PageRoute, RequestedPage
from app.web.visitor.board_view import build_board_view
from app.web.visitor.boards import build_headings

router = APIRouter(route_class=PageRoute)


@router.get("/competitions/{slug}/boards/total")
def show_total_board(
    page: RequestedPage, slug: str, release_total: OpenReleaseTotal, attack_total: OpenAttackTotal
) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
    competition = frame.contest.competition
    return page.render(
        "visitor/board_total.html",
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
