"""Mean distances of sample methods on the contest's own data: honest releases, and cheats that they cover."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator

from anoncup.excessive.individual_distances import find_forbidden_deletion, individual_distances
from anoncup.geometry.arrays import IntArray
from anoncup.messages import Message
from anoncup.rules.model import Rules
from anoncup.tracks.linkage.shuffling import shuffle_within
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Distance

MAX_INDIVIDUALS = 10_000
"""Maximum number of individuals on which methods are tried; of larger data, a random sample is used."""
CHEAT_SHARES = (0.25, 0.5, 1.0)
"""Shares of the individuals that a covered cheat permutes."""


@dataclass(frozen=True, slots=True)
class HonestRelease:
    """Release of a sample method; ``mean``: mean distance of its individuals, None if it was ``refused``."""

    method: str
    parameters: Mapping[str, Any]
    mean: float | None
    refused: Message | None = None


@dataclass(frozen=True, slots=True)
class CheatMixture:
    """Release of a sample method in which a ``share`` of the individuals claims the rows of others.

    ``cheat``: others of the same group (group), or anybody (random).
    """

    method: str
    parameters: Mapping[str, Any]
    cheat: str
    share: float
    mean: float


@dataclass(frozen=True, slots=True)
class MethodTrials:
    """Results of all methods, on so many ``individuals``."""

    individuals: int
    honest: tuple[HonestRelease, ...]
    mixtures: tuple[CheatMixture, ...]


def try_methods(
    track: Track,
    rules: Rules,
    prepared: Any,
    distance: Distance,
    groups: Sequence[str],
    *,
    max_individuals: int = MAX_INDIVIDUALS,
) -> MethodTrials:
    """Try every method in all its strengths, and with the middle strength as a cover for cheats.

    The same data give the same results: each method and strength has its own generator.
    """
    if prepared.rows > max_individuals:
        sampled = np.sort(Generator(PCG64(0)).permutation(prepared.rows)[:max_individuals])
        prepared = track.prepare(track.subset(prepared, sampled), rules)
    tables = track.subset(prepared, np.arange(prepared.rows))
    group_ids = track.group_individuals(prepared, groups)
    honest, mixtures = [], []
    for method_index, method in enumerate(track.methods.values()):
        strengths = method.strengths(prepared.rows, track.group_columns(rules)[0])
        for strength_index, parameters in enumerate(strengths):
            rng = Generator(PCG64([method_index, strength_index]))
            anonymized = track.anonymize(method, tables, rules, rng, parameters)
            release = track.measure_view(prepared, *anonymized)
            refused = find_forbidden_deletion(release, distance)
            mean = individual_distances(release, distance).mean if refused is None else None
            honest.append(HonestRelease(method.name, parameters, mean, refused))
            if refused is None and strength_index == len(strengths) // 2:
                cheat_mixtures = _mix_in_cheats(release, distance, group_ids, rng)
                mixtures += [CheatMixture(method.name, parameters, *mixture) for mixture in cheat_mixtures]
    return MethodTrials(prepared.rows, tuple(honest), tuple(mixtures))


def _mix_in_cheats(
    release: Any, distance: Distance, group_ids: IntArray, rng: Generator
) -> Iterator[tuple[str, float, float]]:
    """Yield cheat, share and mean distance of releases in which some individuals claim others' rows.

    A cheat is left out if every individual is alone in its group.
    """
    for cheat, cheat_groups in (("random", np.zeros_like(group_ids)), ("group", group_ids)):
        for share in CHEAT_SHARES if len(np.unique(cheat_groups)) < len(cheat_groups) else ():
            claims = shuffle_some(cheat_groups, share, rng)
            claimed = replace(release, source=claims[release.source], memo={})
            yield cheat, share, individual_distances(claimed, distance).mean


def shuffle_some(group_ids: IntArray, share: float, rng: Generator) -> IntArray:
    """Return a permutation of at most a random ``share`` of the individuals within their groups, (n,)."""
    claims = np.arange(len(group_ids))
    moved = np.sort(rng.permutation(len(group_ids))[: round(share * len(group_ids))])
    claims[moved] = moved[shuffle_within(group_ids[moved], rng)]
    return claims
