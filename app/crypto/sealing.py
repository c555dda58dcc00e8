"""Secrets sealed to the workers' key (libsodium's sealed box: X25519, XSalsa20-Poly1305).

The web application holds the public half and cannot read back what it sealed.
"""

import hashlib
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from nacl.encoding import HexEncoder
from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, PublicKey, SealedBox

from anoncup.errors import InvalidInput, Unavailable

SALT_BYTES = 32
KEY_ID = re.compile(rb"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Sealed:
    key_id: str
    box: bytes
    commitment: str


@dataclass(frozen=True, slots=True)
class Opened:
    salt: bytes
    secret: bytes


def create_keys(public_file: Path, private_folder: Path) -> str:
    """A new pair: the public half in ``public_file``, the private one in the folder; returns the key's id."""
    private = PrivateKey.generate()
    key_id = key_id_of(private.public_key)
    private_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_new(private_folder / f"{key_id}.key", private.encode(HexEncoder), mode=0o400)
    public_file.parent.mkdir(parents=True, exist_ok=True)
    aside = public_file.with_suffix(".new")
    aside.unlink(missing_ok=True)
    write_new(aside, private.public_key.encode(HexEncoder), mode=0o444)
    aside.rename(public_file)
    return key_id


def write_new(path: Path, content: bytes, *, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as file:
        file.write(content + b"\n")
        file.flush()
        os.fsync(file.fileno())


def key_id_of(key: PublicKey) -> str:
    return hashlib.sha256(bytes(key)).hexdigest()[:16]


def id_of_private(text: bytes) -> str:
    """The id of the pair whose private half, as it is kept in its file, is ``text``."""
    try:
        return key_id_of(PrivateKey(text, HexEncoder).public_key)
    except (ValueError, TypeError):
        raise InvalidInput("this is not a private key", code="key_unreadable") from None


def seal(public_file: Path | None, *, submission_id: UUID, secret: bytes) -> Sealed:
    """``secret`` bound to its submission: a box moved to another row does not open there."""
    return sealed_to(read_public_key(public_file), submission_id, secret)


def seal_to_held(private_folder: Path | None, *, bound_to: UUID, secret: bytes) -> Sealed:
    """The same by a process that can open it: to the newest key that it holds."""
    held = held_keys(private_folder)
    if private_folder is None or not held:
        raise Unavailable(
            "there is no private key in ANONCUP_OPENING_KEYS_DIR", code="opening_key_missing", key_id=""
        )
    newest = max(held, key=lambda key_id: (private_folder / f"{key_id}.key").stat().st_mtime_ns)
    return sealed_to(read_private_key(private_folder, newest).public_key, bound_to, secret)


def sealed_to(key: PublicKey, bound_to: UUID, secret: bytes) -> Sealed:
    salt = secrets.token_bytes(SALT_BYTES)
    box = SealedBox(key).encrypt(bound_to.bytes + salt + secret)
    return Sealed(key_id_of(key), box, commitment_of(salt, secret))


def open_sealed(private_folder: Path | None, *, key_id: str, box: bytes, submission_id: UUID) -> bytes:
    """The secret that was sealed for this submission. Workers only: nobody else has the folder."""
    return open_with_salt(private_folder, key_id=key_id, box=box, submission_id=submission_id).secret


def open_with_salt(private_folder: Path | None, *, key_id: str, box: bytes, submission_id: UUID) -> Opened:
    """The secret with the salt that its commitment was made with."""
    key = read_private_key(private_folder, key_id)
    try:
        content = SealedBox(key).decrypt(box)
    except CryptoError:
        raise Unavailable("a sealed secret does not open", code="secret_unreadable") from None
    if content[:16] != submission_id.bytes:
        raise Unavailable("a sealed secret belongs to another submission", code="secret_unreadable")
    return Opened(content[16 : 16 + SALT_BYTES], content[16 + SALT_BYTES :])


def seal_file(public_file: Path | None, *, submission_id: UUID, content: bytes) -> bytes:
    """A file of that submission as a store may keep it: the key's id on a line of its own, then the box."""
    sealed = seal(public_file, submission_id=submission_id, secret=content)
    return sealed.key_id.encode() + b"\n" + sealed.box


def open_file(private_folder: Path | None, *, submission_id: UUID, content: bytes) -> bytes:
    """What was sealed for this submission and kept in a store."""
    key_id, _, box = content.partition(b"\n")
    if not KEY_ID.fullmatch(key_id):
        raise Unavailable("a file of a release is not sealed", code="secret_unreadable")
    return open_sealed(private_folder, key_id=key_id.decode(), box=box, submission_id=submission_id)


def commitment_of(salt: bytes, secret: bytes) -> str:
    return hashlib.sha256(salt + secret).hexdigest()


def read_public_key(public_file: Path | None) -> PublicKey:
    try:
        return PublicKey((public_file or Path()).read_bytes().strip(), HexEncoder)
    except (OSError, ValueError, TypeError):
        raise Unavailable(
            "secrets cannot be sealed: ANONCUP_SEALING_KEY_FILE does not name a public key",
            code="sealing_unavailable",
        ) from None


def held_keys(private_folder: Path | None) -> list[str]:
    """The ids of the private keys that this process can read."""
    if private_folder is None:
        return []
    return sorted(path.stem for path in private_folder.glob("*.key") if os.access(path, os.R_OK))


def read_private_key(private_folder: Path | None, key_id: str) -> PrivateKey:
    try:
        path = (private_folder or Path()) / f"{key_id}.key"
        return PrivateKey(path.read_bytes().strip(), HexEncoder)
    except (OSError, ValueError, TypeError):
        raise Unavailable(
            "the private key {key_id} is not in ANONCUP_OPENING_KEYS_DIR",
            code="opening_key_missing",
            key_id=key_id,
        ) from None
