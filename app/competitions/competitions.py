"""Competitions: their files, original data and organizers."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from uuid import UUID

from sqlalchemy import ColumnElement, Select, exists, select, true
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from anoncup.competition.parser import SLUG, CompetitionFile, read_file, read_rounds
from anoncup.competition.required_packages import check_current_packages
from anoncup.competition.scoring_versions import Versions, collect_scoring_versions
from anoncup.competition.writer import replace_scored_by
from anoncup.errors import (
    CompetitionUnavailable,
    Conflict,
    Forbidden,
    InvalidCompetition,
    NotFound,
    PackageChangeError,
)
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.toml_text import parse_toml, replace_scales
from anoncup.rules.toml_values import TomlTable, read_text
from anoncup.schemas.fields import Role
from app.accounts import memberships
from app.core import audit
from app.core.db.models import Competition, Organizer, Round, Submission, Team
from app.core.db.transaction import read_clock
from app.core.identity.principal import Principal
from app.core.storage import compute_digest, get_store


def list_current_rounds(session: Session, principal: Principal | None) -> list[Round]:
    """Return all competitions that the person may know of in their current rounds, oldest first."""
    rounds = session.scalars(_select_rounds(principal))
    now = read_clock(session)
    current = []
    for _, group in groupby(rounds, key=lambda round_: round_.competition_id):
        siblings = list(group)
        set_committed_value(siblings[0].competition, "rounds", siblings)
        current.append(_find_current_round(siblings, now))
    return current


def _select_rounds(principal: Principal | None) -> Select[Round]:
    query = select(Round).join(Competition).where(Round.removed_at.is_(None), _is_known_to(principal))
    return query.order_by(Competition.created_at, Competition.id, Round.position)


def _is_known_to(principal: Principal | None) -> ColumnElement[bool]:
    """Return whether the person may know of a competition: drafts are for organizers and administrators."""
    is_published = Competition.published_at.is_not(None)
    if principal is None:
        return is_published
    if principal.role == Role.ADMINISTRATOR:
        return true()
    organizes = Organizer.competition_id == Competition.id, Organizer.user_id == principal.user_id
    return is_published | exists().where(*organizes)


def find(session: Session, principal: Principal | None, address: str) -> Round:
    """Return a round by its address; raises NotFound if there is none that the person may know of.

    The address is the slug of the competition, which stands for its current round, or slug and name of a
    round with a dot between them.
    """
    slug, has_name, name = address.partition(".")
    query = _select_rounds(principal).where(Competition.slug == slug)
    rounds = session.scalars(query).all() if SLUG.fullmatch(slug) else ()
    if not rounds:
        raise NotFound("there is no competition {name!r}", code="no_such_competition", name=slug[:63])
    set_committed_value(rounds[0].competition, "rounds", list(rounds))
    if not has_name:
        return rounds[0] if len(rounds) == 1 else _find_current_round(rounds, read_clock(session))
    round_ = next((round_ for round_ in rounds if name and round_.name == name), None)
    if round_ is None:
        raise _build_missing_round_error(name)
    return round_


def _build_missing_round_error(name: str) -> NotFound:
    return NotFound("the competition has no round {name!r}", code="no_such_round", name=name[:63])


def _find_current_round(rounds: Sequence[Round], now: datetime) -> Round:
    """Return the round that began last, of equals the last in the file; the first if none has begun.

    A practice round is current only until a round that counts begins.
    """
    starts = ((_find_start(round_), round_) for round_ in rounds)
    begun = [(start, round_) for start, round_ in starts if start and start <= now]
    if not begun:
        return rounds[0]
    return max(begun, key=lambda item: (not item[1].settings.practice, item[0], item[1].position))[1]


def _find_start(round_: Round) -> datetime | None:
    """Return when the round begins; None if it has no phases or its file cannot be read."""
    try:
        return min((phase.start for phase in round_.timetable.phases), default=None)
    except CompetitionUnavailable:
        return None


def is_organizer(session: Session, competition_id: UUID, principal: Principal) -> bool:
    if principal.role == Role.ADMINISTRATOR:
        return True
    return session.get(Organizer, (competition_id, principal.user_id)) is not None


def is_round_organizer(session: Session, round_id: UUID, principal: Principal) -> bool:
    """Whether the person organizes the competition of the round, and the round was not removed."""
    round_ = session.get_one(Round, round_id)
    return round_.removed_at is None and is_organizer(session, round_.competition_id, principal)


def require_organizer(session: Session, competition_id: UUID, principal: Principal) -> None:
    principal.require("organize")
    if not is_organizer(session, competition_id, principal):
        raise Forbidden("only this competition's organizers may do that", code="not_organizer")


def find_for_organizer(session: Session, principal: Principal, slug: str) -> Round:
    """Return the competition for one of its organizers; raises NotFound or Forbidden."""
    round_ = find(session, principal, slug)
    require_organizer(session, round_.competition_id, principal)
    return round_


def find_for_member(
    session: Session, principal: Principal, slug: str, *, scope: str = "read", for_update: bool = False
) -> tuple[Round, Team]:
    """Return the competition and the person's team, locked ``for_update``; raises NotFound or Forbidden."""
    principal.require(scope)
    round_ = find(session, principal, slug)
    if for_update:
        lock_shared(session, round_.id)
    return round_, memberships.require_team(session, round_.competition_id, principal, for_update=for_update)


def lock(session: Session, round_id: UUID) -> Round:
    """Lock a round and its competition against uploads and the clock and reload both, even if read before."""
    return session.get_one(Round, round_id, with_for_update=True, populate_existing=True)


def lock_shared(session: Session, round_id: UUID) -> None:
    """Lock a round and its competition against changes, as uploads do before they lock their team.

    Rows that refer to the competition are inserted with both locks, and whoever locks a team first could wait
    for an upload that waits for the team.
    """
    session.get_one(Round, round_id, with_for_update={"read": True})


def _lock_all_rounds(session: Session, competition_id: UUID) -> list[Round]:
    """Lock all rounds and then the competition, in the order in which ``lock`` does, and reload them."""
    rounds = select(Round).where(Round.competition_id == competition_id, Round.removed_at.is_(None))
    reload = {"populate_existing": True}
    session.scalars(rounds.order_by(Round.id).with_for_update(of=Round).execution_options(**reload)).all()
    competition = session.get_one(Competition, competition_id, with_for_update=True, populate_existing=True)
    locked = session.scalars(rounds.order_by(Round.position).execution_options(**reload)).all()
    set_committed_value(competition, "rounds", list(locked))
    return list(locked)


def lock_for_organizer(
    session: Session, principal: Principal, slug: str, *, all_rounds: bool = False
) -> Round:
    """Return a round locked against uploads and the clock, for one of its organizers; raises NotFound.

    ``all_rounds``: lock the other rounds of the competition as well.
    """
    round_ = find(session, principal, slug)
    locked = _lock_all_rounds(session, round_.competition_id) if all_rounds else [lock(session, round_.id)]
    if round_ not in locked or round_.removed_at is not None:
        # It was removed or reset meanwhile. Locking the one in its place now would break the order of locks.
        raise _build_missing_round_error(round_.name)
    require_organizer(session, round_.competition_id, principal)
    return round_


def require_can_create(principal: Principal) -> None:
    principal.require("organize")
    if principal.role == Role.PARTICIPANT:
        raise Forbidden("only organizers create competitions", code="not_organizer")


def create(session: Session, principal: Principal, text: str) -> Round:
    """Create a competition from its file; its creator becomes its organizer."""
    require_can_create(principal)
    file = read_hostable_file(text)
    rules = next(iter(file.rules.values()))
    competition = Competition(slug=rules.slug, file=file.text)
    rounds = [
        add_round(competition, round_rules, position)
        for position, round_rules in enumerate(file.rules.values())
    ]
    session.add_all(rounds)
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
        after={"sha256": compute_text_digest(file.text)},
    )
    return rounds[0]


def add_round(competition: Competition, rules: Rules, position: int) -> Round:
    """Return a new round without data."""
    return Round(
        competition=competition,
        name=rules.round,
        position=position,
        scales={},
        original={},
        allocation=describe_allocation(rules),
    )


def compute_text_digest(text: str) -> str:
    return compute_digest(text.encode())


def read_hostable_file(text: str) -> CompetitionFile:
    """Read an uploaded competition file that the service can host; raises InvalidCompetition.

    The returned file is without ``[scored_by]``.
    """
    file = read_file(_strip_scoring_versions(text))
    if "round" in file.tables:  # as in the rules of one round, which are sent by mistake
        raise InvalidCompetition("{key} is not a key of the format", code="unknown_key", key="round")
    for rules in file.rules.values():
        if not rules.weights:
            raise InvalidCompetition("no measure has a weight, so nothing could be ranked", code="no_weights")
    return file


def _strip_scoring_versions(text: str) -> str:
    """Remove the ``[scored_by]`` table, which the service writes itself and stores separately.

    A file with that table is validated first (raises InvalidCompetition), because rewriting a file crafted
    for this purpose could take hours.
    """
    if "scored_by" not in read_file(text).tables:
        return text
    tables = parse_toml(text)
    TomlTable(tables.pop("scored_by"), "scored_by").take_values(read_text)
    read_rounds(tables)
    return replace_scored_by(text, {})


def find_changed_parts(old_file: str, new_file: str) -> list[str]:
    """Return the sorted names of the top-level keys and tables that differ between two files."""
    old_tables, new_tables = map(_read_tables, (old_file, new_file))
    return sorted(
        name for name in old_tables.keys() | new_tables.keys() if old_tables.get(name) != new_tables.get(name)
    )


def _read_tables(file: str) -> Mapping[str, object]:
    """Return the top-level keys and tables; none if the text is not TOML."""
    try:
        return read_file(file).tables
    except InvalidCompetition:
        return {}


def build_published_file(round_: Round) -> str:
    """Return the published competition.toml, with scales and scoring versions; workers score by it."""
    return complete_file(round_.file, round_.scales, round_.scored_by)


def complete_file(file: str, scales: Mapping[str, float], scored_by: Versions) -> str:
    """Add the scales and scoring versions to a stored file.

    A file that is not TOML is returned unchanged; whoever parses it will report the error.
    """
    return _complete_file(file, tuple(sorted(scales.items())), tuple(sorted(scored_by.items())))


@lru_cache(maxsize=16)
def _complete_file(
    file: str, scales: tuple[tuple[str, float], ...], scored_by: tuple[tuple[str, str], ...]
) -> str:
    """Cached because each job needs it, and editing TOML takes longer than all else in claiming one."""
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
        round_.scored_by = collect_current_versions(round_.rules)


def collect_current_versions(rules: Rules) -> dict[str, str]:
    """Return the versions to score by; raise CompetitionUnavailable if others are installed by now."""
    require_current_packages(rules)
    return collect_scoring_versions(rules)


def require_current_packages(rules: Rules) -> None:
    """Raise PackageChangeError if packages of the competition were upgraded or removed meanwhile."""
    try:
        check_current_packages(rules)
    except InvalidCompetition as problem:
        raise PackageChangeError(problem.message) from None


def has_submissions(session: Session, round_id: UUID) -> bool:
    return bool(session.scalar(select(exists().where(Submission.round_id == round_id))))


def has_any_submission(session: Session, competition: Competition) -> bool:
    return any(has_submissions(session, round_.id) for round_ in competition.rounds)


def describe_allocation(rules: Rules) -> dict[str, object]:
    """Return what the service allocates in a competition, independent of the track; {}: nothing."""
    allocation = TRACKS[rules.track].allocation
    if allocation is None:
        return {}
    return {
        "each_team": allocation.per_team,
        "files": [file.name for file in allocation.files],
        "truth": [file.name for file in allocation.select_organizer_files(rules)],
        "draws_lots": allocation.draws_lots,
    }


def load_contents(original: Mapping[str, str]) -> dict[str, bytes]:
    """Load the files of the original data by name."""
    return {name: get_store().get(digest) for name, digest in original.items()}
