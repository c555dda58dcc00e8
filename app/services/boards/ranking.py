"""The best release of each team, and the scores that rank teams: pure functions of rules and numbers."""

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
    """A finished release with the risk found by other teams (``rivals``).

    ``numbers`` is None if it cannot represent its team. The lowest ``loss`` is the best: ``overall``, or the
    value of the formula, negated if the highest is the best.
    """

    release: FinishedRelease
    numbers: VerdictNumbers | None
    rivals: float | None
    security: float | None
    overall: float | None
    loss: float | None
    parts: str | None = None
    """How a ranking function of a package says that the score came about."""

    @property
    def utility(self) -> float | None:
        return self.numbers.utility if self.numbers else None


def build_entry(release: FinishedRelease, numbers: VerdictNumbers | None, rivals: float | None) -> Entry:
    if numbers is None:
        return Entry(release, None, None, None, None, None)
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
    if rules.ranking.rule == "score":
        return entries
    compares = compares_teams(rules)
    releases = [
        ReleaseNumbers(release.submission_id, release.team_id, entry.numbers, entry.security or 0.0)
        for entry in entries
        if entry.numbers is not None and not ((release := entry.release).is_baseline and compares)
    ]
    values = compute_defence(rules, releases, inputs)
    losses = {
        release.submission_id: orient(rules, value) for release, value in zip(releases, values, strict=True)
    }
    return [replace(entry, loss=losses.get(entry.release.submission_id, entry.loss)) for entry in entries]


def find_score(rules: Rules, entry: Entry) -> float | None:
    """Return the number that ranks: ``overall``, or the value of the formula.

    None for baselines if the formula compares teams.
    """
    if rules.ranking.rule == "score":
        return entry.overall
    return None if entry.release.is_baseline and compares_teams(rules) else orient(rules, entry.loss)


def compute_losses(
    rules: Rules, releases: Sequence[ReleaseNumbers], inputs: FormulaInputs
) -> list[float | None]:
    """Return the value of each release by which it is chosen among those of its team, lowest first."""
    if rules.ranking.rule == "score" or compares_teams(rules):
        return [compute_overall_loss(release.numbers.utility, release.security) for release in releases]
    return [orient(rules, value) for value in compute_defence(rules, releases, inputs)]


def orient(rules: Rules, value: float | None) -> float | None:
    """Return a score as a loss, or a loss as a score."""
    is_descending = rules.ranking.rule != "score" and rules.ranking.order == "descending"
    return -value if value is not None and is_descending else value
