"""A bucket of any S3-compatible store, found by the usual ``AWS_…`` variables."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Literal

import obstore
import structlog
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import S3Store

from anoncup.errors import NotFound, Unavailable
from app.storage.folder import NOT_READ, NOT_REMOVED, NOT_STORED

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig

log = structlog.get_logger(__name__)

IN_MEMORY = 8 << 20
"""Larger files wait on the disk while they are checked."""

# A store that does not answer is given up after some seconds, also if it accepts connections and then hangs;
# a large file may take as long as its bytes keep coming. While it is sent one the store says nothing, so the
# time between two signs of life has to do for 64 MB.
CLIENT: "ClientConfig" = {
    "connect_timeout": timedelta(seconds=2),
    "read_timeout": timedelta(seconds=15),
    "timeout": timedelta(seconds=300),
}
RETRIES: "RetryConfig" = {
    "max_retries": 2,
    "retry_timeout": timedelta(seconds=10),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=1), "base": 2},
}

NO_BUCKET = "NoSuchBucket"
"""A 404 that says nothing about the file: the store's name is wrong."""
CODE = re.compile(r"<Code>(\w+)</Code>")


@dataclass(frozen=True, slots=True)
class Bucket:
    """The objects of a bucket, below a prefix."""

    objects: S3Store

    @classmethod
    def named(cls, bucket: str, *, prefix: str) -> "Bucket":
        """Endpoint, region and credentials are read from the environment."""
        client: ClientConfig = {**CLIENT, "allow_http": is_plain(os.environ.get("AWS_ENDPOINT_URL", ""))}
        return cls(S3Store(bucket, prefix=prefix or None, client_options=client, retry_config=RETRIES))

    def open(self, name: str) -> IO[bytes]:
        file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  # whoever asks closes it
        try:
            with told_as(NOT_READ):
                for piece in obstore.get(self.objects, name).stream():
                    file.write(piece)
        except BaseException:
            file.close()
            raise
        return file

    def holds(self, name: str) -> bool:
        try:
            with told_as(NOT_READ):
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
        with told_as(NOT_REMOVED):
            obstore.delete(self.objects, name)

    def names(self, folder: str) -> list[str]:
        with told_as(NOT_READ):
            return sorted(one["path"] for some in obstore.list(self.objects, prefix=folder) for one in some)

    def check(self) -> None:
        # Whoever may not write is told so before whether the name is taken.
        self.create("check", BytesIO(b"anoncup"))

    def write(self, name: str, content: IO[bytes], *, mode: Literal["create", "overwrite"]) -> None:
        # Not in parts: those know no create-if-absent, and a broken upload would leave them behind.
        content.seek(0)
        with told_as(NOT_STORED):
            obstore.put(self.objects, name, content.read(), mode=mode, use_multipart=False)


def is_plain(endpoint: str) -> bool:
    """Whether the operator asked for http, as is usual on one's own network."""
    return endpoint.startswith("http://")


@contextmanager
def told_as(failure: str) -> Iterator[None]:
    """Errors of the store in the words of the service; endpoint and names are for the log only."""
    try:
        yield
    except AlreadyExistsError:
        raise
    except (BaseError, OSError) as problem:
        code = CODE.search(str(problem))
        if isinstance(problem, FileNotFoundError) and (code is None or code[1] != NO_BUCKET):
            raise NotFound("the file is not in the store", code="file_lost") from None
        reason = code[1] if code else str(problem).partition("\n")[0]
        log.warning("storage_unavailable", problem=type(problem).__name__, reason=reason)
        raise Unavailable(failure, code="storage_unavailable") from problem
