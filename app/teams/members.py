"""Joining, leaving and describing teams."""

from collections.abc import Callable
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from anoncup import schemas
from anoncup.errors import Conflict, InvalidInput, NotFound
from anoncup.schemas.fields import Role
from app.accounts import memberships, passwords
from app.competitions import competitions
from app.core import audit
from app.core.db.models import Competition, Member, Organizer, Submission, Team, User
from app.core.db.transaction import read_clock, transaction
from app.core.http import throttle
from app.core.identity import names, users
from app.core.identity.password_hashes import UNUSABLE_HASH, hash_password
from app.core.identity.principal import Principal
from app.core.texts import is_valid_text, normalize_text
from app.teams import invites
from app.teams.models import Invite

MAX_METHOD_DESCRIPTION_LENGTH = 4_000


def sign_up(
    address: str | None,
    *,
    code: str,
    team_name: str | None,
    name: str,
    password: str | None,
    accept_terms: bool,
    begin: Callable[[Session, User], str],
) -> schemas.SignedUp:
    """Create an account, add it to the team of the invite, and return both with the token of ``begin``.

    Without a password, the person signs in with a provider.
    """
    with throttle.limit_invite_tries(address):
        with transaction() as session:
            invites.find_usable(session, code)  # reject a wrong code before hashing the password
        password_hash = UNUSABLE_HASH if password is None else hash_password(password)
        with transaction() as session:
            invite = invites.redeem(session, code)
            user = users.add_user(session, name=name, password_hash=password_hash)
            membership = _add_member(session, invite, user, team_name, accept_terms=accept_terms)
            token = begin(session, user)
    throttle.remember_address(address, user.name_key)
    return schemas.SignedUp(**dict(membership), user_id=user.id, token=token)


def join(
    session: Session, principal: Principal, *, code: str, team_name: str | None, accept_terms: bool
) -> schemas.TeamMembership:
    """Add the principal to the team of the invite."""
    principal.require("submit")
    invite = invites.redeem(session, code)
    user = users.lock_user(session, principal.user_id)
    membership = _add_member(session, invite, user, team_name, accept_terms=accept_terms)
    audit.record(session, principal, "team.join", invite.competition_id, after={"team": membership.team})
    return membership


def _add_member(
    session: Session, invite: Invite, user: User, team_name: str | None, *, accept_terms: bool
) -> schemas.TeamMembership:
    """Add a locked user to the invite's team or to a new one."""
    _require_can_join(session, invite.competition_id, user)
    competition = session.get_one(Competition, invite.competition_id)
    has_terms = competition.description.terms
    if has_terms and not accept_terms:
        raise InvalidInput(
            "joining needs your consent to the terms in the description of the competition",
            code="terms_not_accepted",
        )
    # A password link from an organizer of another competition must not give access to this one.
    passwords.expire_links(session, user.id)
    team = _resolve_team(session, invite, team_name)
    session.add(
        Member(
            competition_id=competition.id,
            user_id=user.id,
            team_id=team.id,
            terms_accepted_at=read_clock(session) if has_terms else None,
        )
    )
    return schemas.TeamMembership(competition=competition.slug, team_id=team.id, team=team.name)


def _require_can_join(session: Session, competition_id: UUID, user: User) -> None:
    """Raise Conflict for members of a team and for organizers, who see the results of every team."""
    if session.get(Member, (competition_id, user.id)) is not None:
        raise Conflict("you are in a team of this competition already", code="in_a_team")
    is_organizer = session.get(Organizer, (competition_id, user.id)) is not None
    if is_organizer or user.role == Role.ADMINISTRATOR:
        raise Conflict("an organizer of a competition is in no team of it", code="organizes_it")


def _resolve_team(session: Session, invite: Invite, team_name: str | None) -> Team:
    """Return the invite's team, or create one if the invite is for a new team.

    A name is required for a new team; for an existing one it must match if it is given.
    """
    if invite.team_id is None:
        if team_name is None:
            raise InvalidInput("this invite creates a team: give the team a name", code="team_needed")
        return memberships.create_team(session, invite.competition_id, team_name)
    team = session.get_one(Team, invite.team_id)
    if (
        team_name is not None
        and names.normalize(team_name) != team.name
        and names.build_key(team_name) != team.name_key
    ):
        raise InvalidInput("this invite is for another team", code="another_team")
    return team


def load_own_team(session: Session, principal: Principal, slug: str) -> tuple[Team, list[schemas.Person]]:
    """Return the principal's team and its members."""
    round_, team = competitions.find_for_member(session, principal, slug)
    return team, memberships.load_members_by_team(session, round_.competition_id)[team.id]


def set_method_description(session: Session, principal: Principal, slug: str, text: str) -> Team:
    """Set the method description of the principal's team, shown to others after the close.

    An empty text removes it.
    """
    _, team = competitions.find_for_member(session, principal, slug, scope="submit", for_update=True)
    description = normalize_text(text)
    if not is_valid_text(description, max_length=MAX_METHOD_DESCRIPTION_LENGTH):
        raise InvalidInput(
            "a text of at most {most} characters, without control characters, is needed",
            code="method_description_text",
            most=MAX_METHOD_DESCRIPTION_LENGTH,
        )
    team.method_description = description or None
    return team


def remove(session: Session, principal: Principal, slug: str, user_id: UUID) -> None:
    """Leave the team, or remove another member from it.

    Removing a member voids all invites of the team, because that person may know their codes.
    """
    round_, team = competitions.find_for_member(session, principal, slug, scope="submit")
    # Lock all members, so that of two who leave at the same time the second sees that it is the last.
    members = session.scalars(
        select(Member).where(Member.team_id == team.id).order_by(Member.user_id).with_for_update()
    ).all()
    member = next((candidate for candidate in members if candidate.user_id == user_id), None)
    if member is None or all(candidate.user_id != principal.user_id for candidate in members):
        raise NotFound("your team has no such member", code="no_such_member")
    if len(members) == 1:
        raise Conflict(
            "the last member cannot leave a team: invite somebody who takes it over, then leave",
            code="last_member",
        )
    if user_id != principal.user_id:
        invites.void_for_team(session, team.id)
    session.delete(member)
    audit.record(
        session,
        principal,
        "team.remove",
        round_.competition_id,
        subject=session.get_one(User, user_id).name,
        before={"team": team.name},
    )


def list_entrants(session: Session, principal: Principal, slug: str) -> list[schemas.Entrant]:
    """Return all teams of a competition, oldest first. Only for organizers."""
    round_ = competitions.find_for_organizer(session, principal, slug)
    submission_count = (
        select(func.count()).where(Submission.team_id == Team.id).correlate(Team).scalar_subquery()
    )
    team_rows = session.execute(
        select(Team, submission_count)
        .where(Team.competition_id == round_.competition_id)
        .order_by(Team.created_at, Team.id)
    )
    members_by_team = memberships.load_members_by_team(session, round_.competition_id)
    return [
        schemas.Entrant.from_row(team, members=members_by_team[team.id], submissions=submissions)
        for team, submissions in team_rows
    ]
