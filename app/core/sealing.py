"""Secrets sealed to the workers' key (libsodium's sealed box: X25519, XSalsa20-Poly1305).

The web application has only the public key and cannot open what it sealed.
"""

import hashlib
import os
import re
import secrets
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from uuid import UUID

from nacl.encoding import HexEncoder
from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, PublicKey, SealedBox

from anoncup.errors import InvalidInput, Unavailable
from app.core.durable_files import write_atomically

SALT_BYTES = 32
_KEY_ID_PATTERN = re.compile(rb"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class SealedSecret:
    key_id: str
    box: bytes
    commitment: str


@dataclass(frozen=True, slots=True)
class OpenedSecret:
    salt: bytes
    secret: bytes


def create_keys(public_file: Path, private_folder: Path) -> str:
    """Create a key pair, with the public key in ``public_file``, and return its id."""
    private_key = PrivateKey.generate()
    key_id = compute_key_id(private_key.public_key)
    private_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_new_file(private_folder / f"{key_id}.key", private_key.encode(HexEncoder), mode=0o400)
    write_atomically(public_file, BytesIO(private_key.public_key.encode(HexEncoder) + b"\n"), mode=0o444)
    return key_id


def write_new_file(path: Path, content: bytes, *, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content + b"\n")
        file.flush()
        os.fsync(file.fileno())


def compute_key_id(key: PublicKey) -> str:
    return hashlib.sha256(bytes(key)).hexdigest()[:16]


def compute_private_key_id(text: bytes) -> str:
    """Return a key pair's id from the text of its private key file; raise InvalidInput if it is no key."""
    try:
        return compute_key_id(PrivateKey(text, HexEncoder).public_key)
    except (ValueError, TypeError):
        raise InvalidInput("this is not a private key", code="key_unreadable") from None


def seal(public_file: Path | None, *, bound_to: UUID, secret: bytes) -> SealedSecret:
    """Seal ``secret`` and bind it to an id, such as its submission's, without which it cannot be opened."""
    return _seal_to_key(read_public_key(public_file), bound_to, secret)


def seal_to_newest_key(private_folder: Path | None, *, bound_to: UUID, secret: bytes) -> SealedSecret:
    """Seal ``secret`` to the newest private key of this process."""
    key_ids = list_private_keys(private_folder)
    if private_folder is None or not key_ids:
        raise Unavailable(
            "there is no private key in ANONCUP_OPENING_KEYS_DIR", code="opening_key_missing", key_id=""
        )
    newest = max(key_ids, key=lambda key_id: (private_folder / f"{key_id}.key").stat().st_mtime_ns)
    return _seal_to_key(read_private_key(private_folder, newest).public_key, bound_to, secret)


def _seal_to_key(key: PublicKey, bound_to: UUID, secret: bytes) -> SealedSecret:
    salt = secrets.token_bytes(SALT_BYTES)
    box = SealedBox(key).encrypt(bound_to.bytes + salt + secret)
    return SealedSecret(compute_key_id(key), box, compute_commitment(salt, secret))


def open_sealed(private_folder: Path | None, *, key_id: str, box: bytes, bound_to: UUID) -> bytes:
    """Return the secret that was sealed for this id. Only workers have the folder of private keys."""
    return open_with_salt(private_folder, key_id=key_id, box=box, bound_to=bound_to).secret


def open_with_salt(private_folder: Path | None, *, key_id: str, box: bytes, bound_to: UUID) -> OpenedSecret:
    """Return the secret with the salt of its commitment; raise Unavailable if it cannot be opened."""
    key = read_private_key(private_folder, key_id)
    try:
        content = SealedBox(key).decrypt(box)
    except CryptoError:
        raise Unavailable("a sealed secret does not open", code="secret_unreadable") from None
    if content[:16] != bound_to.bytes:
        raise Unavailable("a sealed secret belongs to another submission", code="secret_unreadable")
    return OpenedSecret(content[16 : 16 + SALT_BYTES], content[16 + SALT_BYTES :])


def seal_file(public_file: Path | None, *, bound_to: UUID, content: bytes) -> bytes:
    """Seal a file, such as one of a release: the key id on the first line, then the sealed box."""
    sealed = seal(public_file, bound_to=bound_to, secret=content)
    return sealed.key_id.encode() + b"\n" + sealed.box


def open_file(private_folder: Path | None, *, bound_to: UUID, content: bytes) -> bytes:
    """Return the content of a file that ``seal_file`` sealed and bound to this id."""
    key_id, _, box = content.partition(b"\n")
    if not _KEY_ID_PATTERN.fullmatch(key_id):
        raise Unavailable("a file of a release is not sealed", code="secret_unreadable")
    return open_sealed(private_folder, key_id=key_id.decode(), box=box, bound_to=bound_to)


def compute_commitment(salt: bytes, secret: bytes) -> str:
    return hashlib.sha256(salt + secret).hexdigest()


def read_public_key(public_file: Path | None) -> PublicKey:
    try:
        return PublicKey((public_file or Path()).read_bytes().strip(), HexEncoder)
    except (OSError, ValueError, TypeError):
        raise Unavailable(
            "secrets cannot be sealed: ANONCUP_SEALING_KEY_FILE does not name a public key",
            code="sealing_unavailable",
        ) from None


def list_private_keys(private_folder: Path | None) -> list[str]:
    """Return the ids of the private keys that this process can read."""
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
