"""The page of a team: list and invite members, remove one or leave, and describe the method."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError, NotFound
from app.accounts.step_up import FormReauthentication
from app.competitions.frame import load_frame
from app.core.db.transaction import transaction
from app.core.identity.authentication import get_service_url
from app.core.pages.pages import PageRoute, RequestedUserPage, UserPage, see_other, show_problem
from app.organizing import decisions
from app.teams import invites, members

router = APIRouter(route_class=PageRoute, prefix="/competitions/{slug}/team")

_MAX_USES = 100


def _render_team(
    page: UserPage,
    slug: str,
    *,
    problem: DomainError | None = None,
    link: str | None = None,
    uses: int = 1,
    method_description: str | None = None,
) -> HTMLResponse:
    """Render the team.

    ``link`` is a new invite, which is shown only once, and ``uses`` the number of people it is for.
    ``method_description`` is one that was not accepted.
    """
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
        team, team_members = members.load_own_team(session, page.principal, slug)
        own_adjustments = decisions.list_adjustments(session, page.principal, slug, team.id)
        has_sent = members.has_sent(session, team.id)
    return page.render(
        "overview/members.html",
        adjustments=own_adjustments,
        problem=problem,
        status=201 if link else 200,
        frame=frame,
        team=team,
        members=team_members,
        has_sent=has_sent,
        link=link,
        uses=uses,
        invite_days=invites.INVITE_LIFETIME.days,
        max_uses=_MAX_USES,
        max_length=members.MAX_METHOD_DESCRIPTION_LENGTH,
        method_description=team.method_description if method_description is None else method_description,
    )


def _render_removal(
    page: UserPage, slug: str, user_id: UUID, *, problem: DomainError | None = None
) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
        team, team_members = members.load_own_team(session, page.principal, slug)
        has_sent = members.has_sent(session, team.id)
    person = next((member for member in team_members if member.user_id == user_id), None)
    if person is None:
        raise NotFound("your team has no such member", code="no_such_member")
    return page.render(
        "overview/member.html",
        problem=problem,
        frame=frame,
        team=team,
        person=person,
        is_last_member=len(team_members) == 1,
        has_sent=has_sent,
    )


@router.get("")
def show_team(page: RequestedUserPage, slug: str) -> HTMLResponse:
    return _render_team(page, slug)


@router.post("/invites")
@show_problem(_render_team)
def create_invite(
    page: RequestedUserPage,
    slug: str,
    reauthenticate: FormReauthentication,
    uses: Annotated[int, Form(ge=1, le=_MAX_USES)] = 1,
) -> HTMLResponse:
    principal = reauthenticate()
    with transaction() as session:
        code = invites.create_for_members(session, principal, slug, uses=uses)
    link = invites.build_link(get_service_url(page.request), code)
    return _render_team(page, slug, link=link, uses=uses)


@router.post("/method")
@show_problem(_render_team)
def save_method_description(
    page: RequestedUserPage, slug: str, method_description: Annotated[str, Form()] = ""
) -> Response:
    with transaction() as session:
        members.set_method_description(session, page.principal, slug, method_description)
    return see_other(f"/competitions/{slug}/team", notice="method_saved")


@router.get("/members/{user_id}")
def show_removal(page: RequestedUserPage, slug: str, user_id: UUID) -> HTMLResponse:
    """Show the confirmation page before a member leaves or is removed."""
    return _render_removal(page, slug, user_id)


@router.post("/members/{user_id}")
@show_problem(_render_removal)
def remove_member(page: RequestedUserPage, slug: str, user_id: UUID) -> Response:
    with transaction() as session:
        members.remove(session, page.principal, slug, user_id)
    if user_id == page.principal.user_id:
        return see_other("/account", notice="team_left")
    return see_other(f"/competitions/{slug}/team", notice="member_removed")
