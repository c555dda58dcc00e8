"""Which half of the candidates is a team's: drawn from a seed committed to before and shown at the end.

The derivation, so that anybody can draw again once the seed is revealed:

1. ``commitment`` = SHA-256 of the seed, in hexadecimal; the seed is 32 random bytes.
2. The key of a draw = HMAC-SHA-256 with the seed over the UTF-8 text ``PURPOSE``, NUL, attempt in decimal
   digits, NUL, team's name; its 32 bytes read as one number, highest byte first.
3. ``numpy.random.PCG64(key)`` gives one 64-bit number for each of the 2N candidates, in their order.
4. Members are the N candidates with the smallest numbers, of equal ones the earlier.

The purpose of members is ``members``; attempts count from 0. Raw numbers of the bit generator are what numpy
promises to keep in all versions (NEP 19), which it does not for what ``Generator`` makes of them.
"""

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.random import Generator

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import BoolArray
from anoncup.tracks.generators import generator_for


def draw(seed: bytes, team: str, rows: int, attempt: int = 0) -> BoolArray:
    """The half that an attempt draws for a team."""
    return half(generator_for(seed, "members", team, attempt), rows)


def half(rng: Generator, rows: int) -> BoolArray:
    """A uniformly random half of an even number of rows, (rows,), True: a member."""
    numbers = rng.bit_generator.random_raw(rows)
    members = np.zeros(rows, dtype=bool)
    members[np.argsort(numbers, kind="stable")[: rows // 2]] = True
    return members


def draw_apart(seed: bytes, team: str, rows: int, taken: Collection[bytes]) -> BoolArray:
    """The team's first attempt whose ``tobytes`` is not ``taken``; InvalidInput if all halves are."""
    halves = math.comb(rows, rows // 2)
    if len(taken) >= halves:
        raise InvalidInput("all {halves} halves of the candidates are given to teams", halves=halves)
    attempt = 0
    while (members := draw(seed, team, rows, attempt)).tobytes() in taken:
        attempt += 1
    return members


def assignments(
    seed: bytes, teams: Sequence[str], rows: int, *, shared: bool = False
) -> dict[str, BoolArray]:
    """Every team's members, teams in the order in which they were given theirs.

    No two teams have the same half unless ``shared``. A team's half depends on the seed, its name and, where
    an earlier team has the same one, on that team.
    """
    found: dict[str, BoolArray] = {}
    for team in teams:
        taken = set() if shared else {members.tobytes() for members in found.values()}
        found[team] = draw_apart(seed, team, rows, taken)
    return found
