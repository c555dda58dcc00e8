"""The state of the anonymization board while events are folded into it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.plugins import TRACKS
from app.boards.entries import (
    Entry,
    RisksByQuestion,
    apply_formula,
    build_entry,
    choose_lowest,
)
from app.boards.facts import Event, FinishedRelease, JudgedGuess, TargetPublication, TeamAdjustment
from app.boards.function_ranking import BoardState
from app.core.db.models import Series


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
class ReleaseBoard(BoardState[ComputedStanding]):
    """The best release of each team, by the rules of the round, in one of three ways.

    - By a formula over one team's numbers (or ``overall``): an event gives the entries that it concerns their
      losses, and the best release is the one with the lowest.
    - By a formula that compares teams: the best release is the one with the lowest ``overall``. The formula
      ranks these (``compared``) whenever one of them changes (``best``).
    - By the function of a package (``ranker``): it gets all entries and chooses the release of each team.

    ``entries`` are by team and submission. Once targets are published, only these and baselines are compared.
    """

    is_published: bool = field(init=False, default=False)
    entries: dict[UUID, dict[UUID, Entry]] = field(init=False, default_factory=lambda: defaultdict(dict))
    risks: dict[UUID, RisksByQuestion] = field(init=False, default_factory=dict)
    best: dict[UUID, Entry] = field(init=False, default_factory=dict)
    compared: dict[UUID, Entry] = field(init=False, default_factory=dict)

    @cached_property
    def _compares_teams(self) -> bool:
        return compares_teams(self.facts.rules)

    def list_events(self, series: Series) -> list[Event]:
        facts = self.facts
        publication = [TargetPublication(facts.published_at)] if facts.published_at else []
        guesses = facts.list_guesses(series)
        return [*facts.releases, *publication, *guesses, *facts.adjustments, *facts.earlier_releases]

    def apply(self, event: Event) -> Iterable[UUID]:
        team_ids = super().apply(event)
        match event:
            case FinishedRelease():
                self._update_entries([event])
                return [event.team_id]
            case JudgedGuess():
                return self._record_guess(event)
            case TeamAdjustment():
                entries = self.entries.get(event.team_id, {}).values()
                self._update_entries([entry.release for entry in entries])
            case TargetPublication():
                self.is_published = True
                self._update_entries([entry.release for entry in self._list_entries()])
                return list(self.entries)
        return team_ids

    def _list_entries(self) -> list[Entry]:
        return [entry for by_id in self.entries.values() for entry in by_id.values()]

    def _record_guess(self, guess: JudgedGuess) -> Iterable[UUID]:
        """Record the risk that a guess found. A smaller one than another guess found changes no score."""
        owner_id = self.facts.targets[guess.submission_id].team_id
        by_team = self.risks.setdefault(guess.submission_id, {}).setdefault(guess.question, {})
        is_largest = guess.risk > max(by_team.values(), default=-1.0)
        by_team[guess.team_id] = max(guess.risk, by_team.get(guess.team_id, 0.0))
        if is_largest and (entry := self.entries.get(owner_id, {}).get(guess.submission_id)):
            self._update_entries([entry.release])
        return [owner_id] if is_largest or self.ranker else []

    def _update_entries(self, releases: Sequence[FinishedRelease]) -> None:
        """Replace the entries of these releases by new ones, which have the losses of this moment."""
        entries: Sequence[Entry] = [self._build_entry(release) for release in releases]
        if not self._compares_teams:
            entries = self._apply_formula(entries)
        for entry in entries:
            self.entries[entry.release.team_id][entry.release.submission_id] = entry

    def _apply_formula(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        adjustments = self.sum_adjustments()
        return apply_formula(self.facts.rules, entries, adjustments=adjustments, risks=self.risks)

    def compute(self, team_ids: Collection[UUID]) -> Iterable[ComputedStanding]:
        if self.facts.rules.ranking.function is not None:
            return map(self._build_standing, self._iter_chosen())
        best = {
            team_id: choose_lowest(self.entries[team_id].values())
            for team_id in team_ids
            if self.entries.get(team_id)
        }
        return map(self._build_standing, self._compare(best) if self._compares_teams else best.values())

    def _compare(self, best: dict[UUID, Entry]) -> Iterable[Entry]:
        """Return the best entries of these teams with their scores; those of all if one of them is new.

        An entry is replaced whenever its score may change, so the same object means that nothing has.
        """
        if all(self.best.get(team_id) is entry for team_id, entry in best.items()):
            return [self.compared[team_id] for team_id in best]
        self.best |= best
        scored = self._apply_formula(list(self.best.values()))
        self.compared = {entry.release.team_id: entry for entry in scored}
        return scored

    def _iter_chosen(self) -> Iterator[Entry]:
        """Yield the entry of each team that the function chose, or that with the lowest ``overall``."""
        entries = self._list_entries()
        results = self.rank_by_function(entries, is_published=self.is_published) if entries else {}
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
        rules, rival_risks = self.facts.rules, self.risks.get(release.submission_id)
        largest = {question: max(by_team.values()) for question, by_team in (rival_risks or {}).items()}
        rival_risk = TRACKS[rules.track].combine_risks(largest, rules) if rival_risks else None
        return build_entry(release, release.numbers if counts else None, rival_risk)

    def _build_standing(self, entry: Entry) -> ComputedStanding:
        team_id = entry.release.team_id
        return ComputedStanding(
            team_id=team_id,
            submission_id=entry.release.submission_id,
            entries=len(self.entries[team_id]) + self.facts.omitted.get(team_id, 0),
            utility=entry.utility,
            security=entry.security,
            overall=entry.overall,
            rival_risk=entry.rival_risk,
            score=entry.overall if self.facts.rules.ranking.is_by_overall else entry.score,
            parts=entry.parts,
        )
