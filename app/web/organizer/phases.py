"""Phases: extended, paused and resumed, each act after a look at what it will do."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import DomainError, InvalidInput, NotFound
from anoncup.rules.settings import Phase
from app.db.transaction import transaction
from app.http.authentication import SignedIn
from app.http.step_up import Sure
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, dry_run, observed_deadlines, phases, schedule
from app.services.contests.contest import Contest
from app.services.contests.dry_run import Preview
from app.services.organizing import dashboard
from app.web.organizer.frame import organizers_frame, trouble
from app.web.site.pages import PageRoute, page, see

router = APIRouter(prefix="/competitions/{slug}/organize/phases", route_class=PageRoute)

ACTS = {"extend": "extended", "pause": "paused", "resume": "resumed"}
"""What can be done to a phase, and what is said when it is done."""


@dataclass(frozen=True, slots=True)
class Order:
    """An act on a phase; ``end``: the new one, of an extension."""

    name: str
    act: str
    end: datetime | None = None
    move_following: bool = False


@dataclass(frozen=True, slots=True)
class Move:
    """One phase before and after; ``by``: how far its end moves."""

    before: Phase
    after: Phase

    @property
    def by(self) -> timedelta:
        return self.after.end - self.before.end

    @property
    def nearer(self) -> bool:
        return self.by < timedelta(0)


@router.get("")
def windows(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    return phases_page(request, principal, slug)


@router.get("/{name}/{act}")
def preview(
    request: Request,
    slug: str,
    name: str,
    act: str,
    principal: SignedIn,
    *,
    end: str = "",
    move_following: bool = False,
) -> HTMLResponse:
    """What the act would do; nothing is done yet."""
    try:
        with transaction() as session:
            frame = organizers_frame(session, principal, slug)
            begun = phases.has_begun(session, frame.contest.row)
            zone = frame.rules.timezone
            order = order_of(name, act, end, move_following=move_following, zone=zone)
            do = partial(acted, session, principal.who_confirmed(), slug, order)  # and takes it back
            mark = dry_run.mark(frame.rules.phases, frame.contest.row.paused_at)
            seen = dry_run.previewed(session, frame.contest, do)
            counts = dashboard.counted(session, frame.contest.id)
    except DomainError as problem:
        return phases_page(request, principal, slug, problem=problem, typed=typed(name, end, move_following))
    return page(
        request,
        principal,
        "organizer/preview.html",
        frame=frame,
        begun=begun,
        order=order,
        mark=mark,
        seen=seen,
        moves=moves(seen),
        counts=counts,
    )


@router.post("/{name}/{act}")
def confirm(
    request: Request,
    slug: str,
    name: str,
    act: str,
    principal: SignedIn,
    *,
    sure: Sure,
    mark: Annotated[str, Form()],
    end: Annotated[str, Form()] = "",
    move_following: Annotated[bool, Form()] = False,
) -> Response:
    try:
        principal = sure()
        with transaction() as session:
            zone = competitions.find(session, principal, slug).rules.timezone
            dry_run.require_unmoved(session, principal, slug, mark)
            order = order_of(name, act, end, move_following=move_following, zone=zone)
            acted(session, principal, slug, order)
    except DomainError as problem:
        return phases_page(request, principal, slug, problem=problem, typed=typed(name, end, move_following))
    return see(f"/competitions/{slug}/organize/phases", done=ACTS[act])


def acted(session: Session, principal: Principal, slug: str, order: Order) -> Contest:
    if order.end is not None:
        follow = order.move_following
        return schedule.extend(session, principal, slug, order.name, order.end, move_following=follow)
    do = {"pause": schedule.pause, "resume": schedule.resume}[order.act]
    return do(session, principal, slug, order.name)


def order_of(name: str, act: str, end: str, *, move_following: bool, zone: str) -> Order:
    """What a form asks for; the new end, if it takes one, on the competition's clock."""
    if act not in ACTS:
        raise NotFound("a phase is extended, paused or resumed", code="no_such_act")
    if act != "extend":
        return Order(name, act)
    try:
        moment = datetime.fromisoformat(end)
    except ValueError:
        raise InvalidInput("enter a date and a time", code="no_time") from None
    return Order(
        name, act, moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone)), move_following
    )


def typed(name: str, end: str, move_following: bool) -> dict[str, Any]:
    return {"name": name, "end": end, "move_following": move_following}


def moves(seen: Preview) -> list[Move]:
    pairs = zip(seen.before.phases, seen.after.phases, strict=True)
    return [Move(before, after) for before, after in pairs]


def phases_page(
    request: Request,
    principal: Principal,
    slug: str,
    *,
    problem: DomainError | None = None,
    typed: dict[str, Any] | None = None,
) -> HTMLResponse:
    with transaction() as session:
        frame = organizers_frame(session, principal, slug)
        row = frame.contest.row
        found = dashboard.of_competition(session, principal, slug)
        reveal = observed_deadlines.expected(session, [row]).get(row.id)
        unsigned = observed_deadlines.unsigned(session, row.id)
    return page(
        request,
        principal,
        "organizer/phases.html",
        frame=frame,
        desk=found,
        reveal=reveal,
        unsigned=unsigned,
        typed=as_fields(typed or {}, frame.rules.timezone),
        local=partial(local, zone=frame.rules.timezone),
        turned={
            phases.ANONYMIZATION: row.frozen_at,
            phases.REIDENTIFICATION: row.closed_at,
        },
        **trouble(request, problem),
    )


def local(moment: datetime, *, zone: str) -> str:
    """A moment as a field for date and time takes it, on the competition's clock."""
    return moment.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%dT%H:%M:%S")


def as_fields(typed: dict[str, Any], zone: str) -> dict[str, Any]:
    """What was typed; a time with an offset, as a confirmation sends it, on the competition's clock."""
    try:
        moment = datetime.fromisoformat(typed.get("end", ""))
        return typed if moment.tzinfo is None else typed | {"end": local(moment, zone=zone)}
    except (ValueError, OverflowError):
        return typed
