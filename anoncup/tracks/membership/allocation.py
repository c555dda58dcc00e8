"""Allocate half of the candidates to each team, from a seed that is committed to first and revealed later.

Anyone can repeat the derivation after the reveal:

1. ``commitment`` = SHA-256 of the seed, in hexadecimal; the seed is 32 random bytes.
2. The key = HMAC-SHA-256 with the seed over the UTF-8 text ``PURPOSE``, NUL, attempt in decimal digits, NUL,
   team's name; its 32 bytes are read as one big-endian number.
3. ``numpy.random.PCG64(key)`` gives one 64-bit number for each of the 2N candidates, in their order.
4. Members are the N candidates with the smallest numbers; ties go to the earlier candidate.

The purpose is ``members``; attempts count from 0. numpy promises stable raw numbers of bit generators in all
versions (NEP 19), but not stable results of ``Generator`` methods.
"""

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.random import Generator

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import BoolArray
from anoncup.tracks.generators import derive_generator


def allocate_members(seed: bytes, team: str, rows: int, attempt: int = 0) -> BoolArray:
    """Return the members that the given attempt allocates to a team, (rows,), True = member."""
    return choose_half(derive_generator(seed, "members", team, attempt), rows)


def choose_half(rng: Generator, rows: int) -> BoolArray:
    """Choose a uniformly random half of an even number of rows, (rows,), True = member."""
    numbers = rng.bit_generator.random_raw(rows)
    members = np.zeros(rows, dtype=bool)
    members[np.argsort(numbers, kind="stable")[: rows // 2]] = True
    return members


def _allocate_unused_half(seed: bytes, team: str, rows: int, used_halves: Collection[bytes]) -> BoolArray:
    """Return the first half for a team that is not in ``used_halves``, which are given as ``tobytes``.

    Raise InvalidInput if all halves are used.
    """
    half_count = math.comb(rows, rows // 2)
    if len(used_halves) >= half_count:
        raise InvalidInput("all {halves} halves of the candidates are given to teams", halves=half_count)
    attempt = 0
    while (members := allocate_members(seed, team, rows, attempt)).tobytes() in used_halves:
        attempt += 1
    return members


def allocate_teams(
    seed: bytes, teams: Sequence[str], rows: int, *, allow_shared: bool = False
) -> dict[str, BoolArray]:
    """Allocate members to all teams; ``teams`` are in the order in which they received their members.

    No two teams get the same half unless ``allow_shared``. A team's half depends on the seed, its name and,
    if an earlier team has the same half, on that team.
    """
    members_by_team: dict[str, BoolArray] = {}
    for team in teams:
        used_halves = set() if allow_shared else {members.tobytes() for members in members_by_team.values()}
        members_by_team[team] = _allocate_unused_half(seed, team, rows, used_halves)
    return members_by_team
