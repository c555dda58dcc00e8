"""What an organizer asks the advisor, read against a competition."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anoncup.errors import InvalidInput
from anoncup.excessive import DRAWS, Announce, silent
from anoncup.lazy import deferred
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules

if TYPE_CHECKING:
    from anoncup.excessive.advisor import Advice, advise
    from anoncup.excessive.method_costs import tried_out
else:
    advise = deferred("anoncup.excessive.advisor.advise")
    tried_out = deferred("anoncup.excessive.method_costs.tried_out")


@dataclass(frozen=True, slots=True)
class Question:
    """``groups``: columns that a cheat may keep (none: everybody is in one group; None: the cross-tables');
    ``distance`` (None: the competition's); cheats are rejected but for 2^-``bits``; ``draws``: permutations
    to simulate; ``seconds``: time to make more of the bounds exact."""

    groups: Sequence[str] | None = None
    distance: str | None = None
    bits: int = 50
    draws: int = DRAWS
    seconds: float = 0.0


def checked(question: Question, rules: Rules) -> Question:
    """The question with its defaults filled in; InvalidInput names what the track does not have, NotFound if
    it knows no distances."""
    track = TRACKS[rules.track]
    distance = question.distance or rules.against_excess.distance
    if distance not in track.distances:
        raise InvalidInput(
            "distances of the {track} track: {known}",
            code="unknown_distance",
            track=track.name,
            known=tuple(track.distances),
        )
    known_columns, usual = track.group_columns(rules)
    groups = tuple(usual if question.groups is None else question.groups)
    unknown = set(groups) - set(known_columns)
    if unknown:
        raise InvalidInput(
            "{unknown}: group columns are {known}",
            code="unknown_column",
            unknown=tuple(sorted(unknown)),
            known=tuple(known_columns),
        )
    return Question(groups, distance, question.bits, question.draws, question.seconds)


def answer(question: Question, rules: Rules, prepared: Any, *, progress: Announce = silent) -> "Advice":
    """The advisor's report; ``prepared`` is what the track's ``prepare`` made of the original."""
    asked, track = checked(question, rules), TRACKS[rules.track]
    assert asked.distance is not None and asked.groups is not None  # noqa: S101, PT018  # filled in above
    distance, groups = track.distances[asked.distance], asked.groups
    return advise(
        prepared,
        distance,
        track.groups(prepared, groups),
        bits=asked.bits,
        draws=asked.draws,
        seconds=asked.seconds,
        trials=lambda: tried_out(track, rules, prepared, distance, groups),
        progress=progress,
    )
