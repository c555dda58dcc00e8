"""Entries of releases on a board: the best of each team, and the scores that rank."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.evaluation.ranking import compute_overall_loss
from anoncup.formulas.ranks import sort_for_board
from anoncup.rules.model import Rules
from app.boards.facts import FinishedRelease
from app.boards.formula_values import FormulaInputs, ReleaseNumbers, compute_defence
from app.boards.verdicts import VerdictNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A finished release with the risk that guesses of other teams found in it (``rival_risk``).

    Without ``numbers`` it cannot represent its team. ``security`` is the larger of ``rival_risk`` and the
    risk that built-in attackers found. A team is represented by its entry with the lowest ``loss``:
    ``overall``, or the value of a formula that compares no teams. ``score`` is the value of the formula or
    function that ranks.
    """

    release: FinishedRelease
    numbers: VerdictNumbers | None = None
    rival_risk: float | None = None
    security: float | None = None
    overall: float | None = None
    loss: float | None = None
    score: float | None = None
    parts: str | None = None
    """How a ranking function of a package says that the score came about."""

    @property
    def utility(self) -> float | None:
        return self.numbers.utility if self.numbers else None


def build_entry(release: FinishedRelease, numbers: VerdictNumbers | None, rival_risk: float | None) -> Entry:
    if numbers is None:
        return Entry(release=release)
    security = max(numbers.security, rival_risk or 0.0)
    overall = compute_overall_loss(numbers.utility, security)
    return Entry(
        release=release,
        numbers=numbers,
        rival_risk=rival_risk,
        security=security,
        overall=overall,
        loss=overall,
    )


def choose_lowest(entries: Iterable[Entry]) -> Entry:
    """Return the entry of a team with the lowest loss, the one received first among equals.

    An entry that does not count is returned only if none counts.
    """
    received = sorted(entries, key=get_receipt)
    return received[sort_for_board([entry.loss for entry in received])[0]]


def get_receipt(entry: Entry) -> tuple[datetime, UUID]:
    return entry.release.received_at, entry.release.submission_id


def apply_formula(rules: Rules, entries: Sequence[Entry], inputs: FormulaInputs) -> Sequence[Entry]:
    """Return the entries with their scores, and with their losses if the formula compares no teams.

    Baselines do not take part in comparisons.
    """
    if rules.ranking.is_by_overall:
        return entries
    is_comparison = compares_teams(rules)
    releases = [
        ReleaseNumbers(
            entry.release.submission_id, entry.release.team_id, entry.numbers, entry.security or 0.0
        )
        for entry in entries
        if entry.numbers is not None and not (is_comparison and entry.release.is_baseline)
    ]
    values = compute_defence(rules, releases, inputs)
    scores = {release.submission_id: value for release, value in zip(releases, values, strict=True)}
    scored = [replace(entry, score=scores.get(entry.release.submission_id)) for entry in entries]
    return scored if is_comparison else [replace(entry, loss=to_loss(rules, entry.score)) for entry in scored]


def to_loss(rules: Rules, score: float | None) -> float | None:
    """Return a score as a loss, which is lowest first."""
    is_descending = not rules.ranking.is_by_overall and rules.ranking.order == "descending"
    return -score if score is not None and is_descending else score


@dataclass
class ComparedEntries:
    """The best entry of each team, and the same with the score by a formula that compares teams."""

    best: dict[UUID, Entry] = field(default_factory=dict)
    scored: dict[UUID, Entry] = field(default_factory=dict)

    def score(self, rules: Rules, best: Sequence[Entry], inputs: FormulaInputs) -> Sequence[Entry]:
        """Return the best entries of these teams with their scores; those of all if one of them is new.

        An entry is replaced whenever its score may change, so the same object means that nothing has.
        """
        if all(self.best.get(entry.release.team_id) is entry for entry in best):
            return [self.scored[entry.release.team_id] for entry in best]
        self.best |= {entry.release.team_id: entry for entry in best}
        scored = apply_formula(rules, list(self.best.values()), inputs)
        self.scored = {entry.release.team_id: entry for entry in scored}
        return scored
