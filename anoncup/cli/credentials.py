"""Which service the commands talk to, and as whom: the environment's word, then a file of the owner's."""

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from anoncup.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Credentials:
    """A service, and the token of somebody it knows."""

    url: str
    token: str | None = None


def place() -> Path:
    """``$XDG_CONFIG_HOME/anoncup/credentials.json``; a relative XDG_CONFIG_HOME counts for nothing."""
    configured = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    folder = configured if configured.is_absolute() else Path.home() / ".config"
    return folder / "anoncup" / "credentials.json"


def stored() -> Credentials | None:
    try:
        content = json.loads(place().read_text("utf-8"))
        return Credentials(str(content["url"]), str(content["token"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise InvalidInput("{file} is damaged: run anoncup login", file=str(place())) from None


def known() -> Credentials | None:
    """ANONCUP_URL and ANONCUP_TOKEN win over the file; its token goes to its own service only."""
    url, token = os.environ.get("ANONCUP_URL"), os.environ.get("ANONCUP_TOKEN") or None
    if url and token:
        return Credentials(url, token)
    kept = stored()
    if url:
        same = kept is not None and kept.url == url.rstrip("/")
        return kept if same else Credentials(url)
    return Credentials(kept.url, token or kept.token) if kept else None


def keep(credentials: Credentials) -> None:
    """Write the file, readable for its owner only from its first byte on."""
    path = place()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(prefix=".credentials.", dir=path.parent)  # of mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(credentials), file)
        Path(name).replace(path)
    finally:
        with suppress(FileNotFoundError):
            Path(name).unlink()


def forget() -> None:
    place().unlink(missing_ok=True)
