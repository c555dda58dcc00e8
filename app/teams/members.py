"""Joining, leaving and describing teams."""

from collections.abc import Callable
from contextlib import suppress
from uuid import UUID

from sqlalchemy import func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from anoncup import schemas
from anoncup.errors import Conflict, InvalidInput, NotFound
from anoncup.schemas.fields import Role
from app.accounts import memberships, passwords
from app.competitions import competitions
from app.core import audit
from app.core.db.models import Competition, Guess, Member, Organizer, Round, Submission, Team, User
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
    require_can_join(session, principal, code)
    invite = invites.redeem(session, code)
    user = users.lock_user(session, principal.user_id)
    membership = _add_member(session, invite, user, team_name, accept_terms=accept_terms)
    audit.record(session, principal, "team.join", invite.competition_id, after={"team": membership.team})
    return membership


def _add_member(
    session: Session, invite: Invite, user: User, team_name: str | None, *, accept_terms: bool
) -> schemas.TeamMembership:
    """Add a locked user to the invite's team or to a new one."""
    _require_can_join(session, invite.competition_id, user.id, user.role)
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


def require_can_join(session: Session, principal: Principal, code: str) -> None:
    """Raise Conflict for a person who cannot join. The invite may be used up, perhaps by this person."""
    competition_id = session.scalar(invites.select_any(code).with_only_columns(Invite.competition_id))
    if competition_id is not None:
        _require_can_join(session, competition_id, principal.user_id, principal.role)


def _require_can_join(session: Session, competition_id: UUID, user_id: UUID, role: Role) -> None:
    """Raise Conflict for members of a team and for organizers, who see the results of every team."""
    member = session.get(Member, (competition_id, user_id))
    if member is not None:
        raise Conflict(
            "you are in the team {team} of this competition already",
            code="in_a_team",
            team=session.get_one(Team, member.team_id).name,
            competition=session.get_one(Competition, competition_id).slug,
        )
    is_organizer = session.get(Organizer, (competition_id, user_id)) is not None
    if is_organizer or role == Role.ADMINISTRATOR:
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


def has_sent(session: Session, team_id: UUID) -> bool:
    """Return whether the team has sent a release or a guess, after which it cannot be left."""
    sent = (select(row.id).where(row.team_id == team_id).exists() for row in (Submission, Guess))
    return bool(session.scalar(select(or_(*sent))))


def remove(session: Session, principal: Principal, slug: str, user_id: UUID) -> None:
    """Leave the team, which then has sent nothing, or remove another member from it.

    Removing a member voids all invites of the team, because that person may know their codes.
    """
    _, team = competitions.find_for_member(session, principal, slug, scope="submit")
    invites.lock_for_team(session, team.id)
    round_, team = competitions.find_for_member(session, principal, slug, scope="submit", for_update=True)
    member = session.get(Member, (round_.competition_id, user_id))
    if member is None or member.team_id != team.id:
        raise NotFound("your team has no such member", code="no_such_member")
    if user_id == principal.user_id:
        _require_nothing_sent(session, team)
    else:
        invites.void_for_team(session, team.id)
    before, person = {"team": team.name}, session.get_one(User, user_id)
    audit.record(session, principal, "team.remove", round_.competition_id, subject=person, before=before)
    session.delete(member)
    _delete_if_empty(session, principal, team)


def move(session: Session, principal: Principal, slug: str, user_id: UUID, team_id: UUID) -> None:
    """Move a person to another team. Only organizers may do this, while neither team has sent anything.

    All invites of the team that the person was in become void.
    """
    round_ = competitions.find_for_organizer(session, principal, slug)
    source, target = _lock_teams(session, round_, user_id, team_id)
    if source is target:
        return
    _require_nothing_sent(session, source)
    _require_nothing_sent(session, target)
    principal.require_reauthentication()
    session.get_one(Member, (round_.competition_id, user_id)).team_id = target.id
    invites.void_for_team(session, source.id)
    change = {"before": {"team": source.name}, "after": {"team": target.name}}
    person = session.get_one(User, user_id)
    audit.record(session, principal, "team.move", round_.competition_id, subject=person, **change)
    _delete_if_empty(session, principal, source)


def _lock_teams(session: Session, round_: Round, user_id: UUID, target_id: UUID) -> tuple[Team, Team]:
    """Lock the team of a person and another one, and return both."""
    in_competition = Member.competition_id == round_.competition_id
    query = select(Member.team_id).where(in_competition, Member.user_id == user_id)
    source_id = session.scalar(query)
    if source_id is None:
        raise NotFound("this person is in no team of the competition", code="no_such_member")
    invites.lock_for_team(session, source_id)
    competitions.lock_shared(session, round_.id)
    teams = select(Team).where(Team.competition_id == round_.competition_id, ~Team.baseline).order_by(Team.id)
    concerned = teams.where(Team.id.in_((source_id, target_id))).with_for_update()
    locked = {team.id: team for team in session.scalars(concerned)}
    if len(locked) < len({source_id, target_id}) or session.scalar(query) != source_id:
        raise NotFound("the competition has no such team", code="no_such_team")
    return locked[source_id], locked[target_id]


def _require_nothing_sent(session: Session, team: Team) -> None:
    """Raise Conflict if the locked team has sent anything: who has seen its results stays in it."""
    if has_sent(session, team.id):
        raise Conflict(
            "the team {name} has sent something already: its members stay in it",
            code="team_has_sent",
            name=team.name,
        )


def _delete_if_empty(session: Session, principal: Principal, team: Team) -> None:
    """Delete the locked team if nobody is in it any more.

    The database keeps a team for which data were drawn, as no other team must get what people have seen.
    """
    session.flush()
    if session.scalar(select(Member.user_id).where(Member.team_id == team.id).limit(1)) is not None:
        return
    with suppress(IntegrityError), session.begin_nested():
        session.delete(team)
        audit.record(session, principal, "team.delete", team.competition_id, subject=team.name)


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
