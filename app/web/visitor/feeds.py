"""Feeds to subscribe to: deadlines as an iCalendar file, announcements and public answers as Atom."""

import hashlib

from fastapi import APIRouter, Request
from fastapi.responses import Response

from anoncup.rules.settings import Phase
from app.db.models import Announcement
from app.db.transaction import transaction
from app.http.authentication import get_service_url
from app.http.board_cache import parse_known_etags
from app.locale.language import Translator
from app.services.contests import announcements, clarifications, competitions, schedule
from app.services.contests.clarifications import VisibleClarification
from app.services.contests.contest import Contest
from app.services.contests.schedule import CalendarVersion
from app.web.site import language
from app.web.site.pages import PageRoute
from app.web.visitor.atom import Feed, FeedEntry, render_atom
from app.web.visitor.calendar import CalendarEvent, render_calendar

router = APIRouter(route_class=PageRoute)
_MAX_ENTRIES = 50


@router.get("/competitions/{slug}/calendar.ics")
def download_calendar(request: Request, slug: str) -> Response:
    with transaction() as session:
        contest = competitions.find(session, None, slug)
        calendar_version = schedule.load_calendar_version(session, contest.competition)
    t, page_url = language.negotiate_translator(request), f"{get_service_url(request)}/competitions/{slug}"
    title = language.localize_title(contest.rules.title, t.language)
    events = [_build_event(contest, phase, calendar_version, page_url, t) for phase in contest.rules.phases]
    calendar = render_calendar(title, events, language=t.language)
    response = _respond_with_etag(request, calendar, "text/calendar; charset=utf-8")
    response.headers["Content-Disposition"] = f'inline; filename="{slug}.ics"'
    return response


def _build_event(
    contest: Contest, phase: Phase, calendar_version: CalendarVersion, page_url: str, t: Translator
) -> CalendarEvent:
    title = language.localize_title(contest.rules.title, t.language)
    hint = t("The competition’s page says what to do until then:")
    return CalendarEvent(
        uid=f"{contest.id}-{phase.name}@anoncup",
        start=phase.start,
        end=phase.end,
        summary=t("{competition}: {phase}", competition=title, phase=t.label(f"phase_{phase.name}")),
        description=f"{hint} {page_url}",
        url=page_url,
        sequence=calendar_version.sequence,
        changed_at=calendar_version.changed_at,
        is_confirmed=contest.competition.paused_at is None,
    )


@router.get("/competitions/{slug}/announcements.atom")
def download_announcements_feed(request: Request, slug: str) -> Response:
    with transaction() as session:
        contest = competitions.find(session, None, slug)
        announcement_rows = announcements.list_announcements(session, None, slug, limit=_MAX_ENTRIES)
        answers = clarifications.list_public_answers(session, None, slug, limit=_MAX_ENTRIES)
    t, service_url = language.negotiate_translator(request), get_service_url(request)
    title = language.localize_title(contest.rules.title, t.language)
    entries = [
        *(_build_announcement_entry(item, t.language) for item in announcement_rows),
        *(_build_answer_entry(item, t) for item in answers),
    ]
    entries = sorted(entries, key=lambda item: item.published_at, reverse=True)[:_MAX_ENTRIES]
    feed = Feed(
        id=contest.id,
        title=t("{competition}: announcements", competition=title),
        author=t("The organizers"),
        page_url=f"{service_url}/competitions/{slug}",
        self_url=f"{service_url}/competitions/{slug}/announcements.atom?lang={t.language}",
        updated_at=entries[0].published_at if entries else contest.competition.created_at,
        language=t.language,
    )
    xml = render_atom(feed, entries)
    return _respond_with_etag(request, xml, "application/atom+xml; charset=utf-8")


def _build_announcement_entry(announcement: Announcement, reader_language: str) -> FeedEntry:
    """Return the entry in the reader's language, or in the first available one."""
    texts = announcements.translate(announcement)
    text_language = reader_language if reader_language in texts else next(iter(texts))
    return FeedEntry(announcement.id, announcement.at, texts[text_language], text_language)


def _build_answer_entry(answered: VisibleClarification, t: Translator) -> FeedEntry:
    """Return the entry of an answer without naming who asked. A changed answer keeps its id but is newer."""
    clarification = answered.clarification
    text = f"{clarification.question}\n\n{t('The organizers’ answer to everybody')}\n{clarification.answer}"
    return FeedEntry(
        clarification.id,
        clarification.answered_at or clarification.asked_at,
        text,
        "",
        "/clarifications",
        clarification.question,
    )


def _respond_with_etag(request: Request, body: bytes, media_type: str) -> Response:
    """Return the body with an ETag, or 304 if the client already has it."""
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": "no-cache", "Vary": "Accept-Language, Cookie"}
    if etag in parse_known_etags(request):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=media_type, headers=headers)
