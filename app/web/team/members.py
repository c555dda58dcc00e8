"""The page of a team: list and invite members, remove one or leave, and describe the method."""

from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError, NotFound
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal, get_service_url
from app.http.step_up import FormReauthentication
from app.services.accounts.accounts import Principal
from app.services.teams import invites, members
from app.web.site.frame import load_frame
from app.web.site.pages import PageRoute, render_form_again, render_page, see_other

router = APIRouter(route_class=PageRoute, prefix="/competitions/{slug}/team")

_MAX_USES = 100


@router.get("")
def show_team(request: Request, slug: str, principal: CurrentPrincipal) -> HTMLResponse:
    return _render_team(request, principal, slug)


def _render_team(
    request: Request,
    principal: Principal,
    slug: str,
    *,
    link: str | None = None,
    uses: int = 1,
    rejected_description: str | None = None,
    problem: DomainError | None = None,
) -> HTMLResponse:
    """Render the team.

    ``link`` is a new invite, which is shown only once, and ``uses`` the number of people it is for.
    ``rejected_description`` is a method description that was not accepted.
    """
    with transaction() as session:
        frame = load_frame(session, principal, slug)
        team, team_members = members.load_own_team(session, principal, slug)
    content: dict[str, Any] = {
        "frame": frame,
        "team": team,
        "people": team_members,
        "link": link,
        "uses": uses,
    }
    content |= {
        "life": invites.INVITE_LIFETIME.days,
        "most": _MAX_USES,
        "longest": members.MAX_METHOD_DESCRIPTION_LENGTH,
    }
    content["method_description"] = (
        team.method_description if rejected_description is None else rejected_description
    )
    if problem is not None:
        return render_form_again(request, principal, "team/members.html", problem, **content)
    return render_page(request, principal, "team/members.html", status=201 if link else 200, **content)


@router.get("/invites")
def redirect_to_team(slug: str) -> Response:
    """Redirect to the team if the response of the invite form is reloaded: its link is shown only once."""
    return see_other(f"/competitions/{slug}/team")


@router.post("/invites")
def create_invite(
    request: Request,
    slug: str,
    principal: CurrentPrincipal,
    reauthenticate: FormReauthentication,
    uses: Annotated[int, Form(ge=1, le=_MAX_USES)] = 1,
) -> HTMLResponse:
    try:
        principal = reauthenticate()
        with transaction() as session:
            code = invites.create_for_members(session, principal, slug, uses=uses)
    except DomainError as problem:
        return _render_team(request, principal, slug, uses=uses, problem=problem)
    link = f"{get_service_url(request)}/sign-up?{urlencode({'invite': code})}"
    return _render_team(request, principal, slug, link=link, uses=uses)


@router.post("/method")
def save_method_description(
    request: Request, slug: str, principal: CurrentPrincipal, method_description: Annotated[str, Form()] = ""
) -> Response:
    try:
        with transaction() as session:
            members.set_method_description(session, principal, slug, method_description)
    except DomainError as problem:
        return _render_team(
            request, principal, slug, rejected_description=method_description, problem=problem
        )
    return see_other(f"/competitions/{slug}/team", notice="told")


@router.get("/members/{user_id}")
def show_removal(request: Request, slug: str, user_id: UUID, principal: CurrentPrincipal) -> HTMLResponse:
    """Show the confirmation page before a member leaves or is removed."""
    return _render_removal(request, principal, slug, user_id)


def _render_removal(
    request: Request, principal: Principal, slug: str, user_id: UUID, problem: DomainError | None = None
) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, principal, slug)
        team, team_members = members.load_own_team(session, principal, slug)
    person = next((member for member in team_members if member.user_id == user_id), None)
    if person is None:
        raise NotFound("your team has no such member", code="no_such_member")
    content: dict[str, Any] = {
        "frame": frame,
        "team": team,
        "person": person,
        "alone": len(team_members) == 1,
    }
    if problem is None:
        return render_page(request, principal, "team/member.html", **content)
    return render_form_again(request, principal, "team/member.html", problem, **content)


@router.post("/members/{user_id}")
def remove_member(request: Request, slug: str, user_id: UUID, principal: CurrentPrincipal) -> Response:
    try:
        with transaction() as session:
            members.remove(session, principal, slug, user_id)
    except DomainError as problem:
        return _render_removal(request, principal, slug, user_id, problem)
    if user_id == principal.user_id:
        return see_other("/account", notice="team_left")
    return see_other(f"/competitions/{slug}/team", notice="member_removed")
