"""Competitions: their file, their original data, who organizes them."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from uuid import UUID

from sqlalchemy import exists, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from anoncup.competition.parser import SLUG, parse_title, read_competition
from anoncup.competition.scoring_versions import Versions, read_scored_by, what_counts
from anoncup.competition.writer import with_scored_by
from anoncup.errors import Conflict, InvalidCompetition, NotAllowed, NotFound
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.toml_text import loaded, with_scales
from anoncup.rules.toml_values import Table
from anoncup.schemas.roles import Role
from anoncup.tracks.model import Tables
from app.db.models import AuditEntry, Competition, Organizer, Submission
from app.services.accounts import audit
from app.services.accounts.accounts import Principal
from app.services.accounts.audit import Wanted
from app.services.contests.contest import Contest, parsed, read_file
from app.storage import digest_of, store

Pairs = tuple[tuple[str, str], ...]

REHEARSAL = "rehearsal"
RESERVED = re.compile(rf".*-{REHEARSAL}(-[0-9]+)?")
"""How the names of rehearsals end, and no others."""


def title_of(row: Competition) -> Mapping[str, str]:
    """The title by language; of a file that cannot be read, what of it can, or the competition's name."""
    try:
        return parse_title(row.file)
    except InvalidCompetition:
        return {"en": row.slug}


def listed(session: Session) -> list[Competition]:
    """For everybody, oldest first; rehearsals are in no list."""
    known = select(Competition).where(Competition.rehearses.is_(None))
    return list(session.scalars(known.order_by(Competition.created_at)))


def find(session: Session, principal: Principal | None, slug: str) -> Contest:
    """The competition of that name, as far as this person may know that there is one."""
    known = SLUG.fullmatch(slug) is not None
    row = session.scalar(select(Competition).where(Competition.slug == slug)) if known else None
    if row is None or not may_know(session, principal, row):
        raise NotFound("there is no competition {name!r}", code="no_such_competition", name=slug[:63])
    return Contest(row)


def may_know(session: Session, principal: Principal | None, row: Competition) -> bool:
    """Whether it exists for this person: of a rehearsal only its organizers know, and once it has been
    removed nobody."""
    if row.rehearses is None:
        return True
    return principal is not None and is_organizer(session, row.id, principal)


def is_known(session: Session, principal: Principal | None, competition_id: UUID) -> bool:
    """The same of what is found by another name than its competition's."""
    return may_know(session, principal, session.get_one(Competition, competition_id))


def is_organizer(session: Session, competition_id: UUID, principal: Principal) -> bool:
    """A rehearsal is organized by those who organize what it rehearses."""
    row = session.get_one(Competition, competition_id)
    if row.removed_at is not None:
        return False
    if principal.role == Role.ADMINISTRATOR:
        return True
    return session.get(Organizer, (row.rehearses or row.id, principal.user_id)) is not None


def require_organizer(session: Session, competition_id: UUID, principal: Principal) -> None:
    principal.require("organize")
    if not is_organizer(session, competition_id, principal):
        raise NotAllowed("only this competition's organizers may do that", code="not_organizer")


def for_organizer(session: Session, principal: Principal, slug: str) -> Contest:
    """The competition as it stands, for one of its organizers; NotFound, NotAllowed."""
    contest = find(session, principal, slug)
    require_organizer(session, contest.id, principal)
    return contest


def locked_for_organizer(session: Session, principal: Principal, slug: str) -> Contest:
    """The same under the lock that keeps acceptance and the clock out."""
    contest = find(session, principal, slug)
    session.refresh(contest.row, with_for_update=True)
    require_organizer(session, contest.id, principal)
    return contest


def require_no_rehearsal(row: Competition) -> None:
    """Refuse to let anybody into a rehearsal."""
    if row.rehearses is not None:
        raise Conflict(
            "nobody can join a rehearsal: its organizers are those of the rehearsed competition",
            code="is_rehearsal",
        )


def history(
    session: Session,
    principal: Principal,
    slug: str,
    *,
    after: int | None,
    limit: int,
    wanted: Wanted = audit.EVERYTHING,
) -> Sequence[AuditEntry]:
    """A competition's audit entries, newest first, those below number ``after``; for its organizers."""
    contest = for_organizer(session, principal, slug)
    return audit.page(session, contest.id, after=after, limit=limit, wanted=wanted)


def require_creator(principal: Principal) -> None:
    principal.require("organize")
    if principal.role == Role.PARTICIPANT:
        raise NotAllowed("only organizers create competitions", code="not_organizer")


def create(session: Session, principal: Principal, text: str) -> Contest:
    """A new competition from its file; whoever creates it organizes it."""
    require_creator(principal)
    text = sent_file(text)
    rules = hostable(text)
    if RESERVED.fullmatch(rules.slug):
        # To refuse those alone that are taken would tell of rehearsals.
        raise Conflict("addresses that end in “-rehearsal” are reserved for rehearsals", code="slug_reserved")
    row = Competition(slug=rules.slug, file=text, scales={}, original={}, drawing=drawing(rules))
    session.add(row)
    try:
        session.flush()
    except IntegrityError:
        raise Conflict(
            "there is already a competition {name!r}", code="slug_taken", name=rules.slug
        ) from None
    session.add(Organizer(competition_id=row.id, user_id=principal.user_id))
    audit.record(
        session,
        principal,
        "competition.create",
        competition_id=row.id,
        subject=row.slug,
        after={"sha256": sha256_of(text)},
    )
    return Contest(row)


def sha256_of(text: str) -> str:
    return digest_of(text.encode())


def sent_file(text: str) -> str:
    """A file as somebody sends it, without ``[scored_by]``: the service writes that and keeps it beside.

    InvalidCompetition if it has that table and is none: to rewrite one that was made for it takes hours.
    """
    tables = tables_of(text)
    if "scored_by" not in tables:
        return text
    read_scored_by(Table(tables.pop("scored_by"), "scored_by"))
    read_competition(Table(tables, ""))
    return with_scored_by(text, {})


def tables_of(file: str) -> dict[str, object]:
    """Its keys and tables; none of a text that is no TOML."""
    try:
        return loaded(file)
    except InvalidCompetition:
        return {}


def hostable(text: str) -> Rules:
    """A competition file that also has what a contest on this service needs."""
    rules = parsed(text)
    if not rules.weights:
        raise InvalidCompetition("no measure has a weight, so nothing could be ranked", code="no_weights")
    return rules


def published_file(row: Competition) -> str:
    """competition.toml as everybody reads it and every worker scores by: with its scales and what counts."""
    return completed(row.file, row.scales, row.scored_by)


def completed(file: str, scales: Mapping[str, float], scored_by: Versions) -> str:
    """A stored file with what is kept beside it; as it stands if it is no TOML: its readers find out."""
    return written_out(file, tuple(scales.items()), tuple(scored_by.items()))


@lru_cache(maxsize=64)
def written_out(file: str, scales: tuple[tuple[str, float], ...], scored_by: Pairs) -> str:
    """Once per text: every claim of a worker asks for it."""
    try:
        file = with_scales(file, dict(scales)) if scales else file
        return with_scored_by(file, dict(scored_by)) if scored_by else file
    except InvalidCompetition:
        return file


def fix_what_counts(row: Competition) -> None:
    """At the first submission, under the exclusive lock; later it changes by a re-score set alone."""
    if not row.scored_by:
        row.scored_by = what_counts(read_file(row.file))


def has_submissions(session: Session, competition_id: UUID) -> bool:
    return bool(session.scalar(select(exists().where(Submission.competition_id == competition_id))))


def drawing(rules: Rules) -> dict[str, object]:
    """What the service draws in a competition, for those who do not know its track; {}: nothing."""
    draw = TRACKS[rules.track].draw
    if draw is None:
        return {}
    return {
        "each_team": draw.each_team,
        "files": [file.name for file in draw.files],
        "truth": [file.name for file in draw.truth_of(rules)],
    }


def contents_of(original: Mapping[str, str]) -> dict[str, bytes]:
    """The files of an original, by the same names."""
    return {name: store().get(digest) for name, digest in original.items()}


@lru_cache(maxsize=4)
def original_tables(digests: Pairs, file: str) -> Tables:
    """The original; a few are kept, for every upload is checked against one."""
    rules = read_file(file)
    return TRACKS[rules.track].parse_original(contents_of(dict(digests)), rules)[0]
