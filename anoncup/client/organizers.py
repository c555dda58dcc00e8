"""API calls for organizers."""

from pathlib import Path

from anoncup import schemas
from anoncup.client.transport import (
    UPLOAD_TIMEOUT_S,
    TransferProgress,
    Transport,
    competition_path,
    ignore_progress,
    iter_chunks,
)

_TOML_HEADERS = {"Content-Type": "application/toml"}


class OrganizerApi(Transport):
    """API calls for the organizers of a competition and for administrators.

    ``slug`` is the address of a competition, or of one of its rounds (``cup.practice``). Times are in ISO
    format with a UTC offset (``2027-01-31T09:00+09:00``).
    """

    def create_competition(self, toml: str) -> schemas.Competition:
        """Create a competition from the text of a competition file."""
        return self.call(
            schemas.Competition, "POST", "/competitions", content=toml.encode(), headers=_TOML_HEADERS
        )

    def get_competition_file(self, slug: str) -> str:
        return self.get_text(competition_path(slug, "competition.toml"))

    def put_competition_file(self, slug: str, toml: str) -> schemas.Competition:
        """Replace the competition file by another text."""
        path = competition_path(slug, "competition.toml")
        return self.call(schemas.Competition, "PUT", path, content=toml.encode(), headers=_TOML_HEADERS)

    def put_original(
        self,
        slug: str,
        content: bytes,
        *,
        filename: str = "original.csv",
        progress: TransferProgress = ignore_progress,
    ) -> schemas.Original:
        """Upload a file of the original data."""
        return self.call(
            schemas.Original,
            "PUT",
            competition_path(slug, "original", filename),
            content=iter_chunks(content, progress),
            headers={"Content-Type": "text/csv", "Content-Length": str(len(content))},
            timeout=UPLOAD_TIMEOUT_S,
        )

    def create_invite(self, slug: str, *, uses: int = 1) -> str:
        """Create an invite with which ``uses`` teams can join, and return its code."""
        return self.call(schemas.Invite, "POST", competition_path(slug, "invites"), json={"uses": uses}).code

    def extend_phase(
        self, slug: str, phase: str, *, end: str, move_following: bool = False
    ) -> schemas.Competition:
        """Move the end of a phase to the time ``end``, and later phases by as much if ``move_following``."""
        path = competition_path(slug, "phases", phase, "extend")
        body = {"end": end, "move_following": move_following}
        return self.call(schemas.Competition, "POST", path, json=body)

    def download_export(
        self, slug: str, destination: Path, *, progress: TransferProgress = ignore_progress
    ) -> str:
        """Download everything an organizer may have as one archive; return its SHA-256."""
        return self.download(competition_path(slug, "export.zip"), destination, progress=progress)
