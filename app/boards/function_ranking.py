"""What each board keeps of events, and what ranking functions of packages read of it."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Generic, TypeVar
from uuid import UUID

from anoncup.competition.ranking_formulas import list_counting_attackers
from anoncup.plugins import TRACKS
from anoncup.tracks.ranking_board import BoardAttack, BoardSubmission, Ranked, RankingBoard
from app.boards.entries import Entry, get_receipt
from app.boards.facts import BoardTarget, EarlierScore, Event, JudgedGuess, RoundFacts, TeamAdjustment
from app.core.db.models import Series

StandingT = TypeVar("StandingT")
BoardRanker = Callable[[RankingBoard], Sequence[Ranked]]
"""Runs a ranking function of a package in the sandbox (``anoncup.tracks.ranking_board``)."""


@dataclass
class BoardState(ABC, Generic[StandingT]):
    """The guesses, penalties and earlier scores so far; ``adjustments`` are by team.

    ``ranker``: the ranking function of a package, if the rules name one for this board.
    """

    facts: RoundFacts
    ranker: BoardRanker | None = None
    guesses: list[JudgedGuess] = field(init=False, default_factory=list)
    adjustments: dict[UUID, list[float]] = field(init=False, default_factory=lambda: defaultdict(list))
    earlier_scores: dict[tuple[str, UUID], EarlierScore] = field(init=False, default_factory=dict)

    @abstractmethod
    def list_events(self, series: Series) -> list[Event]:
        """Return what changes the board, in any order."""

    @abstractmethod
    def compute(self, team_ids: Collection[UUID]) -> Iterable[StandingT]:
        """Return the standings of these teams, or of all if each depends on the others."""

    def apply(self, event: Event) -> Iterable[UUID]:
        """Take an event into account, and return the teams whose standing may have changed.

        The state depends on the events alone, not on what has been computed in between: a fold may begin at
        any moment.
        """
        match event:
            case JudgedGuess():
                self.guesses.append(event)
                return [event.team_id]
            case TeamAdjustment():
                self.adjustments[event.team_id].append(event.points)
                return [event.team_id]
            case EarlierScore():
                self.earlier_scores[event.round, event.team_id] = event
        return []  # only functions read earlier scores, and they rank all teams at any event

    def sum_adjustments(self) -> dict[UUID, float]:
        return {team_id: fsum(points) for team_id, points in self.adjustments.items()}

    def rank_by_function(self, entries: Iterable[Entry], *, is_published: bool) -> dict[UUID, Ranked]:
        """Return what the function says of each team on a board of these releases and the attacks on them.

        ``is_published``: whether the targets were published at its moment.
        """
        if self.ranker is None:
            return {}
        team_ids = {guess.team_id for guess in self.guesses} | {entry.release.team_id for entry in entries}
        accepted = sorted((entry for entry in entries if entry.numbers is not None), key=get_receipt)
        targets = self.facts.targets if is_published else {}
        board = RankingBoard(
            teams=tuple(str(team.id) for team in self.facts.teams if team.id in team_ids),
            submissions=tuple(
                _build_submission(entry, place, targets.get(entry.release.submission_id))
                for place, entry in enumerate(accepted)
            ),
            attacks=(
                *_merge_guesses(self.facts, self.guesses),
                *_iter_built_in_attacks(self.facts, accepted),
            ),
            penalties={str(team_id): 0.0 - points for team_id, points in self.sum_adjustments().items()},
            earlier_rounds=_group_by_round(self.earlier_scores.values()),
        )
        return {UUID(result.team): result for result in self.ranker(board)}


def _group_by_round(scores: Iterable[EarlierScore]) -> dict[str, dict[str, float]]:
    by_round: dict[str, dict[str, float]] = {}
    for earlier in scores:
        if earlier.score is not None:
            by_round.setdefault(earlier.round, {})[str(earlier.team_id)] = earlier.score
    return by_round


def _build_submission(entry: Entry, place: int, target: BoardTarget | None) -> BoardSubmission:
    release, numbers = entry.release, entry.numbers
    return BoardSubmission(
        id=str(release.submission_id),
        team=str(release.team_id),
        received=place,
        utility=entry.utility or 0.0,
        security=entry.security or 0.0,
        overall=entry.overall or 0.0,
        measures=dict(numbers.measures) if numbers else {},
        rows=target.individual_count if target else None,
        is_target=target is not None,
    )


def _merge_guesses(facts: RoundFacts, guesses: Iterable[JudgedGuess]) -> Iterator[BoardAttack]:
    """Yield one cell for all guesses of a team on a target with one question."""
    cells: Mapping[tuple[UUID, str, UUID], list[JudgedGuess]] = defaultdict(list)
    for guess in guesses:
        cells[guess.submission_id, guess.question, guess.team_id].append(guess)
    counts_individuals = TRACKS[facts.rules.track].asks_identity(facts.rules)
    for (submission_id, question, team_id), trials in cells.items():
        yield BoardAttack(
            submission=str(submission_id),
            question=question,
            attacker=str(team_id),
            risk=max(guess.risk for guess in trials),
            correct=max(guess.correct for guess in trials) if counts_individuals else None,
            trials=len(trials),
        )


def _iter_built_in_attacks(facts: RoundFacts, entries: Iterable[Entry]) -> Iterator[BoardAttack]:
    track, counting = TRACKS[facts.rules.track], list_counting_attackers(facts.rules)
    questions = track.select_questions(facts.rules)
    for release, numbers in ((entry.release, entry.numbers) for entry in entries):
        if numbers is None:
            continue
        for name in numbers.attackers:
            for question in numbers.risks.get(name, track.attackers[name].questions):
                if question in questions:
                    yield BoardAttack(
                        submission=str(release.submission_id),
                        question=question,
                        attacker=name,
                        risk=numbers.find_risk(name, question),
                        correct=numbers.correct.get(name),
                        is_built_in=True,
                        counts=name in counting,
                    )
