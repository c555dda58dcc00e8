"""The page of the scores over time."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.rules.model import Rules
from anoncup.schemas import History
from app.charts.figure import Figure
from app.charts.text import translate_words
from app.charts.timeline import TimelineEntry, TimelineWords, build_timeline
from app.db.transaction import transaction
from app.locale.language import Translator
from app.web.site.frame import load_frame
from app.web.site.open_boards import OpenHistory
from app.web.site.pages import PageRoute, RequestedPage
from app.web.visitor.board_view import build_board_view

router = APIRouter(route_class=PageRoute)


@router.get("/competitions/{slug}/boards/history")
def show_history(page: RequestedPage, slug: str, history: OpenHistory) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
    return page.render(
        "visitor/board_history.html",
        frame=frame,
        view=build_board_view(frame),
        board=history,
        picture=_draw_scores(history, page.t, frame.rules) if history else None,
    )


def _draw_scores(history: History, t: Translator, rules: Rules) -> Figure:
    """Draw every change of a team's score. It is ``overall`` if values of the formula are hidden."""
    shows_formula = rules.ranking.rule != "score" and (history.digits is None or not compares_teams(rules))
    entries = [
        TimelineEntry(team.team, step.at, step.score if shows_formula else step.overall, "accepted")
        for team in history.teams
        if not team.baseline
        for step in team.steps
        if step.overall is not None
    ]
    words = translate_words(
        TimelineWords,
        t,
        title=t("Each team’s best score over time"),
        x_title=t("Moment"),
        **({"y_title": t("Score")} if shows_formula else {}),
        submission=t("Team"),
        received=t("Since"),
        summary=t("Changes of a score: {count}."),
    )
    higher_is_better = shows_formula and rules.ranking.order == "descending"
    return build_timeline(entries, words, zone=rules.timezone, higher_is_better=higher_is_better)
