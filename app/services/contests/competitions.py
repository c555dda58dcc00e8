"""Competitions: their files, original data and organizers."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from uuid import UUID

from sqlalchemy import exists, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from anoncup.competition.parser import SLUG, parse_title, read_competition
from anoncup.competition.scoring_versions import Versions, collect_scoring_versions
from anoncup.competition.writer import replace_scored_by
from anoncup.errors import Conflict, Forbidden, InvalidCompetition, NotFound
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.toml_text import parse_toml, replace_scales
from anoncup.rules.toml_values import TomlTable, read_text
from anoncup.schemas.roles import Role
from anoncup.tracks.parts import HasRows
from app.db.models import AuditEntry, Competition, Organizer, Round, Submission, Team
from app.services.accounts import audit, memberships
from app.services.accounts.accounts import Principal
from app.services.accounts.audit import AuditFilter
from app.services.contests.contest import Contest, parse_rules, parse_stored_rules
from app.storage import compute_digest, get_store

_StringPairs = tuple[tuple[str, str], ...]

REHEARSAL = "rehearsal"
_RESERVED_SLUG_PATTERN = re.compile(rf".*-{REHEARSAL}(-[0-9]+)?")
"""Slugs reserved for rehearsals."""


def get_title(competition: Competition) -> Mapping[str, str]:
    """Return the title by language, even if the rest of the file is invalid, or else the slug."""
    try:
        return parse_title(competition.file)
    except InvalidCompetition:
        return {"en": competition.slug}


def list_contests(session: Session) -> list[Contest]:
    """Return all competitions except rehearsals, oldest first."""
    query = select(Round).join(Competition).where(Competition.rehearsal_of.is_(None))
    return [Contest(round_) for round_ in session.scalars(query.order_by(Competition.created_at))]


def find(session: Session, principal: Principal | None, slug: str) -> Contest:
    """Return the competition with this slug; raises NotFound if the person may not know of it."""
    query = select(Round).join(Competition).where(Competition.slug == slug)
    round_ = session.scalar(query) if SLUG.fullmatch(slug) else None
    if round_ is None or not can_see(session, principal, round_.competition):
        raise NotFound("there is no competition {name!r}", code="no_such_competition", name=slug[:63])
    return Contest(round_)


def can_see(session: Session, principal: Principal | None, competition: Competition) -> bool:
    """Whether the person may know of a competition.

    A rehearsal is visible to its organizers and to the members of its sample teams until it is removed.
    """
    if competition.rehearsal_of is None:
        return True
    if principal is None or competition.removed_at is not None:
        return False
    is_member = memberships.find_team(session, competition.id, principal) is not None
    return is_member or is_organizer(session, competition.id, principal)


def can_see_by_id(session: Session, principal: Principal | None, competition_id: UUID) -> bool:
    """Whether the person may know of the competition with this id."""
    return can_see(session, principal, session.get_one(Competition, competition_id))


def is_organizer(session: Session, competition_id: UUID, principal: Principal) -> bool:
    """Whether the person organizes the competition; a rehearsal has the organizers of its competition."""
    competition = session.get_one(Competition, competition_id)
    if competition.removed_at is not None:
        return False
    if principal.role == Role.ADMINISTRATOR:
        return True
    return session.get(Organizer, (competition.rehearsal_of or competition.id, principal.user_id)) is not None


def is_round_organizer(session: Session, round_id: UUID, principal: Principal) -> bool:
    """Whether the person organizes the competition of the round."""
    return is_organizer(session, session.get_one(Round, round_id).competition_id, principal)


def require_organizer(session: Session, competition_id: UUID, principal: Principal) -> None:
    principal.require("organize")
    if not is_organizer(session, competition_id, principal):
        raise Forbidden("only this competition's organizers may do that", code="not_organizer")


def find_for_organizer(session: Session, principal: Principal, slug: str) -> Contest:
    """Return the competition for one of its organizers; raises NotFound or Forbidden."""
    contest = find(session, principal, slug)
    require_organizer(session, contest.id, principal)
    return contest


def find_for_member(
    session: Session, principal: Principal, slug: str, *, scope: str = "read", for_update: bool = False
) -> tuple[Contest, Team]:
    """Return the competition and the person's team, locked ``for_update``; raises NotFound or Forbidden."""
    principal.require(scope)
    contest = find(session, principal, slug)
    return contest, memberships.require_team(session, contest.id, principal, for_update=for_update)


def lock(session: Session, round_id: UUID) -> Round:
    """Lock a round and its competition against uploads and the clock and reload both, even if read before."""
    return session.get_one(Round, round_id, with_for_update=True, populate_existing=True)


def lock_for_organizer(session: Session, principal: Principal, slug: str) -> Contest:
    """Return the competition locked against uploads and the clock, for one of its organizers."""
    contest = find(session, principal, slug)
    lock(session, contest.round.id)
    require_organizer(session, contest.id, principal)
    return contest


def require_no_rehearsal(competition: Competition) -> None:
    """Raise Conflict for a rehearsal, which nobody can join."""
    if competition.rehearsal_of is not None:
        raise Conflict(
            "nobody can join a rehearsal: its organizers are those of the rehearsed competition",
            code="is_rehearsal",
        )


def list_audit_entries(
    session: Session,
    principal: Principal,
    slug: str,
    *,
    cursor: int | None,
    limit: int,
    entry_filter: AuditFilter = audit.NO_FILTER,
) -> Sequence[AuditEntry]:
    """Return audit entries with numbers below ``cursor``, newest first, for the organizers."""
    contest = find_for_organizer(session, principal, slug)
    return audit.list_entries(session, contest.id, cursor=cursor, limit=limit, entry_filter=entry_filter)


def require_can_create(principal: Principal) -> None:
    principal.require("organize")
    if principal.role == Role.PARTICIPANT:
        raise Forbidden("only organizers create competitions", code="not_organizer")


def create(session: Session, principal: Principal, text: str) -> Contest:
    """Create a competition from its file; its creator becomes its organizer."""
    require_can_create(principal)
    text = strip_scoring_versions(text)
    rules = parse_hostable_rules(text)
    if _RESERVED_SLUG_PATTERN.fullmatch(rules.slug):
        # Refusing only the slugs in use would reveal that a rehearsal exists.
        raise Conflict("addresses that end in “-rehearsal” are reserved for rehearsals", code="slug_reserved")
    competition = Competition(slug=rules.slug, file=text)
    round_ = Round(competition=competition, scales={}, original={}, allocation=describe_allocation(rules))
    session.add(round_)
    try:
        session.flush()
    except IntegrityError:
        raise Conflict(
            "there is already a competition {name!r}", code="slug_taken", name=rules.slug
        ) from None
    session.add(Organizer(competition_id=competition.id, user_id=principal.user_id))
    audit.record(
        session,
        principal,
        "competition.create",
        competition.id,
        subject=competition.slug,
        after={"sha256": compute_text_digest(text)},
    )
    return Contest(round_)


def compute_text_digest(text: str) -> str:
    return compute_digest(text.encode())


def strip_scoring_versions(text: str) -> str:
    """Remove the ``[scored_by]`` table, which the service writes itself and stores separately.

    A file with that table is validated first (raises InvalidCompetition), because rewriting a file crafted
    for this purpose could take hours.
    """
    tables = parse_tables(text)
    if "scored_by" not in tables:
        return text
    TomlTable(tables.pop("scored_by"), "scored_by").take_values(read_text)
    read_competition(TomlTable(tables, ""))
    return replace_scored_by(text, {})


def parse_tables(file: str) -> dict[str, object]:
    """Return the top-level keys and tables; an empty dict if the text is not TOML."""
    try:
        return parse_toml(file)
    except InvalidCompetition:
        return {}


def parse_hostable_rules(text: str) -> Rules:
    """Parse a competition file and check that the service can host it; raises InvalidCompetition."""
    rules = parse_rules(text)
    if not rules.weights:
        raise InvalidCompetition("no measure has a weight, so nothing could be ranked", code="no_weights")
    return rules


def build_published_file(round_: Round) -> str:
    """Return the published competition.toml, with scales and scoring versions; workers score by it."""
    return complete_file(round_.file, round_.scales, round_.scored_by)


def complete_file(file: str, scales: Mapping[str, float], scored_by: Versions) -> str:
    """Add the scales and scoring versions to a stored file.

    A file that is not TOML is returned unchanged; whoever parses it will report the error.
    """
    return _complete_file_cached(file, tuple(scales.items()), tuple(scored_by.items()))


@lru_cache(maxsize=64)
def _complete_file_cached(file: str, scales: tuple[tuple[str, float], ...], scored_by: _StringPairs) -> str:
    """Do the work of ``complete_file``; cached because it runs whenever a worker claims a job."""
    try:
        file = replace_scales(file, dict(scales)) if scales else file
        return replace_scored_by(file, dict(scored_by)) if scored_by else file
    except InvalidCompetition:
        return file


def pin_scoring_versions(round_: Round) -> None:
    """Store the scoring versions at the first submission, under the exclusive lock.

    Later they change only through a rescore.
    """
    if not round_.scored_by:
        round_.scored_by = collect_scoring_versions(parse_stored_rules(round_.file))


def has_submissions(session: Session, round_id: UUID) -> bool:
    return bool(session.scalar(select(exists().where(Submission.round_id == round_id))))


def describe_allocation(rules: Rules) -> dict[str, object]:
    """Return what the service allocates in a competition, independent of the track; {}: nothing."""
    allocation = TRACKS[rules.track].allocation
    if allocation is None:
        return {}
    return {
        "each_team": allocation.per_team,
        "files": [file.name for file in allocation.files],
        "truth": [file.name for file in allocation.select_organizer_files(rules)],
    }


def load_contents(original: Mapping[str, str]) -> dict[str, bytes]:
    """Load the files of the original data by name."""
    return {name: get_store().get(digest) for name, digest in original.items()}


@lru_cache(maxsize=4)
def load_original(digests: _StringPairs, file: str) -> HasRows:
    """Load and parse the original data; cached because every upload is checked against them."""
    rules = parse_stored_rules(file)
    original: HasRows = TRACKS[rules.track].parse_original(load_contents(dict(digests)), rules)[0]
    return original
