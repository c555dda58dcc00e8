"""Hash and verify passwords with Argon2."""

import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from anoncup.errors import InvalidInput

_MIN_PASSWORD_LENGTH = 8
_MAX_PASSWORD_LENGTH = 256
_MAX_TYPED_LENGTH = 4 * _MAX_PASSWORD_LENGTH
"""Up to four characters become one in NFKC. A limit, because normalizing can take quadratic time."""
hasher = PasswordHasher()
DUMMY_HASH = (
    "$argon2id$v=19$m=65536,t=3,p=4$i4TlCL1eG59dM8/ULgLyzA$gaDOZ/bSk/rIQlVPXtIdWx5NYJjfcs02uj0hvmKwhQs"
)
"""Hash of a discarded random password. It is verified for unknown names, so that the response takes as long
as for known ones. It is a constant because computing it would slow down every process start."""
UNUSABLE_HASH = "!"
"""Password hash of an account without a password."""


def hash_password(password: str) -> str:
    """Hash a new password in NFKC. Raise InvalidInput if its length is out of bounds."""
    password = _normalize(password)
    if not _MIN_PASSWORD_LENGTH <= len(password) <= _MAX_PASSWORD_LENGTH:
        raise InvalidInput(
            "a password must have {least} to {most} characters",
            code="password_length",
            least=_MIN_PASSWORD_LENGTH,
            most=_MAX_PASSWORD_LENGTH,
        )
    return hasher.hash(_encode_password(password))


def _normalize(password: str) -> str:
    """Return the password in NFKC, because keyboards and systems write the same text in several ways."""
    return unicodedata.normalize("NFKC", password[: _MAX_TYPED_LENGTH + 1])


def _encode_password(password: str) -> bytes:
    """Encode a password; JSON can contain lone surrogates, which strict UTF-8 rejects."""
    return password.encode("utf-8", "surrogatepass")


def is_correct_password(password_hash: str | None, password: str) -> bool:
    """Return whether the password matches the hash. Without a hash this takes as long as with one."""
    try:
        return hasher.verify(password_hash or DUMMY_HASH, _encode_password(_normalize(password)))
    except (VerificationError, InvalidHashError):
        return False
