"""Files of a store in a folder, to be harmed behind its back."""

from pathlib import Path


def file_of(folder: Path, digest: str) -> Path:
    """Where existing installations have it."""
    return folder / "blobs" / digest[:2] / digest
