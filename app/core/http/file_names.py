"""Names of files in responses of the API."""

from collections.abc import Mapping
from typing import Any


def key_by_file_name(digests: Mapping[str, Any]) -> dict[str, str]:
    """Return SHA-256 digests by the name of the CSV file."""
    return {f"{name}.csv": digest for name, digest in digests.items()}
