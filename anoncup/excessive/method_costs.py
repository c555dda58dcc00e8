"""Mean distances of sample methods on the contest's own data, for honest releases and for cheats.

A cheat can hide in an honest release: the team applies a method, and some individuals also claim the rows of
others.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator

from anoncup.excessive.rejection_rule import compute_individual_distances, explain_forbidden_deletion
from anoncup.geometry.arrays import IntArray
from anoncup.messages import Message
from anoncup.rules.model import Rules
from anoncup.tracks.linkage.shuffling import shuffle_within_groups
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyDistance, AnyScoredRelease, HasRows

MAX_SAMPLE_SIZE = 10_000
"""Maximum number of individuals on which methods are tried. Larger data are sampled at random."""
CHEAT_SHARES = (0.25, 0.5, 1.0)
"""Shares of the individuals that claim other rows in a cheat."""


@dataclass(frozen=True, slots=True)
class HonestRelease:
    """Release of a sample method.

    ``mean`` is the mean distance of its individuals, or None if the rule forbids it (``refusal``).
    """

    method: str
    parameters: Mapping[str, Any]
    mean: float | None
    refusal: Message | None = None


@dataclass(frozen=True, slots=True)
class CheatMixture:
    """Release of a sample method in which a ``share`` of the individuals claims the rows of others.

    ``cheat``: whether these others are of the same group (``group``) or anybody (``random``).
    """

    method: str
    parameters: Mapping[str, Any]
    cheat: str
    share: float
    mean: float


@dataclass(frozen=True, slots=True)
class MethodTrials:
    """Results of all methods; ``individuals``: the number of individuals on which they were tried."""

    individuals: int
    honest: tuple[HonestRelease, ...]
    mixtures: tuple[CheatMixture, ...]


def try_methods(
    track: AnyTrack,
    rules: Rules,
    original: HasRows,
    distance: AnyDistance,
    groups: Sequence[str],
    *,
    max_individuals: int = MAX_SAMPLE_SIZE,
) -> MethodTrials:
    """Try every method in all its strengths, and mix cheats into its release of middle strength.

    The results are reproducible, because each method and strength has its own seed.
    """
    if original.rows > max_individuals:
        sampled_rows = np.sort(Generator(PCG64(0)).permutation(original.rows)[:max_individuals])
        original = track.distances.subset(original, sampled_rows)
    # Methods get a copy in which individuals are renamed, and must not need their names.
    renamed_original = track.distances.subset(original, np.arange(original.rows))
    group_ids = track.distances.group_individuals(original, groups)
    honest, mixtures = [], []
    for method_index, method in enumerate(track.methods.values()):
        strengths = method.strengths(original.rows, track.distances.group_columns(rules)[0])
        for strength_index, parameters in enumerate(strengths):
            rng = Generator(PCG64([method_index, strength_index]))
            anonymized, answer = track.anonymize(method, renamed_original, rules, rng, parameters)
            context = track.build_context(rules, original, anonymized)
            release = track.add_answer(original, anonymized, answer, context)
            refusal = explain_forbidden_deletion(release, distance)
            mean = compute_individual_distances(release, distance).mean if refusal is None else None
            honest.append(HonestRelease(method.name, parameters, mean, refusal))
            if refusal is None and strength_index == len(strengths) // 2:
                cheat_mixtures = _mix_in_cheats(release, distance, group_ids, rng)
                mixtures += [CheatMixture(method.name, parameters, *mixture) for mixture in cheat_mixtures]
    return MethodTrials(original.rows, tuple(honest), tuple(mixtures))


def _mix_in_cheats(
    release: AnyScoredRelease, distance: AnyDistance, group_ids: IntArray, rng: Generator
) -> Iterator[tuple[str, float, float]]:
    """Yield the cheat, share and mean distance of releases in which some individuals claim others' rows.

    Cheats within groups are left out if every group has a single member.
    """
    for cheat, cheat_groups in (("random", np.zeros_like(group_ids)), ("group", group_ids)):
        for share in CHEAT_SHARES if len(np.unique(cheat_groups)) < len(cheat_groups) else ():
            claims = shuffle_subset(cheat_groups, share, rng)
            mixed_release = replace(release, answer=claims[release.answer], memo={})
            yield cheat, share, compute_individual_distances(mixed_release, distance).mean


def shuffle_subset(group_ids: IntArray, share: float, rng: Generator) -> IntArray:
    """Return a permutation (n,) that moves a random ``share`` of the individuals at most, within groups."""
    claims = np.arange(len(group_ids))
    moved = np.sort(rng.permutation(len(group_ids))[: round(share * len(group_ids))])
    claims[moved] = moved[shuffle_within_groups(group_ids[moved], rng)]
    return claims
