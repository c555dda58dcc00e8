"""The state of the re-identification board while events are folded into it."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import fsum
from typing import NamedTuple
from uuid import UUID

from anoncup.formulas.evaluation import TeamNumbers, evaluate_formula
from anoncup.formulas.syntax import Formula
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from app.boards.entries import build_entry, find_penalty, find_values
from app.boards.facts import BoardTarget, Event, JudgedGuess
from app.boards.function_ranking import BoardState
from app.core.db.models import Series


class ComputedAttackStanding(NamedTuple):
    """A team's standing on the re-identification board, see ``app.core.db.models.AttackStanding``.

    Tracks that count individuals set ``identified`` and ``tried``, whose quotient is ``rate``. In others
    ``rate`` is the mean risk over the targets that the team attacked, and ``by_question`` that of each
    question, where an unanswered one counts as 0. ``score`` ranks the team, and ``parts`` says how a ranking
    function of a package arrived at it.
    """

    team_id: UUID
    targets: int
    rate: float
    identified: int | None
    tried: int | None
    by_question: dict[str, float] | None
    first_guess_at: datetime
    score: float | None
    parts: str | None = None


@dataclass
class TeamAttacks:
    """The largest numbers that a team's guesses found on each target, also by different guesses.

    ``tried`` and ``identified`` are numbers of individuals by target, ``risks`` by question and target,
    ``combined`` by target over all questions.
    """

    first_guess_at: datetime
    tried: dict[UUID, int] = field(default_factory=dict)
    identified: dict[UUID, int] = field(default_factory=dict)
    risks: dict[str, dict[UUID, float]] = field(default_factory=lambda: defaultdict(dict))
    combined: dict[UUID, float] = field(default_factory=dict)

    def add(self, guess: JudgedGuess, target: BoardTarget, rules: Rules) -> None:
        target_id, by_target = guess.submission_id, self.risks[guess.question]
        self.tried[target_id] = target.individual_count
        self.first_guess_at = min(self.first_guess_at, guess.received_at)
        self.identified[target_id] = max(guess.correct, self.identified.get(target_id, 0))
        by_target[target_id] = max(guess.risk, by_target.get(target_id, 0.0))
        by_question = {name: risks[target_id] for name, risks in self.risks.items() if target_id in risks}
        self.combined[target_id] = TRACKS[rules.track].combine_risks(by_question, rules)

    def find_largest_risk(self, submission_id: UUID) -> float:
        """Return the largest risk found in a target with any question, 0 if it was not attacked."""
        return max((by_target.get(submission_id, 0.0) for by_target in self.risks.values()), default=0.0)


@dataclass
class AttackBoard(BoardState[ComputedAttackStanding]):
    """The attacks of each team. A function of a package (``ranker``) gets all guesses and ranks all teams."""

    attacks: dict[UUID, TeamAttacks] = field(init=False, default_factory=dict)

    def list_events(self, series: Series) -> list[Event]:
        facts = self.facts
        return [*facts.list_guesses(series), *facts.adjustments, *facts.earlier_attacks]

    def apply(self, event: Event) -> Iterable[UUID]:
        if isinstance(event, JudgedGuess):
            attacks = self.attacks.setdefault(event.team_id, TeamAttacks(event.received_at))
            attacks.add(event, self.facts.targets[event.submission_id], self.facts.rules)
        return super().apply(event)

    def compute(self, team_ids: Collection[UUID]) -> Iterable[ComputedAttackStanding]:
        ranking = self.facts.rules.ranking
        if ranking.attack_function is not None:
            return self._rank_by_function()
        if ranking.attack is not None and ranking.attack.compares_teams:
            team_ids = self.attacks.keys()
        standings = [self._compute_standing(team_id) for team_id in team_ids if team_id in self.attacks]
        return standings if ranking.attack is None else self._rank_by_formula(ranking.attack, standings)

    def _rank_by_formula(
        self, formula: Formula, standings: Sequence[ComputedAttackStanding]
    ) -> list[ComputedAttackStanding]:
        adjustments = self.sum_adjustments()
        numbers = [self._collect_numbers(standing, adjustments) for standing in standings]
        scores = find_values(evaluate_formula, formula, numbers)
        return [standing._replace(score=score) for standing, score in zip(standings, scores, strict=True)]

    def _collect_numbers(
        self, standing: ComputedAttackStanding, adjustments: Mapping[UUID, float]
    ) -> TeamNumbers:
        """Return the numbers of a team's attacks by their names in formulas."""
        team_id = standing.team_id
        risks = [
            self.attacks[team_id].find_largest_risk(target.submission_id)
            for target in self.facts.targets.values()
            if target.team_id != team_id
        ]
        return TeamNumbers(
            {
                "penalty": find_penalty(team_id, adjustments),
                "mean_per_target": fsum(risks) / len(risks) if risks else math.nan,
                "identified": float(standing.identified or 0),
            }
        )

    def _rank_by_function(self) -> list[ComputedAttackStanding]:
        targets = [
            build_entry(release, release.numbers)
            for release in self.facts.releases
            if release.submission_id in self.facts.targets
        ]
        results = self.rank_by_function(targets, is_published=True) if self.guesses else {}
        return [
            self._compute_standing(team_id)._replace(score=result.score, parts=result.text)
            for team_id in self.attacks
            if (result := results.get(team_id)) is not None
        ]

    def _compute_standing(self, team_id: UUID) -> ComputedAttackStanding:
        """Add up the individuals, or the risks, that the best guess on each target found."""
        rules, attacks = self.facts.rules, self.attacks[team_id]
        track, target_count = TRACKS[rules.track], len(attacks.combined)
        identified = tried = by_question = None
        if track.asks_identity(rules):
            identified, tried = sum(attacks.identified.values()), sum(attacks.tried.values())
            score, rate = float(identified), identified / tried
        else:
            score = fsum(attacks.combined.values())
            rate = score / target_count
            by_question = {
                name: fsum(attacks.risks.get(name, {}).values()) / target_count
                for name in track.select_questions(rules)
            }
        return ComputedAttackStanding(
            team_id=team_id,
            targets=target_count,
            rate=rate,
            identified=identified,
            tried=tried,
            by_question=by_question,
            first_guess_at=attacks.first_guess_at,
            score=score,
        )
