"""Random generators derived from the committed seed; anybody can repeat the draws after the reveal."""

from numpy.random import PCG64, Generator

from anoncup.tracks.seeds import derive_key


def generator_from_key(key: bytes) -> Generator:
    return Generator(PCG64(int.from_bytes(key, "big")))


def generator_for(seed: bytes, purpose: str, team: str, attempt: int = 0) -> Generator:
    """Return the generator of a team's draws for a purpose; the team is "" for draws for all teams."""
    return generator_from_key(derive_key(seed, purpose, team, attempt))
