"""Ranking of the anonymization board: a pure function of the entries of each team and the rules."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.evaluation.ranking import compute_overall_loss
from anoncup.formulas.ranks import compute_ranks, sort_for_board
from anoncup.rules.model import Rules
from app.services.boards.formula_values import FormulaInputs, ReleaseNumbers, compute_defence
from app.services.boards.source import FinishedEvaluation
from app.services.boards.verdicts import VerdictNumbers


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """A finished submission with the risk found by rivals.

    ``numbers`` is None if the submission cannot represent its team on the board. The board puts the lowest
    ``loss`` first: ``overall``, or the value of the formula, negated if the highest is the best.
    """

    evaluation: FinishedEvaluation
    numbers: VerdictNumbers | None
    rival_risk: float | None
    security: float | None
    overall: float | None
    loss: float | None

    @property
    def utility(self) -> float | None:
        return self.numbers.utility if self.numbers else None

    @property
    def sort_key(self) -> tuple[bool, float, datetime, UUID]:
        """Sort key: lowest loss first, earlier receipt among equals, entries that do not count last."""
        return self.loss is None, self.loss or 0.0, *self.evaluation.receipt_order


@dataclass(frozen=True, slots=True)
class RankedEntry:
    """The best entry of a team with its rank, and the value of the formula.

    Baselines and entries that do not count have no rank. ``score`` is None without a formula, too.
    """

    entry: BoardEntry
    rank: int | None
    score: float | None


def build_entry(
    evaluation: FinishedEvaluation, numbers: VerdictNumbers | None, rival_risk: float | None
) -> BoardEntry:
    if numbers is None:
        return BoardEntry(evaluation, None, None, None, None, None)
    security = max(numbers.security, rival_risk or 0.0)
    overall = compute_overall_loss(numbers.utility, security)
    return BoardEntry(evaluation, numbers, rival_risk, security, overall, overall)


def rank_teams(
    rules: Rules, entries: Sequence[BoardEntry], inputs: FormulaInputs | None = None
) -> list[RankedEntry]:
    """Return the best entry of each team in the order of the board: by rank, then baselines, best first.

    The entry with the best value of the formula is a team's best. If the formula compares teams, it ranks
    those with the lowest ``overall``. ``inputs`` are needed for formulas only.
    """
    if inputs is None:
        return _rank_entries(rules, _select_best_per_team(entries))
    if compares_teams(rules):
        return _rank_entries(rules, _apply_formula(rules, _select_best_per_team(entries), inputs))
    return _rank_entries(rules, _select_best_per_team(_apply_formula(rules, entries, inputs)))


def _select_best_per_team(entries: Iterable[BoardEntry]) -> list[BoardEntry]:
    """Return the best entry of each team.

    An entry that does not count is used only for a team without any that counts.
    """
    entries_by_team: dict[UUID, list[BoardEntry]] = {}
    for entry in entries:
        entries_by_team.setdefault(entry.evaluation.team_id, []).append(entry)
    return [sort_entries(team_entries)[0] for team_entries in entries_by_team.values()]


def sort_entries(entries: Iterable[BoardEntry]) -> list[BoardEntry]:
    """Sort entries by loss. Ties are in order of receipt; entries that do not count are last."""
    received = sorted(entries, key=lambda entry: entry.evaluation.receipt_order)
    return [received[index] for index in sort_for_board([entry.loss for entry in received])]


def _apply_formula(rules: Rules, entries: Sequence[BoardEntry], inputs: FormulaInputs) -> list[BoardEntry]:
    """Return the entries with their losses under the formula. Baselines do not take part in comparisons."""
    releases = _list_releases(rules, entries)
    values = dict(zip(releases, compute_defence(rules, list(releases.values()), inputs), strict=True))
    return [
        replace(entry, loss=_orient(rules, values[entry.evaluation.submission_id]))
        if entry.evaluation.submission_id in values
        else entry
        for entry in entries
    ]


def _list_releases(rules: Rules, entries: Iterable[BoardEntry]) -> dict[UUID, ReleaseNumbers]:
    """Return the releases for which the formula has a value, by submission."""
    compares = compares_teams(rules)
    return {
        entry.evaluation.submission_id: ReleaseNumbers(
            entry.evaluation.submission_id, entry.evaluation.team_id, entry.numbers, entry.security or 0.0
        )
        for entry in entries
        if entry.numbers is not None and not (entry.evaluation.is_baseline and compares)
    }


def select_releases(rules: Rules, entries: Sequence[BoardEntry]) -> dict[UUID, ReleaseNumbers]:
    """Return the releases for which the board computes the formula, by submission."""
    return _list_releases(rules, _select_best_per_team(entries) if compares_teams(rules) else entries)


def find_score(rules: Rules, entry: BoardEntry) -> float | None:
    """Return the value of the formula; None without a formula, and for baselines if it compares teams."""
    if rules.ranking.rule == "score" or (entry.evaluation.is_baseline and compares_teams(rules)):
        return None
    return _orient(rules, entry.loss)


def find_ranking_score(rules: Rules, entry: BoardEntry) -> float | None:
    """Return the number that ranks: the value of the formula or, without a formula, the overall score."""
    return entry.overall if rules.ranking.rule == "score" else find_score(rules, entry)


def compute_losses(
    rules: Rules, releases: Sequence[ReleaseNumbers], inputs: FormulaInputs
) -> list[float | None]:
    """Return the value of each release by which it is chosen among those of its team, lowest first."""
    if compares_teams(rules):
        return [compute_overall_loss(release.numbers.utility, release.security) for release in releases]
    return [_orient(rules, value) for value in compute_defence(rules, releases, inputs)]


def _orient(rules: Rules, value: float | None) -> float | None:
    """Return a score as a loss, or a loss as a score."""
    return -value if value is not None and rules.ranking.order == "descending" else value


def _rank_entries(rules: Rules, best_entries: Iterable[BoardEntry]) -> list[RankedEntry]:
    """Rank the best entries of the teams. Ties are ordered by receipt; entries without a rank follow."""
    sorted_entries = sort_entries(best_entries)
    competing = [entry for entry in sorted_entries if not entry.evaluation.is_baseline]
    baselines = [entry for entry in sorted_entries if entry.evaluation.is_baseline]
    ranks = [*compute_ranks([entry.loss for entry in competing]), *([None] * len(baselines))]
    return [
        RankedEntry(entry, rank, find_score(rules, entry))
        for entry, rank in zip([*competing, *baselines], ranks, strict=True)
    ]
