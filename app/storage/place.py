"""What a place that holds files can do, whichever kind it is."""

from typing import IO, Protocol


class Place(Protocol):
    """Files under names. What is written is there whole and for good when the call returns, or not at all.

    Every method raises Unavailable (``storage_unavailable``) while the place cannot be reached.
    """

    def open(self, name: str) -> IO[bytes]:
        """The file, to be read from its start and sought in; NotFound (``file_lost``) if it is not there."""

    def holds(self, name: str) -> bool:
        """Whether there is a file of this name."""

    def create(self, name: str, content: IO[bytes]) -> bool:
        """Write all of ``content`` under a new name; False, and nothing changes, if the name is taken."""

    def replace(self, name: str, content: IO[bytes]) -> None:
        """Write all of ``content`` under the name, whatever was there."""

    def remove(self, name: str) -> None:
        """Take the file away, if it is there."""

    def names(self, folder: str) -> list[str]:
        """The names of all files below a folder, which ends with a slash; none if it is not there."""

    def check(self) -> None:
        """Return if the place can be reached and written to."""
