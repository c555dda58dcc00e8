"""Storage backend for S3-compatible stores, configured by the usual ``AWS_…`` variables."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Literal

import obstore
import structlog
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import S3Store

from anoncup.errors import NotFound, Unavailable
from app.core.storage.folder import READ_FAILED, REMOVE_FAILED, WRITE_FAILED

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig

log = structlog.get_logger(__name__)

# Give up after some seconds on a store that does not respond, even if it accepts connections and then hangs.
# A download may go on while bytes keep arriving. During an upload the store sends nothing, so the read
# timeout must be long enough to upload 64 MB.
CLIENT_OPTIONS: "ClientConfig" = {
    "connect_timeout": timedelta(seconds=2),
    "read_timeout": timedelta(seconds=15),
    "timeout": timedelta(seconds=300),
}
_RETRY_OPTIONS: "RetryConfig" = {
    "max_retries": 2,
    "retry_timeout": timedelta(seconds=10),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=1), "base": 2},
}

_NO_BUCKET = "NoSuchBucket"
"""Error code of a 404 for a bucket that does not exist, as opposed to a missing file."""
_ERROR_CODE_PATTERN = re.compile(r"<Code>(\w+)</Code>")


@dataclass(frozen=True, slots=True)
class Bucket:
    """The objects of a bucket below a prefix."""

    objects: S3Store

    @classmethod
    def connect(cls, bucket: str, *, prefix: str) -> "Bucket":
        """Return the bucket. Endpoint, region and credentials are read from the environment."""
        client: ClientConfig = {
            **CLIENT_OPTIONS,
            # Plain http is usual in private networks.
            "allow_http": os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://"),
        }
        return cls(S3Store(bucket, prefix=prefix or None, client_options=client, retry_config=_RETRY_OPTIONS))

    def open(self, name: str) -> IO[bytes]:
        file = TemporaryFile()  # noqa: SIM115  # the caller closes it
        try:
            with _translate_errors(READ_FAILED):
                for chunk in obstore.get(self.objects, name).stream():
                    file.write(chunk)
        except BaseException:
            file.close()
            raise
        return file

    def contains(self, name: str) -> bool:
        try:
            with _translate_errors(READ_FAILED):
                obstore.head(self.objects, name)
        except NotFound:
            return False
        return True

    def create(self, name: str, content: IO[bytes]) -> bool:
        try:
            self.write(name, content, mode="create")
        except AlreadyExistsError:
            return False
        return True

    def replace(self, name: str, content: IO[bytes]) -> None:
        self.write(name, content, mode="overwrite")

    def remove(self, name: str) -> None:
        with _translate_errors(REMOVE_FAILED):
            obstore.delete(self.objects, name)

    def list_names(self, folder: str) -> list[str]:
        with _translate_errors(READ_FAILED):
            return sorted(
                entry["path"] for batch in obstore.list(self.objects, prefix=folder) for entry in batch
            )

    def check_writable(self) -> None:
        # Not by create, because a full store would find that the name is taken before it writes.
        self.replace("check", BytesIO(b"anoncup"))

    def write(self, name: str, content: IO[bytes], *, mode: Literal["create", "overwrite"]) -> None:
        # Multipart uploads do not support create-if-absent, and interrupted ones would leave parts behind.
        content.seek(0)
        with _translate_errors(WRITE_FAILED):
            obstore.put(self.objects, name, content.read(), mode=mode, use_multipart=False)


@contextmanager
def _translate_errors(message: str) -> Iterator[None]:
    """Convert errors of the store to domain errors. Endpoint and names appear in the log only."""
    try:
        yield
    except AlreadyExistsError:
        raise
    except (BaseError, OSError) as problem:
        code = _ERROR_CODE_PATTERN.search(str(problem))
        if isinstance(problem, FileNotFoundError) and (code is None or code[1] != _NO_BUCKET):
            raise NotFound("the file is not in the store", code="file_lost") from None
        reason = code[1] if code else str(problem).partition("\n")[0]
        log.warning("storage_unavailable", problem=type(problem).__name__, reason=reason)
        raise Unavailable(message, code="storage_unavailable") from problem
