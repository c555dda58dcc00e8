"""Who takes part and who organizes: teams, invites, grants, rulings, passwords."""

from typing import Annotated, Any
from uuid import UUID, uuid4

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import DomainError, InvalidInput, NotFound
from app.db.transaction import transaction
from app.http.authentication import SignedIn, service_address
from app.http.step_up import Sure
from app.services.accounts import passwords
from app.services.accounts.accounts import Principal
from app.services.contests import phases
from app.services.organizing import disqualification
from app.services.submissions import quota, submissions
from app.services.teams import invites, members, organizers
from app.services.teams.members import Entrant
from app.web.organizer.frame import organizers_frame, trouble, whole
from app.web.organizer.setup_steps import desk_of
from app.web.site.frame import Frame
from app.web.site.pages import PageRoute, page, see

router = APIRouter(prefix="/competitions/{slug}/organize/teams", route_class=PageRoute)

MOST_TEAMS = 1_000
Text = Annotated[str, Form()]


@router.get("")
def all_teams(request: Request, slug: str, principal: SignedIn) -> HTMLResponse:
    return teams_page(request, principal, slug)


@router.get("/invites")
def back_to_the_list(slug: str) -> Response:
    """The address of the answer to the form, opened anew: the link is shown once."""
    return see(f"/competitions/{slug}/organize/teams")


@router.post("/invites")
def invite(
    request: Request, slug: str, principal: SignedIn, *, sure: Sure, uses: Text = "1", key: Text = ""
) -> Response:
    """The link is shown in this answer and nowhere else; the same form sent again makes no other one."""
    try:
        number = whole(uses, code="invalid_uses")
        if not 1 <= number <= MOST_TEAMS:
            raise InvalidInput("an invite is for 1 to {most:,} teams", code="invalid_uses", most=MOST_TEAMS)
        principal = sure()
        with transaction() as session:
            code = invites.for_teams(session, principal, slug, uses=number, invite_id=identifier(key))
    except DomainError as problem:
        return teams_page(request, principal, slug, problem=problem, typed={"uses": uses})
    link = f"{service_address(request)}/sign-up?invite={code}"
    return teams_page(request, principal, slug, invite={"link": link, "code": code, "uses": number})


def identifier(key: str) -> UUID | None:
    try:
        return UUID(key)
    except ValueError:
        return None


@router.post("/invites/{invite_id}/withdraw")
def withdraw_invite(request: Request, slug: str, invite_id: UUID, principal: SignedIn) -> Response:
    try:
        with transaction() as session:
            invites.withdraw(session, principal, slug, invite_id)
    except DomainError as problem:
        return teams_page(request, principal, slug, problem=problem)
    return see(f"/competitions/{slug}/organize/teams", done="invite_withdrawn")


@router.post("/organizers")
def add_organizer(request: Request, slug: str, principal: SignedIn, sure: Sure, name: Text = "") -> Response:
    try:
        principal = sure()
        with transaction() as session:
            organizers.add(session, principal, slug, name)
    except DomainError as problem:
        return teams_page(request, principal, slug, problem=problem, typed={"organizer": name})
    return see(f"/competitions/{slug}/organize/teams", done="organizer_added")


@router.post("/organizers/{user_id}/remove")
def remove_organizer(request: Request, slug: str, user_id: UUID, principal: SignedIn, sure: Sure) -> Response:
    try:
        principal = sure()
        with transaction() as session:
            organizers.remove(session, principal, slug, user_id)
    except DomainError as problem:
        return teams_page(request, principal, slug, problem=problem)
    gone = user_id == principal.user_id
    return see("/" if gone else f"/competitions/{slug}/organize/teams", done="organizer_removed")


@router.get("/{team_id}")
def team(request: Request, slug: str, team_id: UUID, principal: SignedIn) -> HTMLResponse:
    return team_page(request, principal, slug, team_id)


@router.post("/{team_id}/approach")
def silence(request: Request, slug: str, team_id: UUID, principal: SignedIn) -> Response:
    """Take away what the team tells."""
    try:
        with transaction() as session:
            disqualification.silence(session, principal, slug, team_id)
    except DomainError as problem:
        return team_page(request, principal, slug, team_id, problem=problem)
    return see(f"/competitions/{slug}/organize/teams/{team_id}", done="silenced")


@router.post("/{team_id}/grants")
def grant(
    request: Request,
    slug: str,
    team_id: UUID,
    principal: SignedIn,
    *,
    sure: Sure,
    cap: Text = "",
    amount: Text = "",
    reason: Text = "",
) -> Response:
    try:
        number, principal = whole(amount, code="invalid_grant"), sure()
        with transaction() as session:
            disqualification.grant(
                session, principal, slug, team_id=team_id, cap=cap, amount=number, reason=reason
            )
    except DomainError as problem:
        typed = {"cap": cap, "amount": amount, "grant_reason": reason}
        return team_page(request, principal, slug, team_id, problem=problem, typed=typed)
    return see(f"/competitions/{slug}/organize/teams/{team_id}", done="granted")


@router.post("/{team_id}/members/{user_id}/password-link")
def password_link(
    request: Request, slug: str, team_id: UUID, user_id: UUID, principal: SignedIn, *, sure: Sure
) -> HTMLResponse:
    """The link is shown in this answer and nowhere else."""
    try:
        principal = sure()
        with transaction() as session:
            _, found = entrant(session, principal, slug, team_id)
            name = next((one.name for one in found.members if one.user_id == user_id), None)
            if name is None:
                raise NotFound("the team has no such member", code="no_such_user")
            made = passwords.issue_link(session, principal, name)
    except DomainError as problem:
        return team_page(request, principal, slug, team_id, problem=problem)
    link = f"{service_address(request)}/password?code={made.code}"
    password = {"link": link, "name": name, "expires_at": made.expires_at}
    return team_page(request, principal, slug, team_id, password=password)


def entrant(session: Session, principal: Principal, slug: str, team_id: UUID) -> tuple[Frame, Entrant]:
    frame = organizers_frame(session, principal, slug)
    found = next((one for one in members.entrants(session, principal, slug) if one.team.id == team_id), None)
    if found is None:
        raise NotFound("the competition has no such team", code="no_such_team")
    return frame, found


def team_page(
    request: Request,
    principal: Principal,
    slug: str,
    team_id: UUID,
    *,
    problem: DomainError | None = None,
    typed: dict[str, str] | None = None,
    password: dict[str, Any] | None = None,
) -> HTMLResponse:
    with transaction() as session:
        frame, found = entrant(session, principal, slug, team_id)
        phase = phases.ANONYMIZATION if frame.contest.row.published_at is None else phases.REIDENTIFICATION
        content: dict[str, Any] = {
            "caps": quota.caps(session, frame.contest, team_id, phase, frame.standing.now),
            "guess_limit": quota.guess_limit(session, frame.contest, team_id),
            "granted": disqualification.granted(session, principal, slug, team_id),
            "sent": submissions.of_competition(session, principal, slug, team_id=team_id),
        }
    return page(
        request,
        principal,
        "organizer/team.html",
        frame=frame,
        entrant=found,
        phase=phase,
        cap_names=quota.CAPS,
        most=disqualification.MOST_GRANTED,
        longest=disqualification.LONGEST_REASON,
        typed=typed or {},
        password=password,
        **content,
        **trouble(request, problem),
    )


def teams_page(
    request: Request,
    principal: Principal,
    slug: str,
    *,
    problem: DomainError | None = None,
    typed: dict[str, str] | None = None,
    invite: dict[str, Any] | None = None,
) -> HTMLResponse:
    with transaction() as session:
        desk = desk_of(session, principal, slug)
        frame = desk.frame
        found = members.entrants(session, principal, slug)
        people = organizers.listed(session, principal, slug)
        open_invites = invites.open_for_teams(session, principal, slug)
        only_guess = invites.only_guess(session, frame.contest.row)
    return page(
        request,
        principal,
        "organizer/teams.html",
        frame=frame,
        desk=desk,
        entrants=[one for one in found if not one.team.baseline],
        organizers=people,
        typed=typed or {},
        invite=invite,
        invites=open_invites,
        only_guess=only_guess,
        key=uuid4(),
        most=MOST_TEAMS,
        **trouble(request, problem),
    )
