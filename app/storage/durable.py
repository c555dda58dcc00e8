"""Files of this machine that are there whole, also after a power cut."""

import os
import shutil
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO


def write_whole(path: Path, content: IO[bytes], *, mode: int = 0o600) -> None:
    """All of it under its name or nothing: written aside, flushed, renamed."""
    content.seek(0)
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            os.fchmod(file.fileno(), mode)
            shutil.copyfileobj(content, file)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).rename(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """A rename survives a power cut only once its folder is flushed too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
