"""Manage teams, organizers, invites, quota grants and password links."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup import schemas
from anoncup.competition import ranking_formulas
from anoncup.errors import DomainError, NotFound
from anoncup.schemas import Entrant
from app.accounts import passwords
from app.accounts.step_up import FormReauthentication
from app.competitions import phases
from app.competitions.organizer_frame import OrganizerPage, RequestedOrganizerPage
from app.core.db.transaction import transaction
from app.core.identity.authentication import get_service_url
from app.core.pages.pages import PageRoute, see_other, show_problem
from app.organizing import decisions
from app.submissions import quota, submissions
from app.teams import invites, members, organizers

router = APIRouter(prefix="/competitions/{slug}/organize/teams", route_class=PageRoute)

MAX_TEAMS = 1_000
_FormText = Annotated[str, Form()]


def _render_teams(
    page: OrganizerPage,
    *,
    problem: DomainError | None = None,
    uses: int = 1,
    name: str = "",
    invite: dict[str, Any] | None = None,
) -> HTMLResponse:
    with transaction() as session:
        frame = page.load_frame(session)
        entrants = members.list_entrants(session, page.principal, page.slug)
        organizer_rows = organizers.list_organizers(session, page.principal, page.slug)
        open_invites = invites.list_open(session, page.principal, page.slug)
        only_guess = invites.can_only_guess(session, frame.round.competition)
    return page.render(
        "organizing/teams.html",
        frame=frame,
        entrants=[entrant for entrant in entrants if not entrant.baseline],
        organizers=organizer_rows,
        uses=uses,
        name=name,
        invite=invite,
        invites=open_invites,
        only_guess=only_guess,
        key=uuid4(),
        most=MAX_TEAMS,
        problem=problem,
    )


def _render_team(
    page: OrganizerPage,
    team_id: UUID,
    *,
    problem: DomainError | None = None,
    cap: str = "",
    amount: int = 1,
    points: float | None = None,
    reason: str = "",
    password: dict[str, Any] | None = None,
) -> HTMLResponse:
    with transaction() as session:
        frame = page.load_frame(session)
        entrants = members.list_entrants(session, page.principal, page.slug)
        entrant = _find_entrant(entrants, team_id)
        phase = phases.ANONYMIZATION if frame.round.published_at is None else phases.REIDENTIFICATION
        content: dict[str, Any] = {
            "caps": quota.load_caps(session, frame.round, team_id, phase, frame.status.now),
            "guess_limit": quota.load_guess_limit(session, frame.round, team_id),
            "entrants": entrants,
            "adjustments": decisions.list_adjustments(session, page.principal, page.slug, team_id),
            "granted": decisions.list_grants(session, page.principal, page.slug, team_id),
            "sent": submissions.list_for_organizer(session, page.principal, page.slug, team_id=team_id),
        }
    return page.render(
        "organizing/team.html",
        frame=frame,
        entrant=entrant,
        phase=phase,
        cap_names=quota.CAP_NAMES,
        most=schemas.MAX_GRANT,
        points="" if points is None else points,
        longest=decisions.MAX_REASON_LENGTH,
        names_penalty=ranking_formulas.names_penalty(frame.rules.ranking),
        lets_guess_again=decisions.reinstating_allows_guesses(frame.round),
        cap=cap,
        amount=amount,
        reason=reason,
        password=password,
        **content,
        problem=problem,
    )


@router.get("")
def show_teams(page: RequestedOrganizerPage) -> HTMLResponse:
    return _render_teams(page)


@router.get("/invites")
def redirect_to_teams(slug: str) -> Response:
    """Redirect to the list if the response of the invite form is reloaded: its link is shown only once."""
    return see_other(f"/competitions/{slug}/organize/teams")


@router.post("/invites")
@show_problem(_render_teams)
def create_invite(
    page: RequestedOrganizerPage,
    *,
    reauthenticate: FormReauthentication,
    uses: Annotated[int, Form(ge=1, le=MAX_TEAMS)] = 1,
    key: Annotated[UUID | None, Form()] = None,
) -> Response:
    """Create an invite and show its link once. Sending the same form again creates no second invite."""
    principal = reauthenticate()
    with transaction() as session:
        code = invites.create_for_new_teams(session, principal, page.slug, uses=uses, invite_id=key)
    link = invites.build_link(get_service_url(page.request), code)
    return _render_teams(page, invite={"link": link, "code": code, "uses": uses})


@router.post("/invites/{invite_id}/withdraw")
@show_problem(_render_teams)
def withdraw_invite(page: RequestedOrganizerPage, invite_id: UUID) -> Response:
    with transaction() as session:
        invites.withdraw(session, page.principal, page.slug, invite_id)
    return see_other(f"{page.path}/teams", notice="invite_withdrawn")


@router.post("/organizers")
@show_problem(_render_teams)
def add_organizer(
    page: RequestedOrganizerPage, reauthenticate: FormReauthentication, name: _FormText = ""
) -> Response:
    principal = reauthenticate()
    with transaction() as session:
        organizers.add(session, principal, page.slug, name)
    return see_other(f"{page.path}/teams", notice="organizer_added")


@router.post("/organizers/{user_id}/remove")
@show_problem(_render_teams)
def remove_organizer(
    page: RequestedOrganizerPage, user_id: UUID, reauthenticate: FormReauthentication
) -> Response:
    principal = reauthenticate()
    with transaction() as session:
        organizers.remove(session, principal, page.slug, user_id)
    is_self = user_id == principal.user_id
    return see_other("/" if is_self else f"{page.path}/teams", notice="organizer_removed")


@router.get("/{team_id}")
def show_team(page: RequestedOrganizerPage, team_id: UUID) -> HTMLResponse:
    return _render_team(page, team_id)


@router.post("/{team_id}/method")
@show_problem(_render_team)
def remove_method_description(page: RequestedOrganizerPage, team_id: UUID) -> Response:
    with transaction() as session:
        decisions.remove_method_description(session, page.principal, page.slug, team_id)
    return see_other(f"{page.path}/teams/{team_id}", notice="method_removed")


@router.post("/{team_id}/grants")
@show_problem(_render_team)
def grant_quota(
    page: RequestedOrganizerPage,
    team_id: UUID,
    *,
    reauthenticate: FormReauthentication,
    cap: _FormText = "",
    amount: Annotated[int, Form()],
    reason: _FormText = "",
) -> Response:
    principal = reauthenticate()
    with transaction() as session:
        decisions.grant(session, principal, page.slug, team_id=team_id, cap=cap, amount=amount, reason=reason)
    return see_other(f"{page.path}/teams/{team_id}", notice="granted")


@router.post("/{team_id}/adjustments")
@show_problem(_render_team)
def adjust_team(
    page: RequestedOrganizerPage,
    team_id: UUID,
    *,
    reauthenticate: FormReauthentication,
    points: Annotated[float, Form()],
    reason: _FormText = "",
) -> Response:
    principal = reauthenticate()
    with transaction() as session:
        decisions.create_adjustment(
            session, principal, page.slug, team_id=team_id, points=points, reason=reason
        )
    return see_other(f"{page.path}/teams/{team_id}", notice="adjusted")


@router.post("/{team_id}/adjustments/{adjustment_id}/withdraw")
@show_problem(_render_team)
def withdraw_adjustment(page: RequestedOrganizerPage, team_id: UUID, adjustment_id: UUID) -> Response:
    with transaction() as session:
        decisions.withdraw_adjustment(session, page.principal, adjustment_id)
    return see_other(f"{page.path}/teams/{team_id}", notice="adjusted")


@router.post("/{team_id}/{act}")
@show_problem(_render_team)
def rule_on_team(
    page: RequestedOrganizerPage,
    team_id: UUID,
    act: Literal["disqualify", "reinstate"],
    *,
    reauthenticate: FormReauthentication,
    reason: Annotated[str, Form(pattern=r"\S")],
) -> Response:
    principal, is_disqualified = reauthenticate(), act == "disqualify"
    with transaction() as session:
        decisions.set_team_disqualified(
            session, principal, page.slug, team_id, disqualified=is_disqualified, reason=reason
        )
    notice = "team_disqualified" if is_disqualified else "team_reinstated"
    return see_other(f"{page.path}/teams/{team_id}", notice=notice)


@router.post("/{team_id}/members/{user_id}/move")
@show_problem(_render_team)
def move_member(
    page: RequestedOrganizerPage,
    team_id: UUID,  # noqa: ARG001  # for show_problem
    user_id: UUID,
    *,
    reauthenticate: FormReauthentication,
    to: Annotated[UUID, Form()],
) -> Response:
    principal = reauthenticate()
    with transaction() as session:
        members.move(session, principal, page.slug, user_id, to)
    return see_other(f"{page.path}/teams/{to}", notice="member_moved")


@router.post("/{team_id}/members/{user_id}/password-link")
@show_problem(_render_team)
def create_password_link(
    page: RequestedOrganizerPage, team_id: UUID, user_id: UUID, *, reauthenticate: FormReauthentication
) -> HTMLResponse:
    """Create a password link and show it once."""
    principal = reauthenticate()
    with transaction() as session:
        entrants = members.list_entrants(session, page.principal, page.slug)
        entrant = _find_entrant(entrants, team_id)
        name = next((member.name for member in entrant.members if member.user_id == user_id), None)
        if name is None:
            raise NotFound("the team has no such member", code="no_such_user")
        issued_link = passwords.issue_link(session, principal, name)
    link = f"{get_service_url(page.request)}/password?code={issued_link.code}"
    password = {"link": link, "name": name, "expires_at": issued_link.expires_at}
    return _render_team(page, team_id, password=password)


def _find_entrant(entrants: Sequence[Entrant], team_id: UUID) -> Entrant:
    entrant = next((candidate for candidate in entrants if candidate.id == team_id), None)
    if entrant is None:
        raise NotFound("the competition has no such team", code="no_such_team")
    return entrant
