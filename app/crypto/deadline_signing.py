"""The key that the clock signs with what it has witnessed (Ed25519).

It lies with the private keys of the workers, as ID.signing: who can write to the database but not read that
folder can note whatever they like, and none of it counts.
"""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nacl.encoding import HexEncoder
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from anoncup.errors import InvalidInput, Unavailable
from app.crypto import sealing

SUFFIX = ".signing"
MISSING = (
    "ends cannot be witnessed, and nothing will be revealed: there is no signing key in "
    "ANONCUP_OPENING_KEYS_DIR; make it with anoncup keys witness"
)


@dataclass(frozen=True, slots=True)
class Ring:
    """The keys that a process holds: what any of them has signed counts, the first signs."""

    keys: tuple[SigningKey, ...] = ()

    def sign(self, message: bytes) -> bytes:
        if not self.keys:
            raise Unavailable(MISSING)
        return self.keys[0].sign(message).signature

    def verifies(self, message: bytes, signature: bytes) -> bool:
        return any(is_signed(bytes(key.verify_key), message, signature) for key in self.keys)


@lru_cache(maxsize=4096)
def is_signed(key: bytes, message: bytes, signature: bytes) -> bool:
    """Asked again each second for as long as a contest runs."""
    try:
        VerifyKey(key).verify(message, signature)
    except (BadSignatureError, ValueError, TypeError):
        return False
    return True


def create_key(private_folder: Path) -> str:
    """A key in the folder, unless there is one; returns the id of the one that signs."""
    if not files(private_folder):
        private_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        key = SigningKey.generate()
        path = private_folder / f"{id_of(key)}{SUFFIX}"
        sealing.write_new(path, key.encode(HexEncoder), mode=0o400)
    return files(private_folder)[0].stem


def held(private_folder: Path | None) -> Ring:
    """The keys of the folder that this process can read."""
    readable = (path for path in files(private_folder) if os.access(path, os.R_OK))
    return Ring(tuple(key_of(path.read_bytes().strip()) for path in readable))


def files(private_folder: Path | None) -> list[Path]:
    return sorted(private_folder.glob(f"*{SUFFIX}")) if private_folder else []


def key_of(text: bytes) -> SigningKey:
    """The key that is kept in its file as ``text``; InvalidInput if it is none."""
    try:
        return SigningKey(text, HexEncoder)
    except (ValueError, TypeError):
        raise InvalidInput("this is no signing key", code="key_unreadable") from None


def id_of(key: SigningKey) -> str:
    return hashlib.sha256(bytes(key.verify_key)).hexdigest()[:16]


def message_of(parts: Iterable[object]) -> bytes:
    """What is signed: a text of lines, its first line saying what for."""
    return "\n".join(["anoncup witnessed end 1", *map(str, parts)]).encode()
