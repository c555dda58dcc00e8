"""Rehearsals: a competition played through by sample teams, for the eyes of its organizers alone.

It is a competition of its own with the rules and the data of what it rehearses, so that everything happens in
it as it will; ``competitions.may_know`` keeps it from all others.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from anoncup.competition.writer import with_head, with_publication, with_title
from anoncup.errors import Conflict, NotFound
from anoncup.messages import Message
from anoncup.rules.model import Rules
from anoncup.rules.rounds import with_phases
from anoncup.rules.settings import Limits, Phase
from app.db.models import Competition, Evaluation, RehearsalMove, State
from app.db.now import clock
from app.services.accounts import audit, memberships
from app.services.accounts.accounts import Principal
from app.services.contests import competitions, rehearsal_schedule
from app.services.contests.competitions import REHEARSAL
from app.services.contests.contest import Contest
from app.services.contests.phases import ANONYMIZATION, REIDENTIFICATION
from app.services.jobs.leases import UNFINISHED

PHASE, REST = timedelta(minutes=25), timedelta(minutes=5)
"""How long each phase of a rehearsal lasts, and how long is left to score what it brought: with the reveal it
is over in an hour."""
ACTIVE = 0.6
"""The part of a phase by which the last of its moves is due."""
MOST_TEAMS, RELEASES, GUESSES = 10, 2, 10
"""Sample teams, releases of each, and targets that each guesses on: at most 120 moves."""

LONGEST_WHOLE, DIGEST = 48, 16
"""Characters of a name that stay whole in those of its rehearsals, and of the digest where they do not."""
TITLES = {"en": "Rehearsal: {title}", "ja": "リハーサル：{title}"}
LONGEST_TITLE = 200


def standing(session: Session, competition_id: UUID) -> Contest | None:
    """The rehearsal of a competition that has not been removed; who asks is not checked here."""
    mine = select(Competition).where(
        Competition.rehearses == competition_id, Competition.removed_at.is_(None)
    )
    row = session.scalar(mine)
    return None if row is None else Contest(row)


def of_competition(session: Session, principal: Principal, slug: str) -> Contest:
    """The rehearsal of that competition, for its organizers."""
    contest = competitions.for_organizer(session, principal, slug)
    found = standing(session, contest.id)
    if found is None:
        raise NotFound("the competition is not being rehearsed", code="no_rehearsal")
    return found


def hindrance(contest: Contest) -> Conflict | None:
    """Why this competition cannot be rehearsed."""
    row, track = contest.row, contest.track
    if row.rehearses is not None:
        return Conflict("a rehearsal is not rehearsed itself", code="is_rehearsal")
    if track.draw is not None or track.seals_release or not track.methods:
        return Conflict(
            "competitions of the {track} track cannot be rehearsed, because the teams' releases "
            "depend on drawn data or stay sealed",
            code="track_not_rehearsed",
            track=Message(track.name),
        )
    if row.original_rows is None:
        return Conflict("the competition has no original data yet", code="no_original")
    return None


def begin(session: Session, principal: Principal, slug: str) -> Contest:
    """Have sample teams play the competition, from now on; one rehearsal at a time."""
    contest = competitions.locked_for_organizer(session, principal, slug)
    if (hindered := hindrance(contest)) is not None:
        raise hindered
    if standing(session, contest.id) is not None:
        raise Conflict("the competition is being rehearsed already", code="rehearsal_stands")
    made = copied(session, contest)
    add_teams(session, principal, made)
    rehearsal_schedule.follow(session, made.row)
    for each in (contest.row, made.row):
        audit.record(session, principal, "rehearsal.begin", competition_id=each.id, subject=made.slug)
    return made


def copied(session: Session, contest: Contest) -> Contest:
    """A new competition with the same rules and data, whose phases begin now."""
    row, slug = contest.row, next(free_slugs(session, contest.slug))
    made = Competition(
        slug=slug,
        file=rehearsed_file(row.file, contest.rules, slug, clock(session)),
        scales=row.scales,
        scored_by=row.scored_by,
        original=row.original,
        original_rows=row.original_rows,
        drawn=row.drawn,
        drawing=row.drawing,
        rehearses=row.id,
    )
    session.add(made)
    competitions.fix_what_counts(made)
    session.flush()
    return Contest(made)


def free_slugs(session: Session, slug: str) -> Iterator[str]:
    """By its own rehearsals alone, so that no number tells of another's; each keeps its own in the record."""
    begun = f"{beginning(slug)}-{REHEARSAL}"
    for number in count(1):
        found = begun if number == 1 else f"{begun}-{number}"
        if session.scalar(select(Competition.id).where(Competition.slug == found)) is None:
            yield found


def beginning(slug: str) -> str:
    """Of the names of a competition's rehearsals, and of no other's: what is cut off is told apart by its
    digest, and longer than what need not be cut."""
    if len(slug) <= LONGEST_WHOLE:
        return slug
    digest = competitions.sha256_of(slug)[:DIGEST]
    return f"{slug[: LONGEST_WHOLE - DIGEST]}-{digest}"


def rehearsed_file(file: str, rules: Rules, slug: str, now: datetime) -> str:
    """The rules under another name and title, without what would outlast an hour.

    The boards do not freeze, and the reveal needs no notice.
    """
    titles = {
        language: TITLES.get(language, TITLES["en"]).format(title=title)[:LONGEST_TITLE]
        for language, title in rules.title.items()
    }
    publication = replace(rules.publication, frozen_from=None, reveal_notice_hours=0)
    text = with_publication(with_head(file, {"slug": slug}), publication, rules.ranking, rules.limits)
    return with_phases(with_title(text, titles), windows(rules, now.replace(microsecond=0)))


def windows(rules: Rules, now: datetime) -> list[Phase]:
    """Of the phases that the competition will have; both, while it has none."""
    named = {phase.name for phase in rules.phases} or {ANONYMIZATION, REIDENTIFICATION}
    first = Phase(ANONYMIZATION, now, now + PHASE)
    second = Phase(REIDENTIFICATION, first.end + REST, first.end + REST + PHASE)
    return [phase for phase in (first, second) if phase.name in named]


def add_teams(session: Session, principal: Principal, contest: Contest) -> None:
    """A team for each sample method, and what it will do."""
    methods = list(contest.track.methods)[:MOST_TEAMS]
    moves = [*releases(contest, methods), *guesses(contest, methods)]
    made = {name: memberships.create_team(session, contest.id, name).id for name in methods}
    for name, move in moves:
        move.competition_id, move.team_id, move.user_id = contest.id, made[name], principal.user_id
        session.add(move)
    session.flush()


def releases(contest: Contest, methods: list[str]) -> list[tuple[str, RehearsalMove]]:
    """Each team's first, then each team's second: a contest in which things happen."""
    order = [(name, number) for number in range(allowed(contest.rules.limits)) for name in methods]
    return [
        (name, RehearsalMove(phase=ANONYMIZATION, number=number, method=name, share=share))
        for (name, number), share in zip(order, shares(len(order)), strict=True)
    ]


def allowed(limits: Limits) -> int:
    caps = (limits.valid_per_day, limits.valid_total, limits.attempts_per_day, limits.attempts_total)
    return min(RELEASES, *caps)


def guesses(contest: Contest, methods: list[str]) -> list[tuple[str, RehearsalMove]]:
    """Teams take the built-in attackers in turn, each another one on its next target."""
    rules, track = contest.rules, contest.track
    asked = track.asked(rules)
    attackers = [name for name, one in track.attackers.items() if asked.keys() & set(one.questions)]
    if rules.phase(REIDENTIFICATION) is None or not attackers:
        return []
    order = [(place, number) for number in range(GUESSES) for place in range(len(methods))]
    return [
        (
            methods[place],
            RehearsalMove(
                phase=REIDENTIFICATION,
                number=number,
                method=attackers[(place + number) % len(attackers)],
                share=share,
            ),
        )
        for (place, number), share in zip(order, shares(len(order)), strict=True)
    ]


def shares(number: int) -> list[float]:
    return [ACTIVE * place / number for place in range(number)]


def end(session: Session, principal: Principal, slug: str) -> None:
    """Take the rehearsal of that competition out of sight, for good; what was scored stays in the record."""
    contest = competitions.locked_for_organizer(session, principal, slug)
    found = of_competition(session, principal, slug).row
    principal.require_confirmed()
    session.refresh(found, with_for_update=True)
    for each in (contest.id, found.id):
        audit.record(session, principal, "rehearsal.end", competition_id=each, subject=found.slug)
    found.removed_at = clock(session)
    cancelled = {"state": State.CANCELLED, "finished_at": func.clock_timestamp(), "leased_until": None}
    moves = update(RehearsalMove).where(RehearsalMove.competition_id == found.id)
    session.execute(moves.where(RehearsalMove.state.in_(UNFINISHED)).values(cancelled))
    scored = update(Evaluation).where(Evaluation.competition_id == found.id)
    session.execute(scored.where(Evaluation.state.in_(UNFINISHED)).values(cancelled))
