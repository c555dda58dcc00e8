"""One's own team of a competition: who is in it, how others join it, how one leaves."""

from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError, NotFound
from app.db.transaction import transaction
from app.http.authentication import SignedIn, service_address
from app.http.step_up import Sure
from app.services.accounts.accounts import Principal
from app.services.teams import invites, members
from app.web.site.frame import frame_of
from app.web.site.pages import PageRoute, again, page, see

router = APIRouter(route_class=PageRoute, prefix="/competitions/{slug}/team")

MOST_USES = 100


@router.get("")
def own_team(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    return team_page(request, principal, slug)


def team_page(
    request: Request,
    principal: Principal,
    slug: str,
    *,
    link: str | None = None,
    uses: int = 1,
    typed: str | None = None,
    problem: DomainError | None = None,
) -> HTMLResponse:
    """``link``: an invite that was just made, shown this once; ``uses``: of it, or as typed; ``typed``: an
    approach that was refused."""
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        team, people = members.own_team(session, principal, slug)
    content: dict[str, Any] = {"frame": frame, "team": team, "people": people, "link": link, "uses": uses}
    content |= {"life": invites.LIFE.days, "most": MOST_USES, "longest": members.LONGEST_APPROACH}
    content["approach"] = team.approach if typed is None else typed
    if problem is not None:
        return again(request, principal, "team/members.html", problem, **content)
    return page(request, principal, "team/members.html", status=201 if link else 200, **content)


@router.get("/invites")
def back_to_the_team(slug: str) -> Response:
    """The answer to the form, loaded anew: the link is shown once."""
    return see(f"/competitions/{slug}/team")


@router.post("/invites")
def create_invite(
    request: Request,
    slug: str,
    principal: SignedIn,
    sure: Sure,
    uses: Annotated[int, Form(ge=1, le=MOST_USES)] = 1,
) -> HTMLResponse:
    try:
        principal = sure()
        with transaction() as session:
            code = invites.for_members(session, principal, slug, uses=uses)
    except DomainError as problem:
        return team_page(request, principal, slug, uses=uses, problem=problem)
    link = f"{service_address(request)}/sign-up?{urlencode({'invite': code})}"
    return team_page(request, principal, slug, link=link, uses=uses)


@router.post("/approach")
def tell(request: Request, slug: str, principal: SignedIn, approach: Annotated[str, Form()] = "") -> Response:
    try:
        with transaction() as session:
            members.tell(session, principal, slug, approach)
    except DomainError as problem:
        return team_page(request, principal, slug, typed=approach, problem=problem)
    return see(f"/competitions/{slug}/team", done="told")


@router.get("/members/{user_id}")
def removal(request: Request, slug: str, user_id: UUID, principal: SignedIn) -> HTMLResponse:
    """Asks before somebody leaves or is taken out."""
    return removal_page(request, principal, slug, user_id)


def removal_page(
    request: Request, principal: Principal, slug: str, user_id: UUID, problem: DomainError | None = None
) -> HTMLResponse:
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        team, people = members.own_team(session, principal, slug)
    person = next((one for one in people if one.user_id == user_id), None)
    if person is None:
        raise NotFound("your team has no such member", code="no_such_member")
    content: dict[str, Any] = {"frame": frame, "team": team, "person": person, "alone": len(people) == 1}
    if problem is None:
        return page(request, principal, "team/member.html", **content)
    return again(request, principal, "team/member.html", problem, **content)


@router.post("/members/{user_id}")
def remove(request: Request, slug: str, user_id: UUID, principal: SignedIn) -> Response:
    try:
        with transaction() as session:
            members.remove(session, principal, slug, user_id)
    except DomainError as problem:
        return removal_page(request, principal, slug, user_id, problem)
    if user_id == principal.user_id:
        return see("/account", done="team_left")
    return see(f"/competitions/{slug}/team", done="member_removed")
