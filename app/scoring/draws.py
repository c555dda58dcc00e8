"""Draws from a seed that is committed to before and shown at the end, so that anybody can draw again."""

import hashlib
import hmac

from numpy.random import PCG64, Generator


def commitment(seed: bytes) -> str:
    """What is published before: binds to the seed, and tells nothing of 32 random bytes."""
    return hashlib.sha256(seed).hexdigest()


def generator_for(seed: bytes, purpose: str, team: str, attempt: int = 0) -> Generator:
    """The generator of a team's draws for a purpose."""
    said = f"{purpose}\0{attempt}\0{team}".encode()
    return Generator(PCG64(int.from_bytes(hmac.digest(seed, said, "sha256"), "big")))
