"""The folder of packages that have an environment of their own; ``anoncup packages add`` makes them."""

import os
from pathlib import Path

DESCRIPTION_FILE = "package.json"
"""File of an environment that describes the plug-ins in it."""
FOLDER_VARIABLE = "ANONCUP_PACKAGES"
"""Environment variable with another folder than ``packages`` in the data folder."""
is_deferred = False
"""Whether ``anoncup.plugins`` does without packages when it is imported: they are imported in a sandbox."""


def defer_packages() -> None:
    """Call this before anything else is imported."""
    global is_deferred  # noqa: PLW0603  # one for each process
    is_deferred = True


def find_environments_folder(data_folder: Path | None = None) -> Path:
    """Return the folder that has a folder for each environment of the service. It may not exist."""
    data_folder = data_folder or Path(os.environ.get("ANONCUP_DATA") or ".anoncup")
    return Path(os.environ.get(FOLDER_VARIABLE) or data_folder / "packages")
