"""The interpreters of child processes: this one, or that of a package with an environment of its own.

A program in such an environment has the library and what the package requires. Of the service, only the few
modules can be imported that need nothing else.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from anoncup.environments import DESCRIPTION_FILE, FOLDER_VARIABLE, find_environments_folder

_SERVICE_FOLDER = Path(__file__).parents[2]
"""The folder of the packages ``app`` and ``workers``."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The interpreter of an environment by its name, or this one if the name is empty."""

    environment: str

    @property
    def folder(self) -> Path:
        return find_environments_folder().resolve() / self.environment

    @property
    def python(self) -> str:
        return str(self.folder / "bin/python") if self.environment else sys.executable

    @property
    def is_installed(self) -> bool:
        return Path(self.python).exists()

    def identify_installation(self) -> tuple[object, ...]:
        """Return values that change when packages of the interpreter are replaced or removed."""
        from anoncup.plugins import INSTALLED, find_installed_version  # noqa: PLC0415  # imports the packages

        if not self.environment:
            own_packages = [package for package in INSTALLED.packages if not package.environment]
            return tuple(map(find_installed_version, own_packages))
        try:
            status = (self.folder / DESCRIPTION_FILE).stat()
        except FileNotFoundError:
            return ()
        return status.st_ino, status.st_mtime_ns

    @property
    def import_path(self) -> dict[str, str]:
        """Variables with which the interpreter starts."""
        return {"PYTHONPATH": str(_SERVICE_FOLDER)} if self.environment else {}

    @property
    def variables(self) -> dict[str, str]:
        """Variables for libraries: the folders of compiled loops and of environments; a package has none."""
        if not self.environment:
            return {FOLDER_VARIABLE: str(self.folder)}
        return {
            "NUMBA_CACHE_DIR": str(self.folder / "loops"),
            FOLDER_VARIABLE: str(self.folder / "no-packages"),
        }
