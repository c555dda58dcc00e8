"""The contest replayed: everybody's best over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from anoncup import schemas
from app.charts.figure import Figure
from app.charts.text import worded
from app.charts.timeline import CourseWords, Entry, course
from app.db.transaction import transaction
from app.http import board_cache
from app.http.authentication import MaybeSignedIn, ShownBy
from app.http.board_cache import Text
from app.locale.language import Words
from app.services.boards import board_timeline
from app.web.site import language
from app.web.site.frame import frame_of
from app.web.site.names import listed
from app.web.site.pages import PageRoute, page
from app.web.visitor.board_access import if_open
from app.web.visitor.board_view import view_of

router = APIRouter(route_class=PageRoute)
AN_HOUR = timedelta(hours=1)
"""What passes within it is told by its seconds."""


@dataclass(frozen=True, slots=True)
class Lead:
    """From a moment on these teams were first."""

    at: datetime
    teams: tuple[str, ...]
    overall: float | None


async def kept_history(request: Request, slug: str, shown: ShownBy) -> Text | None:
    """As programs get it, and the page's own script."""
    return await if_open(board_cache.kept(request).text(shown, slug, board_timeline.as_json))


Kept = Annotated[Text | None, Depends(kept_history)]


@router.get("/competitions/{slug}/boards/replay")
def replay(request: Request, slug: str, principal: MaybeSignedIn, kept: Kept) -> HTMLResponse:
    with transaction() as session:
        frame = frame_of(session, principal, slug)
    t = language.words_of(request)
    told = schemas.History.model_validate_json(kept.body) if kept else None
    led = leads(told) if told else []
    return page(
        request,
        principal,
        "visitor/board_replay.html",
        frame=frame,
        view=view_of(frame),
        board=told,
        leads=led,
        brief=bool(led) and led[-1].at - led[0].at < AN_HOUR,
        words=words(t),
        picture=picture_of(led, t, frame.rules.timezone),
    )


def leads(told: schemas.History) -> list[Lead]:
    """Who led when; the same teams may have led with another score."""
    found: list[Lead] = []
    for one in told.leaders:
        first = [told.teams[each.team] for each in one.first if each.rank == 1]
        names = tuple(team.team for team in first)
        if names != (found[-1].teams if found else ()):
            found.append(Lead(one.at, names, overall_at(first[0], one.at) if first else None))
    return found


def picture_of(leads: Sequence[Lead], t: Words, zone: str) -> Figure:
    """Return a still picture of the best score over time, for readers without scripts."""
    chart_words = worded(
        CourseWords,
        t,
        title=t("The best score over time"),
        x=t("Moment"),
        submission=t("Team"),
        received=t("Since"),
        said=t("Changes of the lead: {count}."),
        accepted=t("In the lead"),
    )
    entries = [Entry(listed(one.teams, t), one.at, one.overall, "accepted") for one in leads if one.teams]
    return course(entries, chart_words, zone=zone)


def overall_at(team: schemas.HistoryTeam, at: datetime) -> float | None:
    """The overall of a team at a moment."""
    return next((step.overall for step in reversed(team.steps) if step.at <= at), None)


def words(t: Words) -> dict[str, Any]:
    """What the picture says."""
    return {
        "play": t("Play"),
        "pause": t("Pause"),
        "overall": t("Overall (the best at the top)"),
        "picture": t("Each team’s best score over time"),
        "second": t.label("reidentification"),
    }
