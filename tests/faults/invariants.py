"""All invariants of one competition."""

from collections.abc import Iterator

from tests.faults import expected_boards, invariant_checks
from tests.faults.calls import Caller
from tests.faults.ledger import Ledger
from tests.support.board_facts import ORGANIZER


def check_competition(ledger: Ledger, callers: dict[str, Caller], *, is_played_to_end: bool) -> Iterator[str]:
    """Yield the violations of a competition. ``is_played_to_end``: whether it has been revealed."""
    organizer = callers[ORGANIZER]
    ledger.rules = organizer.request("GET", f"/competitions/{ledger.slug}/competition.toml").response.text
    scorer = invariant_checks.LocalScorer(ledger)
    missing = list(invariant_checks.check_stored_once(ledger))
    yield from missing
    if missing:
        return  # the other checks need every upload to exist
    yield from invariant_checks.check_verdicts(ledger, scorer, organizer)
    yield from invariant_checks.check_guesses(ledger)
    yield from invariant_checks.check_quotas(ledger)
    yield from invariant_checks.check_transitions(ledger, organizer, is_played_to_end=is_played_to_end)
    yield from invariant_checks.check_publication(ledger, organizer)
    yield from invariant_checks.check_reports(ledger)
    yield from invariant_checks.check_errors(ledger)
    facts, problems = expected_boards.build_facts(ledger, scorer, organizer)
    yield from problems
    yield from expected_boards.compare_boards(ledger, facts, callers)
