"""Signatures of the clock on the deadlines it has observed (Ed25519).

The key is stored in the folder of the workers' private keys, as ID.signing. Somebody who can write to the
database but cannot read that folder cannot sign, and deadlines without a valid signature do not count.
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

KEY_FILE_SUFFIX = ".signing"
NO_SIGNING_KEY = (
    "ends cannot be witnessed, and nothing will be revealed: there is no signing key in "
    "ANONCUP_OPENING_KEYS_DIR; make it with anoncup keys witness"
)


@dataclass(frozen=True, slots=True)
class SigningKeys:
    """The signing keys of a process. The first key signs; signatures of any key are valid."""

    keys: tuple[SigningKey, ...] = ()

    def sign(self, message: bytes) -> bytes:
        if not self.keys:
            raise Unavailable(NO_SIGNING_KEY)
        return self.keys[0].sign(message).signature

    def verify(self, message: bytes, signature: bytes) -> bool:
        return any(_is_valid_signature(bytes(key.verify_key), message, signature) for key in self.keys)


@lru_cache(maxsize=4096)
def _is_valid_signature(key: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether the key made the signature. Cached, because the clock checks each second."""
    try:
        VerifyKey(key).verify(message, signature)
    except (BadSignatureError, ValueError, TypeError):
        return False
    return True


def create_key(private_folder: Path) -> str:
    """Create a key in the folder unless it has one, and return the id of the key that signs."""
    if not list_key_files(private_folder):
        private_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        key = SigningKey.generate()
        path = private_folder / f"{compute_key_id(key)}{KEY_FILE_SUFFIX}"
        sealing.write_new_file(path, key.encode(HexEncoder), mode=0o400)
    return list_key_files(private_folder)[0].stem


def load_signing_keys(private_folder: Path | None) -> SigningKeys:
    """Return the keys of the folder that this process can read."""
    paths = (path for path in list_key_files(private_folder) if os.access(path, os.R_OK))
    return SigningKeys(tuple(parse_key(path.read_bytes().strip()) for path in paths))


def list_key_files(private_folder: Path | None) -> list[Path]:
    return sorted(private_folder.glob(f"*{KEY_FILE_SUFFIX}")) if private_folder else []


def parse_key(text: bytes) -> SigningKey:
    """Parse the text of a key file; raise InvalidInput if it is not a signing key."""
    try:
        return SigningKey(text, HexEncoder)
    except (ValueError, TypeError):
        raise InvalidInput("this is no signing key", code="key_unreadable") from None


def compute_key_id(key: SigningKey) -> str:
    return hashlib.sha256(bytes(key.verify_key)).hexdigest()[:16]


def build_message(parts: Iterable[object]) -> bytes:
    """Return the message to sign: lines of text, the first of which states the purpose."""
    return "\n".join(["anoncup witnessed end 1", *map(str, parts)]).encode()
