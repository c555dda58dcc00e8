"""The service and token that commands use, from the environment or the user's credentials file."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

import typer

from anoncup.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Credentials:
    """The address of a service and the user's token, if signed in."""

    url: str
    token: str | None = None


def _locate_file() -> Path:
    """Return the path in the user's folder for settings on this platform."""
    return Path(typer.get_app_dir("anoncup")) / "credentials.json"


def load_file() -> Credentials | None:
    try:
        content = json.loads(_locate_file().read_text("utf-8"))
        return Credentials(str(content["url"]), str(content["token"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise InvalidInput("{file} is damaged: run anoncup login", file=str(_locate_file())) from None


def load() -> Credentials | None:
    """Return the credentials; ANONCUP_URL and ANONCUP_TOKEN take precedence over the file.

    The token of the file is only used for the service it belongs to.
    """
    url, token = os.environ.get("ANONCUP_URL"), os.environ.get("ANONCUP_TOKEN") or None
    if url and token:
        return Credentials(url, token)
    saved = load_file()
    if url:
        is_same_service = saved is not None and saved.url == url.rstrip("/")
        return saved if is_same_service else Credentials(url)
    return Credentials(saved.url, token or saved.token) if saved else None


def save(credentials: Credentials) -> None:
    """Write the credentials file, which other users can never read."""
    path = _locate_file()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
        json.dump(asdict(credentials), file)
    Path(file.name).replace(path)


def delete() -> None:
    _locate_file().unlink(missing_ok=True)
