"""Rehearsals: sample teams play a competition from beginning to end, visible only to its organizers.

A rehearsal is a separate competition with the same rules and data, so that it behaves like the real one;
``competitions.can_see`` hides it from everybody else. A worker plays its sample teams through the API
(``workers.rehearse``).
"""

import json
import secrets
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from anoncup.competition.writer import replace_publication_rules, replace_title, replace_top_level_values
from anoncup.errors import Conflict, NotFound
from anoncup.messages import Message
from anoncup.rules.model import Rules
from anoncup.rules.settings import Phase
from anoncup.rules.timetable import replace_phases
from anoncup.rules.toml_text import replace_tables
from app.config import get_settings
from app.crypto import sealing
from app.db.models import Competition, Evaluation, Member, Round, State
from app.db.now import read_clock
from app.services.accounts import audit, memberships, users
from app.services.accounts.password_hashes import UNUSABLE_HASH
from app.services.accounts.principal import Principal
from app.services.accounts.tokens import issue_token, revoke_all
from app.services.contests import competitions
from app.services.contests.competitions import REHEARSAL
from app.services.contests.contest import Contest
from app.services.contests.phases import ANONYMIZATION, REIDENTIFICATION
from app.services.jobs.leases import UNFINISHED

PHASE_LENGTH, _SCORING_BREAK = timedelta(minutes=25), timedelta(minutes=5)
"""Length of each phase, and of the break for scoring after it: a rehearsal takes an hour with the reveal."""
MAX_TEAMS = 10
"""Maximum number of sample teams: one for each sample method."""
TOKEN_LIFETIME = timedelta(days=7)
"""Time in which sample teams can make moves: long enough for organizers who pause the rehearsal."""

_MAX_UNCUT_SLUG_LENGTH, _DIGEST_LENGTH = 48, 16
"""Maximum length of a slug that its rehearsals repeat in full, and length of the digest of longer ones."""
_TITLES = {"en": "Rehearsal: {title}", "ja": "リハーサル：{title}"}
_MAX_TITLE_LENGTH = 200


def find_rehearsal(session: Session, competition_id: UUID) -> Contest | None:
    """Return the present rehearsal of a competition, or None; permissions are not checked."""
    query = select(Round).join(Competition)
    round_ = session.scalar(
        query.where(Competition.rehearsal_of == competition_id, Competition.removed_at.is_(None))
    )
    return None if round_ is None else Contest(round_)


def find_for_organizer(session: Session, principal: Principal, slug: str) -> Contest:
    """Return the rehearsal of a competition for one of its organizers; raises NotFound."""
    contest = competitions.find_for_organizer(session, principal, slug)
    rehearsal = find_rehearsal(session, contest.id)
    if rehearsal is None:
        raise NotFound("the competition is not being rehearsed", code="no_rehearsal")
    return rehearsal


def find_obstacle(contest: Contest) -> Conflict | None:
    """Return the reason why a competition cannot be rehearsed, or None if it can."""
    track = contest.track
    if contest.competition.rehearsal_of is not None:
        return Conflict("a rehearsal is not rehearsed itself", code="is_rehearsal")
    if track.allocation is not None or track.target_files.seals_release or not track.methods:
        return Conflict(
            "competitions of the {track} track cannot be rehearsed, because the teams' releases "
            "depend on drawn data or stay sealed",
            code="track_not_rehearsed",
            track=Message(track.name),
        )
    if contest.round.original_rows is None:
        return Conflict("the competition has no original data yet", code="no_original")
    return None


def begin(session: Session, principal: Principal, slug: str) -> Contest:
    """Start a rehearsal; only one may exist at a time."""
    contest = competitions.lock_for_organizer(session, principal, slug)
    if (obstacle := find_obstacle(contest)) is not None:
        raise obstacle
    if find_rehearsal(session, contest.id) is not None:
        raise Conflict("the competition is being rehearsed already", code="rehearsal_stands")
    rehearsal = _copy_competition(session, contest)
    _add_teams(session, rehearsal)
    for competition in (contest.competition, rehearsal.competition):
        audit.record(session, principal, "rehearsal.begin", competition.id, subject=rehearsal.address)
    return rehearsal


def _copy_competition(session: Session, contest: Contest) -> Contest:
    """Create a competition with the same rules and data whose phases begin now."""
    round_, slug = contest.round, next(_iter_free_slugs(session, contest.competition.slug))
    competition = Competition(
        slug=slug,
        file=_build_rehearsal_file(round_.file, contest.rules, slug, read_clock(session)),
        rehearsal_of=contest.id,
    )
    rehearsal = Round(
        competition=competition,
        scales=round_.scales,
        scored_by=round_.scored_by,
        original=round_.original,
        original_rows=round_.original_rows,
        shared_files=round_.shared_files,
        allocation=round_.allocation,
    )
    session.add(rehearsal)
    competitions.pin_scoring_versions(rehearsal)
    session.flush()
    return Contest(rehearsal)


def _iter_free_slugs(session: Session, slug: str) -> Iterator[str]:
    """Yield unused slugs; numbers count the competition's own rehearsals and reveal no others."""
    base = f"{build_slug_prefix(slug)}-{REHEARSAL}"
    for number in count(1):
        candidate = base if number == 1 else f"{base}-{number}"
        if session.scalar(select(Competition.id).where(Competition.slug == candidate)) is None:
            yield candidate


def build_slug_prefix(slug: str) -> str:
    """Return a prefix that only the slugs of this competition's rehearsals have.

    A long slug is cut and gets a digest; the result is longer than any uncut slug, so they cannot collide.
    """
    if len(slug) <= _MAX_UNCUT_SLUG_LENGTH:
        return slug
    digest = competitions.compute_text_digest(slug)[:_DIGEST_LENGTH]
    return f"{slug[: _MAX_UNCUT_SLUG_LENGTH - _DIGEST_LENGTH]}-{digest}"


def _build_rehearsal_file(file: str, rules: Rules, slug: str, now: datetime) -> str:
    """Return the competition's file with a new slug, title and phases that fit into an hour.

    The boards do not freeze, and the reveal needs no notice.
    """
    titles = {
        language: _TITLES.get(language, _TITLES["en"]).format(title=title)[:_MAX_TITLE_LENGTH]
        for language, title in rules.title.items()
    }
    publication = replace(rules.publication, frozen_from=None, reveal_notice_hours=0)
    text = replace_top_level_values(replace_tables(file, "round", ""), {"slug": slug})
    text = replace_publication_rules(text, publication, rules.ranking, rules.limits)
    return replace_phases(replace_title(text, titles), _plan_phases(rules, now.replace(microsecond=0)))


def _plan_phases(rules: Rules, now: datetime) -> list[Phase]:
    """Return phases starting now for the phases of the competition, or both phases if it has none yet."""
    phase_names = {phase.name for phase in rules.phases} or {ANONYMIZATION, REIDENTIFICATION}
    first_phase = Phase(ANONYMIZATION, now, now + PHASE_LENGTH)
    second_phase = Phase(
        REIDENTIFICATION, first_phase.end + _SCORING_BREAK, first_phase.end + _SCORING_BREAK + PHASE_LENGTH
    )
    return [phase for phase in (first_phase, second_phase) if phase.name in phase_names]


def _add_teams(session: Session, contest: Contest) -> None:
    """Create a team with one member for each sample method, and seal the members' tokens for the workers."""
    tokens = {}
    for name in list(contest.track.methods)[:MAX_TEAMS]:
        team = memberships.create_team(session, contest.id, name)
        # Nobody can guess this name and learn of the rehearsal by trying to take it.
        member = users.add_user(session, name=f"sample-{secrets.token_hex(8)}", password_hash=UNUSABLE_HASH)
        session.add(Member(competition_id=contest.id, user_id=member.id, team_id=team.id))
        tokens[name] = issue_token(session, member, name=REHEARSAL, lifetime=TOKEN_LIFETIME)
    contest.competition.rehearsal_tokens = sealing.seal_file(
        get_settings().sealing_key_file, bound_to=contest.id, content=json.dumps(tokens).encode()
    )


def end(session: Session, principal: Principal, slug: str) -> None:
    """Remove the rehearsal permanently, with its tokens and unfinished scores; other rows stay."""
    contest = competitions.lock_for_organizer(session, principal, slug)
    round_ = find_for_organizer(session, principal, slug).round
    principal.require_reauthentication()
    competition = competitions.lock(session, round_.id).competition
    for competition_id in (contest.id, competition.id):
        audit.record(session, principal, "rehearsal.end", competition_id, subject=competition.slug)
    competition.removed_at, competition.rehearsal_tokens = read_clock(session), None
    for user_id in session.scalars(select(Member.user_id).where(Member.competition_id == competition.id)):
        revoke_all(session, user_id, except_id=None)
    cancelled_values = {"state": State.CANCELLED, "finished_at": func.clock_timestamp(), "leased_until": None}
    evaluations_update = update(Evaluation).where(Evaluation.round_id == round_.id)
    session.execute(evaluations_update.where(Evaluation.state.in_(UNFINISHED)).values(cancelled_values))
