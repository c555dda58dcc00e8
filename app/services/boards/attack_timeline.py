"""The history of the matrix: when each team's best guess on each target improved, and to what.

It is available after the reveal only: numbers of hits are not shown before.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.schemas import AttackHistory, AttackHistoryRow, AttackStep
from app.db.models import Competition, Guess, Team
from app.services.accounts import names
from app.services.boards import best_guesses, effective_evaluations
from app.services.boards.best_guesses import Attacked
from app.services.boards.matrix import column
from app.services.contests import visibility
from app.services.contests.visibility import Sight, View


class Sent(NamedTuple):
    """A guess that counts."""

    at: datetime
    question: str
    risk: float
    correct: int


Rising = Callable[[Iterable[Sent]], Iterator[AttackStep]]
"""Of the guesses of one team on one target, the first received first, those that made its best better."""


def board(session: Session, sight: Sight) -> AttackHistory:
    """The steps of every cell, with the matrix's targets and teams; NotFound before the reveal."""
    contest, view = sight.contest, sight.view
    visibility.require_reveal(contest.row)
    rules = effective_evaluations.rules(session, contest, view.as_of)
    columns = best_guesses.attacked(session, contest.row, view)
    rising = counted if contest.track.counts(rules) else beyond_chance(rules)
    return AttackHistory(
        competition=contest.slug,
        title=dict(contest.rules.title),
        hidden=False,
        counted=contest.track.counts(rules),
        questions=tuple(contest.track.asked(rules)),
        targets=tuple(column(one, view) for one in columns),
        rows=tuple(teams_rows(session, contest.row, view, rules=rules, columns=columns, rising=rising)),
    )


def teams_rows(
    session: Session,
    row: Competition,
    view: View,
    *,
    rules: Rules,
    columns: Sequence[Attacked],
    rising: Callable[[int], Rising],
) -> Iterator[AttackHistoryRow]:
    """The teams that have sent a guess that counts, by name."""
    sent = sent_by_team_and_target(session, row, view, rules, columns)
    teams = session.execute(select(Team.id, Team.name).where(Team.id.in_(sent)))
    for team_id, name in sorted(teams, key=lambda team: (names.folded(team[1]), team[1])):
        cells = (rising(one.rows)(sent[team_id].get(one.id, ())) for one in columns)
        own = team_id == view.audience.team_id
        yield AttackHistoryRow(attacker=name, own=own, cells=tuple(tuple(cell) for cell in cells))


def sent_by_team_and_target(
    session: Session, row: Competition, view: View, rules: Rules, columns: Sequence[Attacked]
) -> Mapping[UUID, Mapping[UUID, Sequence[Sent]]]:
    found = select(
        Guess.team_id,
        Guess.target_id,
        Guess.received_at,
        Guess.question,
        func.coalesce(Guess.risk, 0.0),
        func.coalesce(Guess.correct, 0),
    ).order_by(Guess.received_at, Guess.id)
    sent: dict[UUID, dict[UUID, list[Sent]]] = {}
    for team_id, target_id, *guess in session.execute(
        best_guesses.that_count(found, row, view, rules, columns)
    ):
        sent.setdefault(team_id, {}).setdefault(target_id, []).append(Sent._make(guess))
    return sent


def counted(rows: int) -> Rising:
    """Individuals, of so many."""

    def rising(guesses: Iterable[Sent]) -> Iterator[AttackStep]:
        best = -1
        for one in guesses:
            if one.correct > best:
                best = one.correct
                yield AttackStep(at=one.at, correct=best, rate=best / rows)

    return rising


def beyond_chance(rules: Rules) -> Callable[[int], Rising]:
    """With each question if there are several."""
    value, several = best_guesses.together(rules), len(TRACKS[rules.track].asked(rules)) > 1

    def rising(guesses: Iterable[Sent]) -> Iterator[AttackStep]:
        best: dict[str, float] = {}
        for one in guesses:
            if one.question not in best or one.risk > best[one.question]:
                best[one.question] = one.risk
                rate = value({name: (risk,) for name, risk in best.items()})
                yield AttackStep(
                    at=one.at, correct=None, rate=rate, by_question=dict(best) if several else None
                )

    return lambda _: rising
