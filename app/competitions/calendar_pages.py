"""The deadlines of a competition as an iCalendar file (RFC 5545)."""

from collections.abc import Iterator
from datetime import UTC, timedelta

import icalendar
from fastapi import APIRouter
from fastapi.responses import Response

from anoncup.rules.rounds import choose_text
from app.competitions import competitions
from app.core.db.models import Round
from app.core.db.transaction import transaction
from app.core.http.etags import send_if_changed
from app.core.identity.authentication import get_service_url
from app.core.locale.language import Translator
from app.core.pages.pages import PageRoute, RequestedPage

router = APIRouter(route_class=PageRoute)


@router.get("/competitions/{slug}/calendar.ics")
def download_calendar(page: RequestedPage, slug: str) -> Response:
    """Return a calendar that clients can subscribe to; it asks them to refresh it every hour."""
    with transaction() as session:
        competition = competitions.find(session, page.principal, slug).competition
        rounds = competition.rounds
    t, service_url = page.t, get_service_url(page.request)
    calendar = icalendar.Calendar()
    calendar.add("VERSION", "2.0")
    calendar.add("PRODID", "-//anoncup//schedule//EN")
    calendar.add("CALSCALE", "GREGORIAN")
    calendar.add("METHOD", "PUBLISH")
    calendar.add("REFRESH-INTERVAL", timedelta(hours=1), parameters={"value": "DURATION"})
    title = icalendar.vText(choose_text(competition.title, t.language))
    for property_name in ("NAME", "X-WR-CALNAME"):
        calendar.add(property_name, title)  # icalendar escapes neither unless it is a vText
    for round_ in rounds:
        for event in _iter_events(round_, service_url, t):
            calendar.add_component(event)
    headers = {
        "Cache-Control": "no-cache",
        "Vary": "Accept-Language, Cookie",
        "Content-Disposition": f'inline; filename="{slug}.ics"',
    }
    return send_if_changed(
        page.request, calendar.to_ical(), media_type="text/calendar; charset=utf-8", headers=headers
    )


def _iter_events(round_: Round, service_url: str, t: Translator) -> Iterator[icalendar.Event]:
    """Yield an event for each phase. A moved event keeps its identifier.

    Events of a paused round are tentative, because the deadlines then keep moving.
    """
    title, text_parameters = choose_text(round_.rules.title, t.language), {"language": t.language}
    url = f"{service_url}/competitions/{round_.address}"
    hint = t("The competition’s page says what to do until then:")
    for phase in round_.rules.phases:
        event = icalendar.Event.new(
            uid=f"{round_.id}-{phase.name}@anoncup",
            stamp=round_.competition.created_at,
            start=phase.start.astimezone(UTC),
            end=phase.end.astimezone(UTC),
            url=url,
            status=icalendar.STATUS.TENTATIVE if round_.paused_at else icalendar.STATUS.CONFIRMED,
            transparency=icalendar.TRANSP.TRANSPARENT,
        )
        summary = t("{competition}: {phase}", competition=title, phase=t.label(f"phase_{phase.name}"))
        event.add("SUMMARY", summary, parameters=text_parameters)
        event.add("DESCRIPTION", f"{hint} {url}", parameters=text_parameters)
        yield event
