"""The anonymization board while things happen to it, one after the other."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.evaluation.ranking import rank_sums, ranks
from anoncup.rules.model import Rules
from app.db.models import State, Target
from app.services.boards import anonymization, best_guesses, effective_evaluations, entries, verdicts
from app.services.boards.best_guesses import Together
from app.services.boards.board_events import Begins, Ends, Found, Happening, Published, Replaced
from app.services.boards.effective_evaluations import Finished
from app.services.boards.entries import Entry
from app.services.boards.verdicts import Numbers
from app.services.boards.version_filter import by_rules
from app.services.contests.visibility import Sight

Place = tuple[bool, float, datetime, UUID, UUID]
"""The order of a team's best, and the team."""


@dataclass
class Course:
    """``standing``: what has been scored, by team and submission; ``found``: what was found in a submission,
    by question and team; ``order``: the bests that have a rank, in the order of ``Entry.order``."""

    rules: Rules
    numbers: Mapping[UUID, Numbers]
    finals: frozenset[UUID]
    finals_only: bool = False
    standing: dict[UUID, dict[UUID, Finished]] = field(default_factory=dict)
    found: dict[UUID, dict[str, dict[UUID, float]]] = field(default_factory=dict)
    bests: dict[UUID, Entry] = field(default_factory=dict)
    order: list[Place] = field(default_factory=list)
    teams: dict[UUID, UUID] = field(default_factory=dict)
    sums: dict[UUID, int] | None = None
    counted: dict[UUID, Numbers | None] = field(default_factory=dict)
    together: Together = field(init=False)

    def __post_init__(self) -> None:
        self.together = best_guesses.together(self.rules)

    @classmethod
    def begin(cls, session: Session, sight: Sight) -> "Course":
        """Before anything has happened."""
        row = sight.contest.row
        (_, rules), *_ = effective_evaluations.eras(session, sight.contest)
        endings = [one.finished.ending for one in effective_evaluations.stays(session, row)]
        finals = session.scalars(select(Target.submission_id).where(Target.competition_id == row.id))
        return cls(rules, verdicts.numbers_of(session, endings), frozenset(finals))

    def after(self, together: Sequence[Happening]) -> set[UUID]:
        """What happens at once; the teams whose best has changed."""
        touched = {team for one in together for team in self.take(one.what)}
        return {team for team in touched if self.choose(team)}

    def take(self, what: object) -> Iterable[UUID]:
        """One of it; the teams that it may concern."""
        match what:
            case Begins(one):
                self.standing.setdefault(one.team_id, {})[one.submission_id] = one
                self.teams[one.submission_id] = one.team_id
                return [one.team_id]
            case Ends(one):
                held = self.standing[one.team_id]
                if held.get(one.submission_id) is one:
                    del held[one.submission_id]
                return [one.team_id]
            case Found(submission, question, team, risk):
                risks = self.found.setdefault(submission, {}).setdefault(question, {})
                risks[team] = max(risk, risks.get(team, 0.0))
                return [self.teams[submission]] if submission in self.teams else []
            case Replaced(rules):
                self.rules, self.together = rules, best_guesses.together(rules)
                self.counted.clear()
            case Published():
                self.finals_only = True
        return list(self.standing)

    def choose(self, team: UUID) -> bool:
        """The team's best anew; whether it is another."""
        before = self.bests.get(team)
        best = min(map(self.entry, self.standing[team].values()), key=lambda one: one.order, default=None)
        if best == before:
            return False
        self.sums = None
        if before is not None:
            del self.bests[team]
            if is_ranked(before):
                del self.order[bisect_left(self.order, (*before.order, team))]
        if best is not None:
            self.bests[team] = best
            if is_ranked(best):
                insort(self.order, (*best.order, team))
        return True

    def entry(self, one: Finished) -> Entry:
        counts = one.state == State.SCORED
        if self.finals_only:
            counts = counts and (one.baseline or one.submission_id in self.finals)
        numbers = self.counting(one.evaluation_id) if counts else None
        return entries.entry(one, numbers, self.rivals(one.submission_id))

    def counting(self, evaluation: UUID) -> Numbers | None:
        """Its numbers by what counts, asked again and again while what was found in it changes."""
        if evaluation not in self.counted:
            numbers = self.numbers.get(evaluation)
            by = self.rules.scored_by
            self.counted[evaluation] = by_rules(numbers, by) if numbers is not None and by else numbers
        return self.counted[evaluation]

    def rivals(self, submission: UUID) -> float | None:
        """What the guesses on it found, by the questions that the rules ask."""
        if submission not in self.found:
            return None
        found = self.found[submission].items()
        return self.together({name: sorted(by.values(), reverse=True) for name, by in found})

    def best(self, team: UUID) -> Entry | None:
        return self.bests.get(team)

    @property
    def ranked(self) -> int:
        return len(self.order)

    def rank(self, team: UUID) -> int | None:
        best = self.bests.get(team)
        if best is None or not is_ranked(best):
            return None
        if self.rules.ranking.rule == "rank_sum":
            return self.by_sum()[team]
        return bisect_left(self.order, best.order[:2]) + 1

    def first(self, number: int) -> list[tuple[UUID, int]]:
        """The first, and their ranks, in the order of the board."""
        if self.rules.ranking.rule == "rank_sum":
            return list(self.by_sum().items())[:number]
        teams = [team for *_, team in self.order[:number]]
        return [(team, self.rank(team) or 0) for team in teams]

    def by_sum(self) -> dict[UUID, int]:
        """The ranks where they are added up, in the order of the board: every best counts for all."""
        if self.sums is None:
            chosen = sorted(filter(is_ranked, self.bests.values()), key=lambda one: one.finished.place)
            compared = [anonymization.compared(self.rules, one) for one in chosen]
            places = ranks(rank_sums(compared, rounding=anonymization.rounding(chosen)))
            teams = zip((one.finished.team_id for one in chosen), places, strict=True)
            self.sums = dict(sorted(((team, rank or 0) for team, rank in teams), key=lambda one: one[1]))
        return self.sums


def is_ranked(entry: Entry) -> bool:
    return entry.overall is not None and not entry.finished.baseline
