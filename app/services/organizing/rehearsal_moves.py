"""The moves of a rehearsal's sample teams.

They follow from its rules, its phases and what the teams have sent. A move is made when its submission or
guess is there, and given up when its team has asked the organizers why it fails. Nothing else is stored about
moves, so that a move whose worker was killed is made again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from anoncup.rules.settings import Limits, Phase
from app.db.models import Guess, Round, Submission, Target, Team
from app.services.attacks import targets
from app.services.contests import clarifications, phases
from app.services.contests.contest import Contest
from app.services.contests.phases import ANONYMIZATION

RELEASES_PER_TEAM, GUESSES_PER_TEAM = 2, 10
"""Number of releases per team, and of targets that each team attacks."""
_ACTIVE_SHARE = 0.6
"""Share of a phase in which all of its moves become due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A release of a sample team, or a guess. ``sent_at``: its time of entry; None if it is not accepted."""

    team: Team
    label: str
    """Name of the move among those of its team. The team's question about a failed move begins with it."""
    sent_at: datetime | None

    @property
    def seed(self) -> int:
        """Seed of its random choices. A move that is made again has the same one."""
        return uuid5(self.team.id, self.label).int

    def is_given_up(self, questions: Sequence[str]) -> bool:
        """Whether the team has reported this move as failed, or has asked as many questions as it may."""
        is_reported = any(question.startswith(f"{self.label}: ") for question in questions)
        return is_reported or len(questions) >= clarifications.MAX_UNANSWERED


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessMove(Move):
    """A guess on another team's target. ``attackers``: built-in attackers, in the order to try them."""

    target: Target
    question: str
    attackers: Sequence[str]


def try_lock(session: Session, round_id: UUID) -> bool:
    """Take a rehearsal's lock until the transaction ends; False if another transaction has it.

    A worker has it while it makes a move. Postgres frees it when the worker is killed, or 30 s after its host
    was lost.
    """
    for name in ("idle", "interval", "count"):
        session.execute(text(f"SET LOCAL tcp_keepalives_{name} = 5"))
    lock = func.pg_try_advisory_xact_lock(func.hashtextextended(str(round_id), 0))
    return bool(session.scalar(select(lock)))


def load_moves(session: Session, contest: Contest, phase: str) -> list[Move]:
    """Load the moves of a phase in the order in which they are due. Guesses are known with the targets."""
    if contest.rules.phase(phase) is None:
        return []
    own_teams = select(Team).where(Team.competition_id == contest.id, ~Team.baseline)
    teams = session.scalars(own_teams.order_by(Team.name)).all()
    plan = _plan_releases if phase == ANONYMIZATION else _plan_guesses
    return list(plan(session, contest, teams))


def select_due(phase: Phase, moves: Sequence[Move], moment: datetime) -> Sequence[Move]:
    """Return the moves of a phase that are due at a moment."""
    elapsed_share = (moment - phase.start) / (phase.end - phase.start)
    if elapsed_share < 0:
        return ()
    return moves[: int(elapsed_share / _ACTIVE_SHARE * len(moves)) + 1]


def load_due(session: Session, round_: Round) -> list[Move]:
    """Load the moves that are due now and not sent."""
    contest, status = Contest(round_), phases.get_status(session, round_)
    return [
        move
        for phase in contest.rules.phases
        if status.is_open(phase.name)
        for move in select_due(phase, load_moves(session, contest, phase.name), status.now)
        if move.sent_at is None
    ]


def _plan_releases(session: Session, contest: Contest, teams: Sequence[Team]) -> Iterator[Move]:
    """Plan the first release of every team, then the second, so that the board changes over time."""
    query = select(Submission.team_id, Submission.idempotency_key, Submission.received_at)
    rows = session.execute(query.where(Submission.round_id == contest.round.id))
    sent_at = {(team_id, key): received_at for team_id, key, received_at in rows}
    for number in range(_count_allowed_releases(contest.rules.limits)):
        for team in teams:
            label = f"release-{number + 1}"
            yield Move(team=team, label=label, sent_at=sent_at.get((team.id, label)))


def _count_allowed_releases(limits: Limits) -> int:
    caps = (limits.valid_per_day, limits.valid_total, limits.attempts_per_day, limits.attempts_total)
    return min(RELEASES_PER_TEAM, *caps)


def _plan_guesses(session: Session, contest: Contest, teams: Sequence[Team]) -> Iterator[Move]:
    """Plan the guesses; each team begins with another target, and takes the next attacker for each."""
    if contest.round.published_at is None:
        return
    attackers_by_question = _list_attackers(contest)
    query = select(Guess.team_id, Guess.target_id, Guess.question, Guess.received_at)
    rows = session.execute(query.where(Guess.round_id == contest.round.id))
    sent_at = {(team_id, target_id, question): moment for team_id, target_id, question, moment in rows}
    counting_targets = targets.select_targets().where(
        Target.round_id == contest.round.id, targets.is_in_contest()
    )
    all_targets = session.scalars(counting_targets.order_by(Target.name)).all()
    for number in range(GUESSES_PER_TEAM):
        for index, team in enumerate(teams, number):
            candidates = [target for target in all_targets if target.submission.team_id != team.id]
            if number >= len(candidates):
                continue
            target = candidates[index % len(candidates)]
            for question, attackers in attackers_by_question.items():
                first = index % len(attackers)
                yield GuessMove(
                    team=team,
                    label=f"guess-{target.name}-{question}",
                    sent_at=sent_at.get((team.id, target.id, question)),
                    target=target,
                    question=question,
                    attackers=attackers[first:] + attackers[:first],
                )


def _list_attackers(contest: Contest) -> dict[str, list[str]]:
    """Return the names of the built-in attackers by the question that they answer."""
    attackers = contest.track.attackers.items()
    names_by_question = {
        question: [name for name, attacker in attackers if question in attacker.questions]
        for question in contest.track.select_questions(contest.rules)
    }
    return {question: names for question, names in names_by_question.items() if names}
