"""The state of the anonymization board while events are folded into it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from typing import NamedTuple
from uuid import UUID

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.plugins import TRACKS
from app.boards.entries import ComparedEntries, Entry, apply_formula, build_entry, choose_lowest
from app.boards.events import Event, TargetPublication
from app.boards.facts import EarlierScore, FinishedRelease, JudgedGuess, RoundFacts, TeamAdjustment
from app.boards.formula_values import FormulaInputs, RisksByQuestion
from app.boards.function_ranking import BoardRanker, build_ranking_board


class ComputedStanding(NamedTuple):
    """A team's standing on the anonymization board, see ``app.core.db.models.Standing``."""

    team_id: UUID
    submission_id: UUID
    entries: int
    utility: float | None
    security: float | None
    overall: float | None
    rival_risk: float | None
    score: float | None
    parts: str | None


@dataclass
class ReleaseBoard:
    """The best release of each team, by the rules of the round, in one of three ways.

    - By a formula over one team's numbers (or ``overall``): an event gives the entries that it concerns their
      losses, and the best release is the one with the lowest.
    - By a formula that compares teams: the best release is the one with the lowest ``overall``. The formula
      ranks these, whenever one of them changes (``compared``).
    - By the function of a package (``ranker``): it gets all entries and chooses the release of each team.

    ``entries`` are by team and submission. Once targets are published, only these and baselines are compared.
    """

    facts: RoundFacts
    ranker: BoardRanker | None = None
    is_published: bool = field(init=False, default=False)
    entries: dict[UUID, dict[UUID, Entry]] = field(init=False, default_factory=lambda: defaultdict(dict))
    risks: dict[UUID, RisksByQuestion] = field(init=False, default_factory=dict)
    adjustments: dict[UUID, list[float]] = field(init=False, default_factory=lambda: defaultdict(list))
    guesses: list[JudgedGuess] = field(init=False, default_factory=list)
    compared: ComparedEntries = field(init=False, default_factory=ComparedEntries)
    earlier_scores: dict[tuple[str, UUID], EarlierScore] = field(init=False, default_factory=dict)

    @cached_property
    def _compares_teams(self) -> bool:
        return compares_teams(self.facts.rules)

    def apply(self, event: Event) -> Iterable[UUID]:
        match event:
            case FinishedRelease():
                self._update_entries([event])
                return [event.team_id]
            case JudgedGuess():
                self.guesses.append(event)
                return self._record_guess(event)
            case TeamAdjustment():
                self.adjustments[event.team_id].append(event.points)
                self._update_entries(
                    [entry.release for entry in self.entries.get(event.team_id, {}).values()]
                )
                return [event.team_id]
            case TargetPublication():
                self.is_published = True
                self._update_entries(
                    [entry.release for by_id in self.entries.values() for entry in by_id.values()]
                )
                return list(self.entries)
            case EarlierScore():
                self.earlier_scores[event.round, event.team_id] = event
                return []  # only functions read them, which rank all teams at any event
            case _:
                return []

    def _record_guess(self, guess: JudgedGuess) -> Iterable[UUID]:
        """Record the risk that a guess found. A smaller one than another guess found changes no score."""
        owner_id = self.facts.targets[guess.submission_id].team_id
        by_team = self.risks.setdefault(guess.submission_id, {}).setdefault(guess.question, {})
        is_largest = guess.risk > max(by_team.values(), default=-1.0)
        by_team[guess.team_id] = max(guess.risk, by_team.get(guess.team_id, 0.0))
        if is_largest and (entry := self.entries.get(owner_id, {}).get(guess.submission_id)):
            self._update_entries([entry.release])
        return [owner_id] if is_largest or self.facts.rules.ranking.function is not None else []

    def _update_entries(self, releases: Sequence[FinishedRelease]) -> None:
        """Replace the entries of these releases by new ones, which have the losses of this moment."""
        entries: Sequence[Entry] = [self._build_entry(release) for release in releases]
        if not self._compares_teams:
            entries = apply_formula(self.facts.rules, entries, self._collect_inputs())
        for entry in entries:
            self.entries[entry.release.team_id][entry.release.submission_id] = entry

    def _collect_inputs(self) -> FormulaInputs:
        return FormulaInputs(self.risks, {team: fsum(points) for team, points in self.adjustments.items()})

    def compute(self, team_ids: Collection[UUID]) -> Iterable[ComputedStanding]:
        if self.facts.rules.ranking.function is not None:
            return map(self._build_standing, self._rank_by_function())
        best: Sequence[Entry] = [
            choose_lowest(self.entries[team_id].values()) for team_id in team_ids if self.entries.get(team_id)
        ]
        if self._compares_teams:
            best = self.compared.score(self.facts.rules, best, self._collect_inputs())
        return map(self._build_standing, best)

    def _rank_by_function(self) -> Iterator[Entry]:
        """Yield the entry of each team that the function chose, or that with the lowest ``overall``."""
        entries = [entry for by_id in self.entries.values() for entry in by_id.values()]
        if not entries:
            return
        board = build_ranking_board(
            self.facts,
            entries,
            self.guesses,
            self.adjustments,
            self.earlier_scores.values(),
            is_published=self.is_published,
        )
        results = {UUID(result.team): result for result in self.ranker(board)} if self.ranker else {}
        for team_id, by_id in self.entries.items():
            best, result = choose_lowest(by_id.values()), results.get(team_id)
            if result is None:
                yield best
            else:
                chosen = by_id.get(UUID(result.submission), best) if result.submission else best
                yield replace(chosen, score=result.score if chosen.numbers else None, parts=result.text)

    def _build_entry(self, release: FinishedRelease) -> Entry:
        """Return a release with the risk that guesses found in it."""
        counts = not self.is_published or release.is_baseline or release.submission_id in self.facts.targets
        return build_entry(
            release, release.numbers if counts else None, self._find_rival_risk(release.submission_id)
        )

    def _find_rival_risk(self, submission_id: UUID) -> float | None:
        if submission_id not in self.risks:
            return None
        rules = self.facts.rules
        largest = {question: max(by_team.values()) for question, by_team in self.risks[submission_id].items()}
        return TRACKS[rules.track].combine_risks(largest, rules)

    def _build_standing(self, entry: Entry) -> ComputedStanding:
        return ComputedStanding(
            team_id=entry.release.team_id,
            submission_id=entry.release.submission_id,
            entries=len(self.entries[entry.release.team_id]),
            utility=entry.utility,
            security=entry.security,
            overall=entry.overall,
            rival_risk=entry.rival_risk,
            score=entry.overall if self.facts.rules.ranking.is_by_overall else entry.score,
            parts=entry.parts,
        )
