"""What a ruling on a team or a submission would change: it is made, looked at, and taken back."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.db.models import Competition, Guess, State, Target
from app.services.accounts.accounts import Principal
from app.services.attacks import targets
from app.services.boards import anonymization, reidentification
from app.services.contests import competitions, visibility

Ranks = dict[str, int | None]


@dataclass(frozen=True, slots=True)
class Look:
    """Who stands on each board with which rank, and the targets that count, at one moment."""

    anonymization: Ranks
    reidentification: Ranks
    targets: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class Place:
    """One team's row of a board before and after; ``others``: teams that get another rank by it."""

    board: str
    stood: bool
    stands: bool
    before: int | None
    after: int | None
    others: int


@dataclass(frozen=True, slots=True)
class Consequences:
    """``targets``: those that are withdrawn, or come back, ``guesses`` on them, of ``guessers`` teams;
    ``own_guesses``: what the team itself guessed."""

    places: tuple[Place, ...]
    targets: int
    guesses: int
    guessers: int
    own_guesses: int


def of_ruling(
    session: Session, principal: Principal, slug: str, act: Callable[[], object], *, team_id: UUID, team: str
) -> Consequences:
    """What ``act`` would make of the contest, for its organizers; nothing of it stays."""
    contest = competitions.for_organizer(session, principal, slug)
    before = look(session, principal, contest.row)
    with session.begin_nested() as trial:
        act()
        session.flush()
        after = look(session, principal, contest.row)
        trial.rollback()
    moved = before.targets ^ after.targets
    guesses, guessers = guesses_on(session, moved)
    mine = select(func.count()).where(Guess.team_id == team_id, Guess.competition_id == contest.id)
    return Consequences(
        places=(
            place("anonymization", team, before.anonymization, after.anonymization),
            place("reidentification", team, before.reidentification, after.reidentification),
        ),
        targets=len(moved),
        guesses=guesses,
        guessers=guessers,
        own_guesses=session.scalars(mine.where(Guess.state != State.ERROR)).one(),
    )


def look(session: Session, principal: Principal, row: Competition) -> Look:
    sight = visibility.boards(session, principal, row.slug)
    releases, attacks = anonymization.board(session, sight), reidentification.board(session, sight)
    counting = targets.joined().where(targets.counts(), Target.competition_id == row.id)
    return Look(
        {line.team: line.rank for line in releases.rows if not line.baseline},
        {line.team: line.rank for line in attacks.rows} if row.published_at else {},
        frozenset(session.scalars(counting.with_only_columns(Target.id))),
    )


def place(board: str, team: str, before: Ranks, after: Ranks) -> Place:
    stayed = (before.keys() & after.keys()) - {team}
    return Place(
        board=board,
        stood=team in before,
        stands=team in after,
        before=before.get(team),
        after=after.get(team),
        others=sum(before[name] != after[name] for name in stayed),
    )


def guesses_on(session: Session, moved: frozenset[UUID]) -> tuple[int, int]:
    """How many guesses were made on these targets, and by how many teams."""
    found = select(func.count(), func.count(Guess.team_id.distinct())).where(
        Guess.target_id.in_(moved), Guess.state != State.ERROR
    )
    guesses, guessers = session.execute(found).one()
    return guesses, guessers
