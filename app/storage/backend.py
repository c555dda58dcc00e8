"""The interface of storage backends."""

from typing import IO, Protocol


class StorageBackend(Protocol):
    """Files by name. Writes are atomic, and durable when the call returns.

    Every method raises Unavailable (``storage_unavailable``) while the backend cannot be reached.
    """

    def open(self, name: str) -> IO[bytes]:
        """Return the file as a seekable stream; raise NotFound (``file_lost``) if it does not exist."""

    def contains(self, name: str) -> bool:
        """Return whether there is a file of this name."""

    def create(self, name: str, content: IO[bytes]) -> bool:
        """Write ``content`` under a new name. Return False and change nothing if the name is taken."""

    def replace(self, name: str, content: IO[bytes]) -> None:
        """Write ``content`` under the name and replace an existing file."""

    def remove(self, name: str) -> None:
        """Remove the file if it exists."""

    def list_names(self, folder: str) -> list[str]:
        """Return the names of all files below ``folder``, which ends with a slash and may be missing."""

    def check_writable(self) -> None:
        """Raise Unavailable unless the backend can be reached and written to."""
