"""The replay page: the best score of each team over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from anoncup import schemas
from anoncup.competition.ranking_formulas import compares_teams
from anoncup.rules.model import Rules
from app.charts.figure import Figure
from app.charts.text import translate_words
from app.charts.timeline import TimelineEntry, TimelineWords, build_timeline
from app.db.transaction import transaction
from app.locale.language import Translator
from app.web.site.frame import load_frame
from app.web.site.open_boards import OpenHistory
from app.web.site.pages import PageRoute, RequestedPage
from app.web.site.sentences import join_names
from app.web.visitor.board_view import build_board_view

router = APIRouter(route_class=PageRoute)
ONE_HOUR = timedelta(hours=1)
"""Histories shorter than this show their times with seconds."""


@dataclass(frozen=True, slots=True)
class LeadChange:
    """The teams that took the lead at a moment, their overall score and the value of their formula."""

    started_at: datetime
    teams: tuple[str, ...]
    overall: float | None
    score: float | None


@router.get("/competitions/{slug}/boards/replay")
def show_replay(page: RequestedPage, slug: str, history: OpenHistory) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
    t, rules = page.t, frame.rules
    shows_scores = history is not None and _shows_scores(history, rules)
    lead_changes = _find_lead_changes(history) if history else []
    return page.render(
        "visitor/board_replay.html",
        frame=frame,
        view=build_board_view(frame),
        board=history,
        leads=lead_changes,
        brief=bool(lead_changes) and lead_changes[-1].started_at - lead_changes[0].started_at < ONE_HOUR,
        shows_scores=shows_scores,
        words=_translate_script_texts(t, shows_scores=shows_scores),
        picture=_draw_lead_chart(lead_changes, t, rules, shows_scores=shows_scores),
    )


def _shows_scores(history: schemas.History, rules: Rules) -> bool:
    """Return whether the replay shows values of the formula, which are hidden if they compare teams."""
    return rules.ranking.rule != "score" and (history.digits is None or not compares_teams(rules))


def _find_lead_changes(history: schemas.History) -> list[LeadChange]:
    """Return every change of the leading teams. A new score of the same teams is not a change."""
    changes: list[LeadChange] = []
    for moment in history.leaders:
        leaders = [history.teams[rank.team] for rank in moment.first if rank.rank == 1]
        names = tuple(team.team for team in leaders)
        if names != (changes[-1].teams if changes else ()):
            step = _find_step(leaders[0], moment.at) if leaders else None
            scores = (step.overall, step.score) if step else (None, None)
            changes.append(LeadChange(moment.at, names, *scores))
    return changes


def _draw_lead_chart(
    changes: Sequence[LeadChange], t: Translator, rules: Rules, *, shows_scores: bool
) -> Figure:
    """Draw the best score over time as a static chart, for browsers without scripts."""
    chart_words = translate_words(
        TimelineWords,
        t,
        title=t("The best score over time"),
        x_title=t("Moment"),
        **({"y_title": t("Score")} if shows_scores else {}),
        submission=t("Team"),
        received=t("Since"),
        summary=t("Changes of the lead: {count}."),
        accepted=t("In the lead"),
    )
    entries = [
        TimelineEntry(
            join_names(change.teams, t),
            change.started_at,
            change.score if shows_scores else change.overall,
            "accepted",
        )
        for change in changes
        if change.teams
    ]
    higher_is_better = shows_scores and rules.ranking.order == "descending"
    return build_timeline(entries, chart_words, zone=rules.timezone, higher_is_better=higher_is_better)


def _find_step(team: schemas.HistoryTeam, moment: datetime) -> schemas.HistoryStep | None:
    """Return the scores of a team at a moment, or None before its first score."""
    return next((step for step in reversed(team.steps) if step.at <= moment), None)


def _translate_script_texts(t: Translator, *, shows_scores: bool) -> dict[str, Any]:
    """Return the texts that the script of the replay shows."""
    return {
        "play": t("Play"),
        "pause": t("Pause"),
        "score": t("Score (the best at the top)") if shows_scores else t("Overall (the best at the top)"),
        "picture": t("Each team’s best score over time"),
        "second": t.label("phase_reidentification"),
    }
