"""Draws from a seed that is committed to before and shown at the end, so that anybody can draw again."""

from numpy.random import PCG64, Generator

from anoncup.tracks.seeds import key_for


def generator_of(key: bytes) -> Generator:
    return Generator(PCG64(int.from_bytes(key, "big")))


def generator_for(seed: bytes, purpose: str, team: str, attempt: int = 0) -> Generator:
    """The generator of a team's draws for a purpose; of what is drawn for all the team is called ""."""
    return generator_of(key_for(seed, purpose, team, attempt))
