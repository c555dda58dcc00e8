"""The state of the re-identification board while events are folded into it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import fsum
from typing import NamedTuple
from uuid import UUID

from anoncup.formulas.syntax import Formula
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from app.boards import entries
from app.boards.events import Event
from app.boards.facts import BoardTarget, EarlierScore, JudgedGuess, RoundFacts, TeamAdjustment
from app.boards.formula_values import AttackNumbers, compute_attack
from app.boards.function_ranking import BoardRanker, build_ranking_board


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
class AttackBoard:
    """The attacks of each team, and what formulas and functions read besides.

    ``adjustments`` are penalties and bonuses by team. A function of a package (``ranker``) gets all
    ``guesses`` and ranks all teams.
    """

    facts: RoundFacts
    ranker: BoardRanker | None = None
    attacks: dict[UUID, TeamAttacks] = field(init=False, default_factory=dict)
    guesses: list[JudgedGuess] = field(init=False, default_factory=list)
    adjustments: dict[UUID, list[float]] = field(init=False, default_factory=lambda: defaultdict(list))
    earlier_scores: dict[tuple[str, UUID], EarlierScore] = field(init=False, default_factory=dict)

    def apply(self, event: Event) -> Iterable[UUID]:
        match event:
            case JudgedGuess():
                self.guesses.append(event)
                attacks = self.attacks.setdefault(event.team_id, TeamAttacks(event.received_at))
                attacks.add(event, self.facts.targets[event.submission_id], self.facts.rules)
                return [event.team_id]
            case TeamAdjustment():
                self.adjustments[event.team_id].append(event.points)
                return [event.team_id]
            case EarlierScore():
                self.earlier_scores[event.round, event.team_id] = event
                return []  # only functions read them, which rank all teams at any event
            case _:
                return []

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
        numbers = [
            AttackNumbers(
                team_id=standing.team_id,
                identified=standing.identified,
                risks=[
                    self.attacks[standing.team_id].find_largest_risk(target.submission_id)
                    for target in self.facts.targets.values()
                    if target.team_id != standing.team_id
                ],
            )
            for standing in standings
        ]
        adjustments = {team_id: fsum(points) for team_id, points in self.adjustments.items()}
        scores = compute_attack(formula, numbers, adjustments)
        return [standing._replace(score=score) for standing, score in zip(standings, scores, strict=True)]

    def _rank_by_function(self) -> list[ComputedAttackStanding]:
        if not self.guesses:
            return []
        targets = [
            entries.build_entry(release, release.numbers, None)
            for release in self.facts.releases
            if release.submission_id in self.facts.targets
        ]
        board = build_ranking_board(
            self.facts,
            targets,
            self.guesses,
            self.adjustments,
            self.earlier_scores.values(),
            is_published=True,
        )
        results = {UUID(result.team): result for result in self.ranker(board)} if self.ranker else {}
        return [
            self._compute_standing(team_id)._replace(score=result.score, parts=result.text)
            for team_id in self.attacks
            if (result := results.get(team_id)) is not None
        ]

    def _compute_standing(self, team_id: UUID) -> ComputedAttackStanding:
        rules = self.facts.rules
        if TRACKS[rules.track].asks_identity(rules):
            return self._count_individuals(team_id, self.attacks[team_id])
        return self._add_risks(team_id, self.attacks[team_id])

    def _count_individuals(self, team_id: UUID, attacks: TeamAttacks) -> ComputedAttackStanding:
        """Count the individuals that the best guess on each target identified."""
        identified, tried = sum(attacks.identified.values()), sum(attacks.tried.values())
        return ComputedAttackStanding(
            team_id=team_id,
            targets=len(attacks.identified),
            rate=identified / tried,
            identified=identified,
            tried=tried,
            by_question=None,
            first_guess_at=attacks.first_guess_at,
            score=float(identified),
        )

    def _add_risks(self, team_id: UUID, attacks: TeamAttacks) -> ComputedAttackStanding:
        """Add up the risks of the best guess on each target."""
        score, target_count = fsum(attacks.combined.values()), len(attacks.combined)
        questions = TRACKS[self.facts.rules.track].select_questions(self.facts.rules)
        return ComputedAttackStanding(
            team_id=team_id,
            targets=target_count,
            rate=score / target_count,
            identified=None,
            tried=None,
            by_question={
                name: fsum(attacks.risks.get(name, {}).values()) / target_count for name in questions
            },
            first_guess_at=attacks.first_guess_at,
            score=score,
        )
