"""All laws of one competition, one after the other."""

from collections.abc import Iterator

from tests.faults import boards, oracles
from tests.faults.calls import Caller
from tests.faults.ledger import Ledger
from tests.support.board_facts import ORGANIZER


def laws(ledger: Ledger, callers: dict[str, Caller], *, closes: bool) -> Iterator[str]:
    """What is not true of a competition. ``closes``: whether it has been played to its end."""
    organizer = callers[ORGANIZER]
    ledger.rules = organizer.ask("GET", f"/competitions/{ledger.slug}/competition.toml").response.text
    scorer = oracles.Scorer(ledger)
    lost = list(oracles.once(ledger))
    yield from lost
    if lost:
        return  # what is not there cannot be looked at
    yield from oracles.judged(ledger, scorer, organizer)
    yield from oracles.guessed(ledger)
    yield from oracles.counted_exactly(ledger)
    yield from oracles.turned_once(ledger, organizer, closes=closes)
    yield from oracles.published(ledger, organizer)
    yield from oracles.reported(ledger)
    yield from oracles.excused(ledger)
    facts, wrong = boards.facts_of(ledger, scorer, organizer)
    yield from wrong
    yield from boards.boards_differ(ledger, facts, callers)
