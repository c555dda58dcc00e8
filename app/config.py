"""Settings from the environment, read once and frozen."""

import re
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

DRIVER = "postgresql+psycopg://"


class Settings(BaseSettings):
    """``ANONCUP_`` + the name in capitals; ``DATABASE_URL`` and ``REDIS_URL`` are read too."""

    model_config = SettingsConfigDict(env_prefix="ANONCUP_", frozen=True, extra="ignore")

    database_url: str = Field(
        default="", validation_alias=AliasChoices("ANONCUP_DATABASE_URL", "DATABASE_URL")
    )
    database_wait_s: float = 0
    """How long commands such as ``migrate`` and ``restore`` wait for the database to start."""
    redis_url: str = Field(default="", validation_alias=AliasChoices("ANONCUP_REDIS_URL", "REDIS_URL"))
    data: Path = Path(".anoncup")
    """On the embedded default: the database, the keys and, without ``store``, the files."""
    store: str = ""
    """Where the files lie: a folder, or ``s3://bucket/prefix`` with ``AWS_ENDPOINT_URL``, ``AWS_REGION``,
    ``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY`` as usual. Web, workers and clock need the same one."""

    public_url: str = ""
    """Where people reach the service, such as ``https://cup.example.org``: links are written with it, no
    other host is answered but this machine's own names, and browsers are told to keep to https. Without it,
    only requests for localhost, 127.0.0.0/8 or [::1] are answered."""
    source: str = ""
    """Where the code of this very service can be had, such as the address of a Git repository: kits say it to
    teams, whose command ``anoncup`` is made from it. Without it they are sent to the organizers."""
    sealing_key_file: Path | None = None
    """The public key that secrets are sealed to; the web application needs it."""
    opening_keys_dir: Path | None = None
    """The private keys that open them; workers only."""

    body_limit_mb: int = 160
    """The largest request; each file has the competition's own, smaller limit."""
    grace_s: int = 120
    """How long after its entrance an upload's body may end and still count for the deadline before it."""
    uploads_at_once: int = 16
    """How many uploads the web server reads at a time, each team's one after the other."""
    parsed_mb: int = 64
    """How much of them it has in memory at a time; of a single larger one, all."""
    upload_patience_s: float = 120
    """How long an upload waits for either, unread, before it is answered 503."""
    head_timeout_s: float = 20
    """How long a connection may take to send the head of a request; then it is closed."""
    body_bytes_per_s: float = 1000
    """A body that is waited for and comes more slowly than this, on the average, is answered 408."""
    body_patience_s: float = 30
    """Over how long that average goes: a sender may fall behind it, or be silent, for so long."""
    connections: int = 1600
    """How many are kept open; beyond, the one that has been idle longest is closed."""
    web_processes: Annotated[int, Field(ge=1, le=32)] = 1
    """Into how many processes the web server is divided. What is bounded in the memory of one (connections,
    uploads, bytes, passwords, connections to the database) has the bound divided by it."""
    metrics_token: Annotated[str, Field(pattern=r"^([!-~]{16,})?$")] = ""
    """With it ``/metrics`` answers ``Authorization: Bearer`` and it, from anywhere; without, it answers to
    this machine alone, and to nobody where ``public_url`` names another host."""
    secure_cookies: bool | None = None
    """Whether browsers send the session by https only; unless it is said, they do for every host but this
    machine's own names and those without a dot."""

    scoring_time_limit_s: int = 600
    scoring_memory_mb: int = 6144
    scoring_idle_s: float = 90
    """A process that scores or parses ends when it has been asked nothing for
    so long; the next submission starts another."""
    scoring_recycle_after: Annotated[int, Field(ge=1)] = 200
    """Submissions that a scoring process takes before another one does, and uploads that a parser takes:
    whatever leaks, leaks only so far. With 1, none is read by a process that has read another one; each costs
    the start of a process more."""
    parsing_time_limit_s: int = 120
    """How long an upload may be parsed."""
    parsing_memory_mb: int = 4096
    """How much memory the process has that parses uploads; that of originals has as much as a score."""
    sandbox: Literal["required", "wanted", "off"] = "required"
    """For the processes that read files of strangers, see ``workers.sandbox``. On a machine that lacks
    what it needs, ``required`` takes neither work nor uploads, and ``wanted``, which ``anoncup serve`` with
    its own servers sets, warns."""
    niceness: int = 0
    """By how much a worker's processes stand back from what answers people."""
    scoring_attempts: int = 3
    """How often a submission is tried before it ends in ERROR."""
    lost_after_s: int = 300
    """A file that no worker has found whole for so long is lost, and what needs it ends in ERROR."""
    lease_s: int = 20
    """A worker that has not renewed its claim for so long has lost it."""
    clock_every_s: float = 1.0
    """How often the clock looks for competitions to turn."""
    clock_stale_s: float = 30.0
    """A clock that has not gone round for so long stands still."""
    sweep_every_s: int = 5
    """How often it looks for work that nobody does."""

    @field_validator("database_url")
    @classmethod
    def with_driver(cls, written: str) -> str:
        """Return the address with its driver, as SQLAlchemy wants it."""
        return re.sub("^postgres(ql)?://", DRIVER, written)

    @field_validator("secure_cookies", mode="before")
    @classmethod
    def nothing_said(cls, written: object) -> object:
        """Empty, as a variable that passes none on is."""
        return None if written == "" else written

    @field_validator("public_url")
    @classmethod
    def is_an_address(cls, written: str) -> str:
        """The address without its last slash."""
        found = urlsplit(written)
        whole = found.scheme in {"http", "https"} and found.hostname and not (found.query or found.fragment)
        if written and not whole:
            raise ValueError("an address such as https://cup.example.org")
        return written.rstrip("/")

    @property
    def is_local(self) -> bool:
        """Whether people reach the service on this machine only, as far as it has been told."""
        return is_own(urlsplit(self.public_url).hostname or "localhost")

    def only_https(self, host: str) -> bool:
        """Whether who came by the name ``host`` gets a session for https only."""
        if self.secure_cookies is not None:
            return self.secure_cookies
        asked = urlsplit(self.public_url).hostname or host
        return not is_own(asked) and ("." in asked or ":" in asked)

    def answers(self, host: str) -> bool:
        """Whether the service goes by the name ``host``."""
        return is_own(host) or (bool(host) and host == urlsplit(self.public_url).hostname)

    def share(self, whole: int) -> int:
        """What one of the web processes has of a ``whole``; at least one."""
        return max(1, whole // self.web_processes)

    @property
    def files(self) -> str:
        """Where the files lie: ``store``, or else in the folder of the data."""
        return self.store or str(self.data)


def is_own(host: str) -> bool:
    """Whether the name is a machine's own for itself."""
    return host == "localhost" or host.endswith(".localhost") or is_loopback(host)


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@lru_cache
def get_settings() -> Settings:
    return Settings()
