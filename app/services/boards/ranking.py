"""Ranking of the anonymization board: a pure function of the entries of each team and the rules."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from anoncup.evaluation.ranking import (
    compute_overall_loss,
    compute_rank_sums,
    compute_ranks,
    select_ranked_values,
    sort_for_board,
)
from anoncup.rules.model import Rules
from app.services.boards.source import FinishedEvaluation
from app.services.boards.verdicts import VerdictNumbers


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """A finished submission with the risk found by rivals.

    ``numbers`` is None if the submission cannot represent its team on the board.
    """

    evaluation: FinishedEvaluation
    numbers: VerdictNumbers | None
    rival_risk: float | None
    security: float | None
    overall: float | None

    @property
    def utility(self) -> float | None:
        return self.numbers.utility if self.numbers else None

    @property
    def sort_key(self) -> tuple[bool, float, datetime, UUID]:
        """Sort key: lowest overall first, earlier receipt among equals, entries that do not count last."""
        return self.overall is None, self.overall or 0.0, *self.evaluation.receipt_order


@dataclass(frozen=True, slots=True)
class RankedEntry:
    """The best entry of a team with its rank.

    ``rank_sum`` is None unless the board ranks by sums of ranks. Baselines and entries that do not count have
    no rank.
    """

    entry: BoardEntry
    rank: int | None
    rank_sum: float | None


def build_entry(
    evaluation: FinishedEvaluation, numbers: VerdictNumbers | None, rival_risk: float | None
) -> BoardEntry:
    if numbers is None:
        return BoardEntry(evaluation, None, None, None, None)
    security = max(numbers.security, rival_risk or 0.0)
    return BoardEntry(
        evaluation, numbers, rival_risk, security, compute_overall_loss(numbers.utility, security)
    )


def select_best_per_team(entries: Iterable[BoardEntry]) -> list[BoardEntry]:
    """Return the best entry of each team.

    An entry that does not count is used only for a team without any that counts.
    """
    best_by_team: dict[UUID, BoardEntry] = {}
    for candidate in entries:
        best_so_far = best_by_team.get(candidate.evaluation.team_id)
        if best_so_far is None or candidate.sort_key < best_so_far.sort_key:
            best_by_team[candidate.evaluation.team_id] = candidate
    return list(best_by_team.values())


def rank_entries(rules: Rules, best_entries: Iterable[BoardEntry]) -> list[RankedEntry]:
    """Return the best entries of the teams in the order of the board: by rank, then baselines, best first.

    Ranks compare exact scores. Ties are ordered by receipt; entries without a rank follow.
    """
    sorted_entries = sorted(best_entries, key=lambda entry: entry.sort_key)
    competing = [entry for entry in sorted_entries if not entry.evaluation.is_baseline]
    sums: Sequence[float | None] = [None] * len(competing)
    scores: Sequence[float | None] = [entry.overall for entry in competing]
    if rules.ranking.rule == "rank_sum":  # ties in the rank sum are broken by time of receipt, not by overall
        competing.sort(key=lambda entry: entry.evaluation.receipt_order)
        ranked_values = [_collect_ranked_values(rules, entry) for entry in competing]
        scores = sums = compute_rank_sums(ranked_values, rounding=_collect_rounding(competing))
    ranks = compute_ranks(scores)
    return [
        *(RankedEntry(competing[index], ranks[index], sums[index]) for index in sort_for_board(scores)),
        *(RankedEntry(entry, None, None) for entry in sorted_entries if entry.evaluation.is_baseline),
    ]


def _collect_ranked_values(rules: Rules, entry: BoardEntry) -> Mapping[str, float] | None:
    """Return the values that the ``rank_sum`` rule compares; None if the submission was not accepted."""
    if entry.numbers is None or entry.security is None:
        return None
    return select_ranked_values(entry.numbers.measures, entry.security, rules.weights)


def _collect_rounding(entries: Iterable[BoardEntry]) -> dict[str, float]:
    """Return, by measure, the threshold below which a value is rounding noise.

    It depends on the original only, so any verdict on the same original gives the threshold for all entries.
    """
    rounding_by_entry = (entry.numbers.rounding for entry in entries if entry.numbers)
    return {
        name: threshold for entry_rounding in rounding_by_entry for name, threshold in entry_rounding.items()
    }
