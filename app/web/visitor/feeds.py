"""What programs follow: the deadlines as a calendar, announcements and answers to everybody as a feed."""

import hashlib

from fastapi import APIRouter, Request
from fastapi.responses import Response

from anoncup.rules.settings import Phase
from app.db.models import Announcement
from app.db.transaction import transaction
from app.http.authentication import service_address
from app.http.board_cache import known_tags
from app.locale.language import Words
from app.services.contests import announcements, clarifications, competitions, schedule
from app.services.contests.clarifications import Asked
from app.services.contests.contest import Contest
from app.services.contests.schedule import Moves
from app.web.site import language
from app.web.site.pages import PageRoute
from app.web.visitor.atom import Entry, Feed, atom
from app.web.visitor.calendar import Event, calendar

router = APIRouter(route_class=PageRoute)
NEWEST = 50


@router.get("/competitions/{slug}/calendar.ics")
def calendar_file(request: Request, slug: str) -> Response:
    with transaction() as session:
        contest = competitions.find(session, None, slug)
        moves = schedule.moves(session, contest.row)
    t, page = language.words_of(request), f"{service_address(request)}/competitions/{slug}"
    title = language.title_in(contest.rules.title, t.language)
    events = [event_of(contest, phase, moves, page, t) for phase in contest.rules.phases]
    text = calendar(title, events, language=t.language)
    answer = unless_known(request, text.encode(), "text/calendar; charset=utf-8")
    answer.headers["Content-Disposition"] = f'inline; filename="{slug}.ics"'
    return answer


def event_of(contest: Contest, phase: Phase, moves: Moves, page: str, t: Words) -> Event:
    title = language.title_in(contest.rules.title, t.language)
    said = t("The competition’s page says what to do until then:")
    return Event(
        uid=f"{contest.id}-{phase.name}@anoncup",
        start=phase.start,
        end=phase.end,
        summary=t("{competition}: {phase}", competition=title, phase=t.label(phase.name)),
        description=f"{said} {page}",
        url=page,
        sequence=moves.times,
        changed=moves.last,
        sure=contest.row.paused_at is None,
    )


@router.get("/competitions/{slug}/announcements.atom")
def announcements_feed(request: Request, slug: str) -> Response:
    with transaction() as session:
        contest = competitions.find(session, None, slug)
        said = announcements.listed(session, None, slug, limit=NEWEST)
        answers = clarifications.for_everybody(session, None, slug, limit=NEWEST)
    t, address = language.words_of(request), service_address(request)
    title = language.title_in(contest.rules.title, t.language)
    entries = [*(entry_of(one, t.language) for one in said), *(answer_of(one, t) for one in answers)]
    entries = sorted(entries, key=lambda one: one.at, reverse=True)[:NEWEST]
    feed = Feed(
        id=contest.id,
        title=t("{competition}: announcements", competition=title),
        author=t("The organizers"),
        page=f"{address}/competitions/{slug}",
        address=f"{address}/competitions/{slug}/announcements.atom?lang={t.language}",
        updated=entries[0].at if entries else contest.row.created_at,
        language=t.language,
    )
    made = atom(feed, entries)
    return unless_known(request, made, "application/atom+xml; charset=utf-8")


def entry_of(one: Announcement, language: str) -> Entry:
    """In the reader's language, or in the one that there is."""
    texts = announcements.texts(one)
    spoken = language if language in texts else next(iter(texts))
    return Entry(one.id, one.at, texts[spoken], spoken)


def answer_of(asked: Asked, t: Words) -> Entry:
    """Question and answer, not who asked; one that is answered anew is the same entry, later."""
    one = asked.one
    text = f"{one.question}\n\n{t('The organizers’ answer to everybody')}\n{one.answer}"
    return Entry(one.id, one.answered_at or one.asked_at, text, "", "/clarifications", one.question)


def unless_known(request: Request, body: bytes, kind: str) -> Response:
    """The answer with its ETag, or 304 if the client has it already."""
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache", "Vary": "Accept-Language, Cookie"}
    if tag in known_tags(request):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=kind, headers=headers)
