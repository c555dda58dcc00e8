"""Which sample methods a release's measures resemble (P0 §4.4, Tables 12, 13 and 15).

A method leaves some measures as they were and changes others. A release made by several methods has changed
whatever any of them changes; so every combination of methods has a pattern, and patterns can be held against
what is found.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from anoncup.evaluation.attacks import rate_of_attack
from anoncup.evaluation.evaluate import Verdict
from anoncup.evaluation.ranking import rounding_of
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.memo import once
from anoncup.tracks.model import Track

MOST_METHODS = 3
"""Methods that a resemblance combines at most."""
NOTICEABLE = 0.02
"""The relative change of a class size or a rate that counts as one: deleting a few rows moves them less."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One measure or attacker: its value on the untouched original and on the release, and what that says."""

    name: str
    before: float
    after: float
    expected_to_change: bool
    changed: bool


@dataclass(frozen=True, slots=True)
class Resemblance:
    """``agreement``: the share of the evidence that is as the methods together would have it, in [0, 1]."""

    methods: tuple[str, ...]
    agreement: float
    evidence: tuple[Evidence, ...]

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def fingerprint(rules: Rules, original: Any, verdict: Verdict, *, most: int = 5) -> tuple[Resemblance, ...]:
    """The ``most`` closest combinations of up to three methods; of equally close ones those of fewer methods.

    The empty combination stands for a release that changed nothing. None of a track without signatures.
    """
    track = TRACKS[rules.track]
    if not track.signatures:
        return ()
    before = once(original.kept, ("fingerprint", _key(rules)), lambda: _before(rules, track, original))
    after = _values(track, verdict)
    changed = {name: _is_changed(track, name, before[name], after[name], original) for name in before}

    def held(methods: tuple[str, ...]) -> Resemblance:
        pattern = frozenset().union(*(track.signatures[method] for method in methods))
        evidence = tuple(
            Evidence(name, before[name], after[name], name in pattern, changed[name]) for name in before
        )
        fitting = sum(each.expected_to_change == each.changed for each in evidence)
        return Resemblance(methods, fitting / len(evidence), evidence)

    found = [held(methods) for methods in _combinations(track)]
    return tuple(sorted(found, key=lambda each: (-each.agreement, len(each.methods)))[:most])


def _combinations(track: Track) -> Iterator[tuple[str, ...]]:
    for size in range(MOST_METHODS + 1):
        yield from combinations(track.signatures, size)


def _telling(track: Track) -> list[str]:
    """The measures and attackers that some signature names, in the track's order."""
    named = frozenset().union(*track.signatures.values())
    return [name for name in (*track.measures, *track.attackers) if name in named]


def _values(track: Track, verdict: Verdict) -> dict[str, float]:
    return {
        name: verdict.measures[name].value if name in track.measures else verdict.attackers[name].rate.rate
        for name in _telling(track)
    }


def _before(rules: Rules, track: Track, original: Any) -> Mapping[str, float]:
    """The same values of the original released as it is."""
    assert track.untouched is not None  # noqa: S101  # a track that knows signatures has it; see the laws
    release = track.untouched(original)
    found = {}
    for name in _telling(track):
        if name in track.measures:
            parameters = rules.measure(name).parameters
            found[name] = track.measures[name].compute(release, **parameters)
        else:
            parameters = rules.attacker(name).parameters
            attacker, sizes = track.attackers[name], {"originals": original.rows, "rows": original.rows}
            said = attacker.attack(release.target, **parameters)
            found[name] = rate_of_attack(attacker, said, release.source, sizes, track=track, rules=rules).rate
    return found


def _is_changed(track: Track, name: str, before: float, after: float, original: Any) -> bool:
    """A loss above rounding, larger classes, or a lower rate."""
    if name in track.attackers:
        return after < before * (1 - NOTICEABLE)
    measure = track.measures[name]
    if measure.higher_is_better:
        return after > before * (1 + NOTICEABLE)
    return after > rounding_of(measure, track.largest_cell(original))


def _key(rules: Rules) -> str:
    return repr((rules.measures, rules.attackers))
