"""The events of a round that change its boards, with the moments from which they count."""

from datetime import datetime, timedelta
from typing import NamedTuple

from app.boards.facts import EarlierScore, FinishedRelease, JudgedGuess, RoundFacts, TeamAdjustment
from app.competitions import phases
from app.core.db.models import Series

_MICROSECOND = timedelta(microseconds=1)


class TargetPublication(NamedTuple):
    """From this event on only finals are compared."""


Event = FinishedRelease | JudgedGuess | TeamAdjustment | EarlierScore | TargetPublication


def list_release_board_events(facts: RoundFacts, series: Series) -> list[tuple[datetime, Event]]:
    return [
        *_list_release_events(facts),
        *_list_guess_events(facts, series),
        *((adjustment.at, adjustment) for adjustment in facts.adjustments),
        *((score.at, score) for score in facts.earlier_releases),
    ]


def list_attack_board_events(facts: RoundFacts, series: Series) -> list[tuple[datetime, Event]]:
    return [
        *_list_guess_events(facts, series),
        *((adjustment.at, adjustment) for adjustment in facts.adjustments),
        *((score.at, score) for score in facts.earlier_attacks),
    ]


def _list_release_events(facts: RoundFacts) -> list[tuple[datetime, Event]]:
    publication = [] if facts.published_at is None else [(facts.published_at, TargetPublication())]
    return [*((release.at, release) for release in facts.releases), *publication]


def _list_guess_events(facts: RoundFacts, series: Series) -> list[tuple[datetime, Event]]:
    """Return the guesses with the moments from which they count in the series.

    In the daily series this is the end of the day on which the guess was accepted, so that boards frozen at
    midnight include it, or the end of its judging if that is later.
    """
    if series == Series.WITHOUT_GUESSES:
        return []
    if series == Series.ALL_GUESSES:
        return [(guess.judged_at, guess) for guess in facts.guesses]
    return [
        (max(guess.judged_at, _find_end_of_day(guess.accepted_at, facts.rules.timezone)), guess)
        for guess in facts.guesses
    ]


def _find_end_of_day(moment: datetime, timezone: str) -> datetime:
    _, next_midnight = phases.find_midnights(moment, timezone)
    return next_midnight - _MICROSECOND
