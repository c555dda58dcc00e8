"""How many teams a target could be of, for all that is published: what anonymity the boards leave it.

Counted of the finals, and before they are taken of those that would be now; the scores are those of the
built-in attackers, as the boards show them when the targets appear. What was shown under other rules, or with
more decimals than now, is not counted (docs/publication.md).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.contest import Contest
from app.db.models import Competition, State, Target
from app.scoring.publication import Final, Scores, computed, possible_owners
from app.scoring.registry import Track
from app.scoring.rules import Rules
from app.services.attacks import candidates, transitions
from app.services.boards import in_force, verdicts
from app.services.boards.comparable import comparable
from app.services.boards.in_force import Finished
from app.services.boards.verdicts import Numbers
from app.services.contest.visibility import ALWAYS

EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Anonymity:
    """What a competition's targets are left with. ``numbers``: of each target, least first; ``coarser``: by
    fewer decimals of U and E than now, the least number where it is larger; ``at_least``: what is asked for.
    """

    teams: int
    digits: int
    at_least: int
    numbers: tuple[int, ...]
    coarser: dict[int, int]

    @property
    def least(self) -> int:
        return self.numbers[0]

    @property
    def few(self) -> int:
        """How many targets have fewer possible owners than is asked for; none if that is 1."""
        return sum(number < self.at_least for number in self.numbers)

    @property
    def known(self) -> int:
        """How many have one possible owner, although there are more teams."""
        return sum(number == 1 for number in self.numbers) if self.teams > 1 else 0


@dataclass(frozen=True, slots=True)
class Question:
    """All that the numbers depend on, but the decimals. ``limits``: how many targets each team may have."""

    finals: tuple[Final, ...]
    limits: tuple[int, ...]
    hidden_board: bool


def by_submission(session: Session, contest: Contest) -> dict[UUID, int]:
    """The number of possible owners of each target that counts; none where owners are shown or revealed."""
    rules = contest.rules
    if rules.publication.owners == "shown" or contest.row.revealed_at is not None:
        return {}
    submissions, question = asked(session, contest)
    return dict(zip(submissions, numbers(question, rules.publication.digits), strict=True))


def anonymity(session: Session, contest: Contest) -> Anonymity | None:
    """For the organizers; None where owners are shown or revealed, and before there is a final."""
    rules = contest.rules
    publication = rules.publication
    if publication.owners == "shown" or contest.row.revealed_at is not None:
        return None
    _, question = asked(session, contest)
    if not question.finals:
        return None
    found = sorted(numbers(question, publication.digits))
    fewer = {digits: min(numbers(question, digits)) for digits in reversed(range(publication.digits))}
    return Anonymity(
        teams=len(question.limits),
        digits=publication.digits,
        at_least=publication.owners_at_least,
        numbers=tuple(found),
        coarser={digits: least for digits, least in fewer.items() if least > found[0]},
    )


def publish(session: Session, competition_id: UUID) -> bool:
    """Make targets available that wait for it, if each has as many possible owners as the file asks for.

    False: one has fewer, so that they wait for the organizers.
    """
    row = transitions.locked(session, competition_id)
    if not transitions.awaits_owners(row):
        return True
    found = anonymity(session, Contest(row))
    return not (found and found.few) and transitions.publish(session, competition_id)


@lru_cache(maxsize=64)
def numbers(question: Question, digits: int) -> tuple[int, ...]:
    """Of each final, how many teams it could be of; of a board that only organizers see, all."""
    if question.hidden_board:
        return (len(question.limits),) * len(question.finals)
    found = possible_owners(question.finals, dict(enumerate(question.limits)), digits)
    return tuple(map(len, found))


def asked(session: Session, contest: Contest) -> tuple[list[UUID], Question]:
    """The submissions that are targets, or would be, and the question about them, in the same order."""
    rules, track = contest.rules, contest.track
    found = [one for one in in_force.finished(session, contest.row, ALWAYS) if not one.baseline]
    scored = [one for one in found if one.state == State.SCORED]
    numbered = verdicts.numbers_of(session, [one.ending for one in scored])
    known = comparable(numbered, rules.scored_by)
    accepted = [one for one in scored if one.evaluation_id in known]
    taken = finals_of(session, contest.row)
    chosen = [one for one in accepted if one.submission_id in taken]
    seen = seen_of(accepted, known) | bests(chosen, known)
    teams = sorted({one.team_id for one in chosen})
    asked_about = tuple(
        final_of(one, known[one.evaluation_id], rules, track, teams, seen=one.submission_id in seen)
        for one in chosen
    )
    entries = Counter(one.team_id for one in found)
    limits = tuple(min(rules.ranking.finals, entries[team]) for team in teams)
    hidden = rules.publication.board == "organizers"
    return [one.submission_id for one in chosen], Question(asked_about, limits, hidden)


def finals_of(session: Session, row: Competition) -> set[UUID]:
    if row.frozen_at is None:
        return {submission.id for submission in candidates.chosen(session, row)}
    return set(session.scalars(select(Target.submission_id).where(Target.competition_id == row.id)))


def bests(chosen: Iterable[Finished], known: dict[UUID, Numbers]) -> set[UUID]:
    """Of each team the final that is its row."""
    ordered = sorted(chosen, key=lambda one: (known[one.evaluation_id].overall, *one.place), reverse=True)
    return set({one.team_id: one.submission_id for one in ordered}.values())


def seen_of(accepted: Sequence[Finished], known: dict[UUID, Numbers]) -> set[UUID]:
    """What was its team's row once: better than all of the team that had been scored before it."""
    best: dict[UUID, float] = {}
    seen = set()
    for one in sorted(accepted, key=lambda each: (each.ended_at or EARLIEST, each.place)):
        overall = known[one.evaluation_id].overall
        if one.team_id not in best or overall < best[one.team_id]:
            best[one.team_id] = overall
            seen.add(one.submission_id)
    return seen


def final_of(
    one: Finished, found: Numbers, rules: Rules, track: Track, teams: Sequence[UUID], *, seen: bool
) -> Final:
    return Final(
        team=teams.index(one.team_id),
        computed=computed(
            rules,
            track,
            values=found.measures,
            rounding=found.rounding,
            bounds=found.bounds,
            utility=found.utility,
            reach=found.reach,
        ),
        scores=Scores(found.overall, found.utility, found.security),
        seen=seen,
    )
