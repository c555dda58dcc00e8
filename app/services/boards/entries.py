"""Entries of releases on a board: their losses, the best of each team, and the scores that rank."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.evaluation.ranking import compute_overall_loss
from anoncup.formulas.ranks import sort_for_board
from anoncup.rules.model import Rules
from app.services.boards.facts import FinishedRelease
from app.services.boards.formula_values import FormulaInputs, ReleaseNumbers, compute_defence
from app.services.boards.verdicts import VerdictNumbers


@dataclass(frozen=True, slots=True)
class Entry:
    """A finished release with the risk that guesses of other teams found in it (``rivals``).

    Without ``numbers`` it cannot represent its team. ``security`` is the larger of ``rivals`` and the risk
    that built-in attackers found. The lowest ``loss`` is the best: ``overall``, or the value of the formula,
    negated if the highest is the best.
    """

    release: FinishedRelease
    numbers: VerdictNumbers | None = None
    rivals: float | None = None
    security: float | None = None
    overall: float | None = None
    loss: float | None = None
    parts: str | None = None
    """How a ranking function of a package says that the score came about."""

    @property
    def utility(self) -> float | None:
        return self.numbers.utility if self.numbers else None


def build_entry(release: FinishedRelease, numbers: VerdictNumbers | None, rivals: float | None) -> Entry:
    if numbers is None:
        return Entry(release)
    security = max(numbers.security, rivals or 0.0)
    overall = compute_overall_loss(numbers.utility, security)
    return Entry(release, numbers, rivals, security, overall, overall)


def choose_lowest(entries: Iterable[Entry]) -> Entry:
    """Return the entry of a team with the lowest loss, the one received first among equals.

    An entry that does not count is returned only if none counts.
    """
    received = sorted(entries, key=_get_receipt)
    return received[sort_for_board([entry.loss for entry in received])[0]]


def _get_receipt(entry: Entry) -> tuple[object, UUID]:
    return entry.release.received_at, entry.release.submission_id


def apply_formula(rules: Rules, entries: Sequence[Entry], inputs: FormulaInputs) -> Sequence[Entry]:
    """Return the entries with their losses under the formula. Baselines do not take part in comparisons."""
    if rules.ranking.is_by_overall:
        return entries
    includes_baselines = not compares_teams(rules)
    releases = [
        ReleaseNumbers(
            entry.release.submission_id, entry.release.team_id, entry.numbers, entry.security or 0.0
        )
        for entry in entries
        if entry.numbers is not None and (includes_baselines or not entry.release.is_baseline)
    ]
    values = compute_defence(rules, releases, inputs)
    losses = {
        release.submission_id: to_loss(rules, value) for release, value in zip(releases, values, strict=True)
    }
    return [replace(entry, loss=losses.get(entry.release.submission_id, entry.loss)) for entry in entries]


def get_score(rules: Rules, entry: Entry) -> float | None:
    """Return the number that ranks: ``overall``, or the value of the formula.

    None for baselines if the formula compares teams.
    """
    if rules.ranking.is_by_overall:
        return entry.overall
    return None if entry.release.is_baseline and compares_teams(rules) else _to_score(rules, entry.loss)


def compute_choice_losses(
    rules: Rules, releases: Sequence[ReleaseNumbers], inputs: FormulaInputs
) -> list[float | None]:
    """Return the value of each release by which it is chosen among those of its team, lowest first."""
    if rules.ranking.is_by_overall or compares_teams(rules):
        return [compute_overall_loss(release.numbers.utility, release.security) for release in releases]
    return [to_loss(rules, value) for value in compute_defence(rules, releases, inputs)]


def to_loss(rules: Rules, score: float | None) -> float | None:
    """Return a score as a loss, which is lowest first."""
    is_descending = not rules.ranking.is_by_overall and rules.ranking.order == "descending"
    return -score if score is not None and is_descending else score


def _to_score(rules: Rules, loss: float | None) -> float | None:
    """Return a loss as the score that it was."""
    return to_loss(rules, loss)
