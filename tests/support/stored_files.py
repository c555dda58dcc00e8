"""Paths of stored files, for tests that damage them."""

from pathlib import Path


def build_blob_path(folder: Path, digest: str) -> Path:
    """Return the path of a blob. The layout is that of existing installations."""
    return folder / "blobs" / digest[:2] / digest
