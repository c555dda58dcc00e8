"""Draws from a seed that is committed to before and shown at the end, so that anybody can draw again."""

import hashlib
import hmac

from numpy.random import PCG64, Generator


def commitment(seed: bytes) -> str:
    """What is published before: binds to the seed, and tells nothing of 32 random bytes."""
    return hashlib.sha256(seed).hexdigest()


def key_for(seed: bytes, purpose: str, team: str, attempt: int = 0) -> bytes:
    """What a team's draws for a purpose follow from: 32 bytes that tell nothing of the seed or of others."""
    return hmac.digest(seed, f"{purpose}\0{attempt}\0{team}".encode(), "sha256")


def generator_of(key: bytes) -> Generator:
    return Generator(PCG64(int.from_bytes(key, "big")))


def generator_for(seed: bytes, purpose: str, team: str, attempt: int = 0) -> Generator:
    """The generator of a team's draws for a purpose; of what is drawn for all the team is called ""."""
    return generator_of(key_for(seed, purpose, team, attempt))
