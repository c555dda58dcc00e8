"""Manage teams, organizers, invites, quota grants and password links."""

from typing import Annotated, Any
from uuid import UUID, uuid4

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import DomainError, InvalidInput, NotFound
from app.db.transaction import transaction
from app.http.authentication import CurrentPrincipal, get_service_url
from app.http.step_up import FormReauthentication
from app.services.accounts import passwords
from app.services.accounts.accounts import Principal
from app.services.contests import phases
from app.services.organizing import disqualification
from app.services.submissions import quota, submissions
from app.services.teams import invites, members, organizers
from app.services.teams.members import EntrantTeam
from app.web.organizer.frame import describe_problem, load_organizer_frame, parse_uuid, parse_whole_number
from app.web.organizer.setup_steps import load_setup_context
from app.web.site.frame import Frame
from app.web.site.pages import PageRoute, render_page, see_other

router = APIRouter(prefix="/competitions/{slug}/organize/teams", route_class=PageRoute)

MAX_TEAMS = 1_000
_FormText = Annotated[str, Form()]


@router.get("")
def show_teams(request: Request, slug: str, principal: CurrentPrincipal) -> HTMLResponse:
    return _render_teams(request, principal, slug)


@router.get("/invites")
def redirect_to_teams(slug: str) -> Response:
    """Redirect to the list if the response of the invite form is reloaded: its link is shown only once."""
    return see_other(f"/competitions/{slug}/organize/teams")


@router.post("/invites")
def create_invite(
    request: Request,
    slug: str,
    principal: CurrentPrincipal,
    *,
    reauthenticate: FormReauthentication,
    uses: _FormText = "1",
    key: _FormText = "",
) -> Response:
    """Create an invite and show its link once. Sending the same form again creates no second invite."""
    try:
        use_count = parse_whole_number(uses, code="invalid_uses")
        if not 1 <= use_count <= MAX_TEAMS:
            raise InvalidInput("an invite is for 1 to {most:,} teams", code="invalid_uses", most=MAX_TEAMS)
        principal = reauthenticate()
        with transaction() as session:
            code = invites.create_for_new_teams(
                session, principal, slug, uses=use_count, invite_id=parse_uuid(key)
            )
    except DomainError as problem:
        return _render_teams(request, principal, slug, problem=problem, form_values={"uses": uses})
    link = f"{get_service_url(request)}/sign-up?invite={code}"
    return _render_teams(request, principal, slug, invite={"link": link, "code": code, "uses": use_count})


@router.post("/invites/{invite_id}/withdraw")
def withdraw_invite(request: Request, slug: str, invite_id: UUID, principal: CurrentPrincipal) -> Response:
    try:
        with transaction() as session:
            invites.withdraw(session, principal, slug, invite_id)
    except DomainError as problem:
        return _render_teams(request, principal, slug, problem=problem)
    return see_other(f"/competitions/{slug}/organize/teams", notice="invite_withdrawn")


@router.post("/organizers")
def add_organizer(
    request: Request,
    slug: str,
    principal: CurrentPrincipal,
    reauthenticate: FormReauthentication,
    name: _FormText = "",
) -> Response:
    try:
        principal = reauthenticate()
        with transaction() as session:
            organizers.add(session, principal, slug, name)
    except DomainError as problem:
        return _render_teams(request, principal, slug, problem=problem, form_values={"organizer": name})
    return see_other(f"/competitions/{slug}/organize/teams", notice="organizer_added")


@router.post("/organizers/{user_id}/remove")
def remove_organizer(
    request: Request,
    slug: str,
    user_id: UUID,
    principal: CurrentPrincipal,
    reauthenticate: FormReauthentication,
) -> Response:
    try:
        principal = reauthenticate()
        with transaction() as session:
            organizers.remove(session, principal, slug, user_id)
    except DomainError as problem:
        return _render_teams(request, principal, slug, problem=problem)
    is_self = user_id == principal.user_id
    return see_other("/" if is_self else f"/competitions/{slug}/organize/teams", notice="organizer_removed")


@router.get("/{team_id}")
def show_team(request: Request, slug: str, team_id: UUID, principal: CurrentPrincipal) -> HTMLResponse:
    return render_team(request, principal, slug, team_id)


@router.post("/{team_id}/method")
def remove_method_description(
    request: Request, slug: str, team_id: UUID, principal: CurrentPrincipal
) -> Response:
    try:
        with transaction() as session:
            disqualification.remove_method_description(session, principal, slug, team_id)
    except DomainError as problem:
        return render_team(request, principal, slug, team_id, problem=problem)
    return see_other(f"/competitions/{slug}/organize/teams/{team_id}", notice="silenced")


@router.post("/{team_id}/grants")
def grant_quota(
    request: Request,
    slug: str,
    team_id: UUID,
    principal: CurrentPrincipal,
    *,
    reauthenticate: FormReauthentication,
    cap: _FormText = "",
    amount: _FormText = "",
    reason: _FormText = "",
) -> Response:
    try:
        amount_granted, principal = parse_whole_number(amount, code="invalid_grant"), reauthenticate()
        with transaction() as session:
            disqualification.grant(
                session, principal, slug, team_id=team_id, cap=cap, amount=amount_granted, reason=reason
            )
    except DomainError as problem:
        form_values = {"cap": cap, "amount": amount, "grant_reason": reason}
        return render_team(request, principal, slug, team_id, problem=problem, form_values=form_values)
    return see_other(f"/competitions/{slug}/organize/teams/{team_id}", notice="granted")


@router.post("/{team_id}/members/{user_id}/password-link")
def create_password_link(
    request: Request,
    slug: str,
    team_id: UUID,
    user_id: UUID,
    principal: CurrentPrincipal,
    *,
    reauthenticate: FormReauthentication,
) -> HTMLResponse:
    """Create a password link and show it once."""
    try:
        principal = reauthenticate()
        with transaction() as session:
            _, entrant = load_entrant(session, principal, slug, team_id)
            name = next((member.name for member in entrant.members if member.user_id == user_id), None)
            if name is None:
                raise NotFound("the team has no such member", code="no_such_user")
            issued_link = passwords.issue_link(session, principal, name)
    except DomainError as problem:
        return render_team(request, principal, slug, team_id, problem=problem)
    link = f"{get_service_url(request)}/password?code={issued_link.code}"
    password = {"link": link, "name": name, "expires_at": issued_link.expires_at}
    return render_team(request, principal, slug, team_id, password=password)


def load_entrant(
    session: Session, principal: Principal, slug: str, team_id: UUID
) -> tuple[Frame, EntrantTeam]:
    frame = load_organizer_frame(session, principal, slug)
    entrant = next(
        (
            candidate
            for candidate in members.list_entrants(session, principal, slug)
            if candidate.team.id == team_id
        ),
        None,
    )
    if entrant is None:
        raise NotFound("the competition has no such team", code="no_such_team")
    return frame, entrant


def render_team(
    request: Request,
    principal: Principal,
    slug: str,
    team_id: UUID,
    *,
    problem: DomainError | None = None,
    form_values: dict[str, str] | None = None,
    password: dict[str, Any] | None = None,
) -> HTMLResponse:
    with transaction() as session:
        frame, entrant = load_entrant(session, principal, slug, team_id)
        phase = (
            phases.ANONYMIZATION
            if frame.contest.competition.published_at is None
            else phases.REIDENTIFICATION
        )
        content: dict[str, Any] = {
            "caps": quota.load_caps(session, frame.contest, team_id, phase, frame.status.now),
            "guess_limit": quota.compute_guess_limit(session, frame.contest, team_id),
            "granted": disqualification.list_grants(session, principal, slug, team_id),
            "sent": submissions.list_for_organizer(session, principal, slug, team_id=team_id),
        }
    return render_page(
        request,
        principal,
        "organizer/team.html",
        frame=frame,
        entrant=entrant,
        phase=phase,
        cap_names=quota.CAP_NAMES,
        most=disqualification.MAX_GRANT,
        longest=disqualification.MAX_REASON_LENGTH,
        typed=form_values or {},
        password=password,
        **content,
        **describe_problem(request, problem),
    )


def _render_teams(
    request: Request,
    principal: Principal,
    slug: str,
    *,
    problem: DomainError | None = None,
    form_values: dict[str, str] | None = None,
    invite: dict[str, Any] | None = None,
) -> HTMLResponse:
    with transaction() as session:
        context = load_setup_context(session, principal, slug)
        frame = context.frame
        entrants = members.list_entrants(session, principal, slug)
        organizer_rows = organizers.list_organizers(session, principal, slug)
        open_invites = invites.list_open(session, principal, slug)
        only_guess = invites.can_only_guess(session, frame.contest.competition)
    return render_page(
        request,
        principal,
        "organizer/teams.html",
        frame=frame,
        desk=context,
        entrants=[entrant for entrant in entrants if not entrant.team.baseline],
        organizers=organizer_rows,
        typed=form_values or {},
        invite=invite,
        invites=open_invites,
        only_guess=only_guess,
        key=uuid4(),
        most=MAX_TEAMS,
        **describe_problem(request, problem),
    )
