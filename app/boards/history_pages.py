"""The page of the scores over time."""

from functools import partial

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.rules.model import Rules
from anoncup.schemas import History
from app.boards.board_view import build_board_view
from app.boards.history_chart import draw_history, list_series, rank_series
from app.boards.open_boards import OpenHistory
from app.competitions.frame import load_frame
from app.competitions.phases import ANONYMIZATION
from app.core.db.transaction import transaction
from app.core.locale.language import Translator
from app.core.pages.pages import PageRoute, RequestedPage
from app.core.pages.vega import Chart

router = APIRouter(route_class=PageRoute)


@router.get("/competitions/{slug}/boards/history")
def show_history(page: RequestedPage, slug: str, history: OpenHistory) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
    return page.render(
        "boards/board_history.html",
        frame=frame,
        view=build_board_view(frame),
        board=history,
        pictures=_draw_charts(history, page.t, frame.rules) if history else (),
    )


def _draw_charts(history: History, t: Translator, rules: Rules) -> list[Chart]:
    """Draw the scores, and the ranks unless the values of the formula that decides them are hidden."""
    has_formula = not rules.ranking.is_by_overall
    shows_formula = has_formula and (history.digits is None or not compares_teams(rules))
    descending = shows_formula and rules.ranking.order == "descending"
    phase = rules.phase(ANONYMIZATION)
    draw = partial(draw_history, t=t, zone=rules.timezone, begin=phase.start if phase else None)
    scores = list_series(history, by_formula=shows_formula, descending=descending)
    score_title = t("Score") if shows_formula else t("Overall score (lower is better)")
    titles = t("Each team’s best score over time"), score_title
    charts = [draw("timeline", titles, scores, descending=descending)]
    if shows_formula or not has_formula:
        ranks = rank_series(scores, descending=descending)
        charts.append(draw("ranks", (t("Each team’s rank over time"), t("Rank")), ranks, are_ranks=True))
    return [chart for chart in charts if chart]
