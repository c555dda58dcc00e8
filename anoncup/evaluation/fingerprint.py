"""Guess which sample methods made a release, from the measures and attack rates that it changed.

Every method changes some of them and leaves others unchanged. A release made by several methods changes
whatever one of them changes, so each combination of methods has a pattern that can be compared with the
release. The idea is from §4.4 and Tables 12, 13 and 15 of a study that re-identified the entries of PWS Cup
2015, cited as P0 in ``anoncup.tracks``; see also ``examples/papers.ipynb``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from anoncup.evaluation.attacks import rate_attack
from anoncup.evaluation.evaluate import Verdict
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.capabilities import Fingerprints
from anoncup.tracks.memo import get_memo, memoize
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyScoredRelease, HasRows

_MAX_METHODS = 3
"""Maximum number of methods in a combination."""
_MIN_RELATIVE_CHANGE = 0.02
"""Relative change of an attack rate, or of a measure with ``higher_is_better``, below which it counts as
unchanged. Deleting a few rows changes them by less."""


_Signatures = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class FingerprintEvidence:
    """A measure or attacker, with its value for the unchanged original and for the release."""

    name: str
    before: float
    after: float
    expected_to_change: bool
    changed: bool


@dataclass(frozen=True, slots=True)
class MethodResemblance:
    """Resemblance of a release to the combination of some methods.

    ``agreement``: share of the evidence that is as expected, in [0, 1].
    """

    methods: tuple[str, ...]
    agreement: float
    evidence: tuple[FingerprintEvidence, ...]

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def fingerprint(
    rules: Rules, original: HasRows, verdict: Verdict, *, limit: int = 5
) -> tuple[MethodResemblance, ...]:
    """Return the ``limit`` combinations of at most three methods that the release resembles most.

    If combinations are equally close, those of fewer methods come first. The empty combination stands for an
    unchanged release. The result is empty for tracks without signatures.
    """
    track = TRACKS[rules.track]
    if track.fingerprints is None or not _list_signature_parts(track, track.fingerprints.signatures):
        return ()
    fingerprints = track.fingerprints
    untouched_values = memoize(
        get_memo(original),
        ("fingerprint", repr((rules.measures, rules.attackers))),
        lambda: _compute_untouched_values(rules, track, fingerprints, original),
    )
    released_values = _read_values(track, fingerprints.signatures, verdict)
    changes = {
        name: _has_changed(track, name, untouched_values[name], released_values[name], verdict)
        for name in untouched_values
    }

    def compare_with(methods: tuple[str, ...]) -> MethodResemblance:
        expected_changes = frozenset().union(*(fingerprints.signatures[method] for method in methods))
        evidence = tuple(
            FingerprintEvidence(
                name, untouched_values[name], released_values[name], name in expected_changes, changes[name]
            )
            for name in untouched_values
        )
        matches = sum(item.expected_to_change == item.changed for item in evidence)
        return MethodResemblance(methods, matches / len(evidence), evidence)

    resemblances = [compare_with(methods) for methods in _list_combinations(fingerprints.signatures)]
    return tuple(
        sorted(resemblances, key=lambda resemblance: (-resemblance.agreement, len(resemblance.methods)))[
            :limit
        ]
    )


def _list_combinations(signatures: _Signatures) -> Iterator[tuple[str, ...]]:
    for size in range(_MAX_METHODS + 1):
        yield from combinations(signatures, size)


def _list_signature_parts(track: AnyTrack, signatures: _Signatures) -> list[str]:
    """Return the measures and attackers that occur in a signature, in the track's order."""
    signature_parts = frozenset().union(*signatures.values())
    return [name for name in (*track.measures, *track.attackers) if name in signature_parts]


def _read_values(track: AnyTrack, signatures: _Signatures, verdict: Verdict) -> dict[str, float]:
    return {
        name: verdict.measures[name].value if name in track.measures else verdict.attackers[name].rate.rate
        for name in _list_signature_parts(track, signatures)
    }


def _compute_untouched_values(
    rules: Rules, track: AnyTrack, fingerprints: Fingerprints[Any, AnyScoredRelease], original: HasRows
) -> Mapping[str, float]:
    """Compute the same values for the original released unchanged."""
    release = fingerprints.identity_release(original)
    values = {}
    for name in _list_signature_parts(track, fingerprints.signatures):
        if name in track.measures:
            parameters = rules.measure_settings(name).parameters
            values[name] = track.measures[name].compute(release, **parameters)
        else:
            parameters = rules.attacker_settings(name).parameters
            attacker = track.attackers[name]
            context = track.build_context(rules, original, release.release)
            answer = attacker.attack(release.target, **parameters)
            values[name] = rate_attack(attacker, answer, release.answer, context, track=track).rate
    return values


def _has_changed(
    track: AnyTrack, name: str, untouched_value: float, released_value: float, verdict: Verdict
) -> bool:
    """Return whether an attack rate is lower or a measure is worse than for the unchanged original.

    Loss measures are 0 for the unchanged original. They have changed if they exceed rounding, those with
    ``higher_is_better`` if they are larger.
    """
    if name in track.attackers:
        return released_value < untouched_value * (1 - _MIN_RELATIVE_CHANGE)
    measure = track.measures[name]
    if measure.higher_is_better:
        return released_value > untouched_value * (1 + _MIN_RELATIVE_CHANGE)
    return released_value > verdict.measures[name].rounding
