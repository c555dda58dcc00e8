"""What sample methods cost on the very data that advice is about: honest work, and cheats that it covers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator

from anoncup.excessive.individual_distances import deletion, individual_distances
from anoncup.geometry.arrays import IntArray
from anoncup.messages import Message
from anoncup.rules.model import Rules
from anoncup.tracks.linkage.shuffling import shuffled_within
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Distance

MOST = 10_000
"""Individuals that methods are tried on; of more so many are drawn."""
SHARES = (0.25, 0.5, 1.0)
"""Of the individuals that a covered cheat permutes."""


@dataclass(frozen=True, slots=True)
class Honest:
    """A sample method's release: the ``mean`` distance of its individuals; None where it was ``refused``."""

    method: str
    parameters: Mapping[str, Any]
    mean: float | None
    refused: Message | None = None


@dataclass(frozen=True, slots=True)
class Mixture:
    """A sample method's release in which a ``share`` of the individuals, as a ``cheat``, claims the rows of
    others: of the same group, or of anybody (random)."""

    method: str
    parameters: Mapping[str, Any]
    cheat: str
    share: float
    mean: float


@dataclass(frozen=True, slots=True)
class Trials:
    """All that was tried, on so many ``individuals``."""

    individuals: int
    honest: tuple[Honest, ...]
    mixtures: tuple[Mixture, ...]


def tried_out(
    track: Track, rules: Rules, prepared: Any, distance: Distance, groups: Sequence[str], *, most: int = MOST
) -> Trials:
    """Every honest method in all its strengths, and with the middle one as a cover for cheats.

    The same data give the same trials: each method and strength has a generator of its own.
    """
    if prepared.rows > most:
        drawn = np.sort(Generator(PCG64(0)).permutation(prepared.rows)[:most])
        prepared = track.prepare(track.part(prepared, drawn), rules)
    tables, group_of = track.part(prepared, np.arange(prepared.rows)), track.groups(prepared, groups)
    honest, mixtures = [], []
    for place, method in enumerate(track.methods.values()):
        strengths = method.strengths(prepared.rows, track.group_columns(rules)[0])
        for strength, parameters in enumerate(strengths):
            rng = Generator(PCG64([place, strength]))
            made = track.anonymize(method, tables, rules, rng, parameters)
            release = track.release_of(prepared, *made)
            refused = deletion(release, distance)
            mean = individual_distances(release, distance).mean if refused is None else None
            honest.append(Honest(method.name, parameters, mean, refused))
            if refused is None and strength == len(strengths) // 2:
                covered = _covered(release, distance, group_of, rng)
                mixtures += [Mixture(method.name, parameters, *each) for each in covered]
    return Trials(prepared.rows, tuple(honest), tuple(mixtures))


def _covered(
    release: Any, distance: Distance, group_of: IntArray, rng: Generator
) -> Iterator[tuple[str, float, float]]:
    """Cheat, share and mean distance of a release of which some claim others' rows, if there are others."""
    for cheat, groups in (("random", np.zeros_like(group_of)), ("group", group_of)):
        for share in SHARES if len(np.unique(groups)) < len(groups) else ():
            claims = some_shuffled(groups, share, rng)
            claimed = replace(release, source=claims[release.source], kept={})
            yield cheat, share, individual_distances(claimed, distance).mean


def some_shuffled(group_of: IntArray, share: float, rng: Generator) -> IntArray:
    """A permutation that moves at most a random ``share`` of the individuals, each within its group, (n,)."""
    claims = np.arange(len(group_of))
    chosen = np.sort(rng.permutation(len(group_of))[: round(share * len(group_of))])
    claims[chosen] = chosen[shuffled_within(group_of[chosen], rng)]
    return claims
