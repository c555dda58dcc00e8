"""Preview of a disqualification: it is made in a savepoint, its effects are read, and it is rolled back."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.db.models import Guess, Round, Target
from app.services.accounts.principal import Principal
from app.services.attacks import targets
from app.services.boards import anonymization, reidentification
from app.services.contests import competitions, visibility
from app.services.submissions import quota

_Ranks = dict[str, int | None]


@dataclass(frozen=True, slots=True)
class ContestSnapshot:
    """The ranks of the teams on each board and the targets that count, at one moment."""

    anonymization: _Ranks
    reidentification: _Ranks
    targets: frozenset[UUID]


@dataclass(frozen=True, slots=True)
class BoardRankChange:
    """A team's row on a board before and after the change.

    ``other_teams``: number of other teams whose rank changes.
    """

    board: str
    was_on_board: bool
    is_on_board: bool
    old_rank: int | None
    new_rank: int | None
    other_teams: int


@dataclass(frozen=True, slots=True)
class DisqualificationPreview:
    """The effects of disqualifying or reinstating a team or a submission.

    ``targets``: number of targets that are withdrawn or restored.
    ``guesses``, ``guessing_teams``: number of guesses on these targets, and of the teams that made them.
    ``own_guesses``: number of the team's own guesses.
    """

    rank_changes: tuple[BoardRankChange, ...]
    targets: int
    guesses: int
    guessing_teams: int
    own_guesses: int


def preview_disqualification(
    session: Session,
    principal: Principal,
    slug: str,
    action: Callable[[], object],
    *,
    team_id: UUID,
    team: str,
) -> DisqualificationPreview:
    """Return the effects of ``action`` for the organizers, then roll it back."""
    contest = competitions.find_for_organizer(session, principal, slug)
    current = _take_snapshot(session, principal, contest.round)
    with session.begin_nested() as savepoint:
        action()
        session.flush()
        proposed = _take_snapshot(session, principal, contest.round)
        savepoint.rollback()
    changed_targets = current.targets ^ proposed.targets
    guesses, guessing_teams = _count_guesses(session, changed_targets)
    own_guesses_query = select(func.count()).where(
        Guess.team_id == team_id, Guess.round_id == contest.round.id
    )
    return DisqualificationPreview(
        rank_changes=(
            _compare_ranks("anonymization", team, current.anonymization, proposed.anonymization),
            _compare_ranks("reidentification", team, current.reidentification, proposed.reidentification),
        ),
        targets=len(changed_targets),
        guesses=guesses,
        guessing_teams=guessing_teams,
        own_guesses=session.scalars(
            own_guesses_query.where(Guess.state.not_in(quota.FREE_GUESS_STATES))
        ).one(),
    )


def _take_snapshot(session: Session, principal: Principal, round_: Round) -> ContestSnapshot:
    access = visibility.authorize_boards(session, principal, round_.address)
    releases = anonymization.build_board(session, access)
    attacks = reidentification.build_board(session, access)
    counting_targets = targets.select_counting(round_.id)
    return ContestSnapshot(
        {row.team: row.rank for row in releases.rows if not row.baseline},
        {row.team: row.rank for row in attacks.rows} if round_.published_at else {},
        frozenset(session.scalars(counting_targets.with_only_columns(Target.id))),
    )


def _compare_ranks(board: str, team: str, old_ranks: _Ranks, new_ranks: _Ranks) -> BoardRankChange:
    other_teams = (old_ranks.keys() & new_ranks.keys()) - {team}
    return BoardRankChange(
        board=board,
        was_on_board=team in old_ranks,
        is_on_board=team in new_ranks,
        old_rank=old_ranks.get(team),
        new_rank=new_ranks.get(team),
        other_teams=sum(old_ranks[name] != new_ranks[name] for name in other_teams),
    )


def _count_guesses(session: Session, target_ids: frozenset[UUID]) -> tuple[int, int]:
    """Count the guesses on these targets and the teams that made them."""
    query = select(func.count(), func.count(Guess.team_id.distinct())).where(
        Guess.target_id.in_(target_ids), Guess.state.not_in(quota.FREE_GUESS_STATES)
    )
    guesses, guessing_teams = session.execute(query).one()
    return guesses, guessing_teams
