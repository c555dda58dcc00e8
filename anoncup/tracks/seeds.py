"""Seeds that are committed to at the start and revealed at the end, and the keys derived from them."""

import hashlib
import hmac
from typing import NoReturn

from anoncup.errors import Conflict

SEED_BYTES = 32


def commit_to_seed(seed: bytes) -> str:
    """Return the SHA-256 of a seed, which is published first; it reveals nothing about 32 random bytes."""
    return hashlib.sha256(seed).hexdigest()


def derive_key(seed: bytes, purpose: str, team: str, attempt: int = 0) -> bytes:
    """Return the 32-byte key of one team for one purpose; it reveals nothing about the seed or other keys."""
    return hmac.digest(seed, f"{purpose}\0{attempt}\0{team}".encode(), "sha256")


def refuse_to_draw(_purpose: str) -> NoReturn:
    """Stand for a generator where the seed is not known; raises Conflict."""
    raise Conflict(
        "the teams' data have been drawn: their source can no longer be changed", code="drawn_already"
    )
