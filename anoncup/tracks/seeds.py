"""Seeds that are committed to before and shown at the end, and what follows from them; no numbers."""

import hashlib
import hmac

SEED_BYTES = 32


def commitment(seed: bytes) -> str:
    """What is published before: binds to the seed, and tells nothing of 32 random bytes."""
    return hashlib.sha256(seed).hexdigest()


def key_for(seed: bytes, purpose: str, team: str, attempt: int = 0) -> bytes:
    """What a team's draws for a purpose follow from: 32 bytes that tell nothing of the seed or of others."""
    return hmac.digest(seed, f"{purpose}\0{attempt}\0{team}".encode(), "sha256")
