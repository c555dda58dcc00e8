"""Random generators derived from a committed seed; anyone can repeat an allocation after the reveal."""

from numpy.random import PCG64, Generator

from anoncup.tracks.seeds import derive_key


def create_generator(key: bytes) -> Generator:
    return Generator(PCG64(int.from_bytes(key, "big")))


def derive_generator(seed: bytes, purpose: str, team: str, attempt: int = 0) -> Generator:
    """Return the generator of one team for one purpose; the team is "" for files that all teams share."""
    return create_generator(derive_key(seed, purpose, team, attempt))
