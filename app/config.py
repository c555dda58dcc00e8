"""Settings of the service, read once from the environment."""

import re
from email.utils import parseaddr
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from anoncup.errors import InvalidInput

DRIVER = "postgresql+psycopg://"
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
EMAIL_PATTERN = rf"{_ATOM}(\.{_ATOM})*@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*"
"""E-mail addresses in ASCII, without quotes or comments."""


class SignInProvider(BaseModel):
    """An OpenID Connect provider by which people sign in, or an OAuth 2 provider with explicit addresses."""

    model_config = ConfigDict(frozen=True)

    label: Annotated[str, Field(min_length=1)]
    """Name on the button."""
    issuer: str
    """URL of the provider, whose description is at ``/.well-known/openid-configuration`` below it."""
    client_id: str
    client_secret: SecretStr = SecretStr("")
    client_secret_file: Path | None = None
    """File with the client secret, which only the web application reads."""
    scope: str = "openid"
    authorize_url: str = ""
    token_url: str = ""
    user_url: str = ""
    """Addresses of an OAuth 2 provider without OpenID Connect. The last one returns the user as JSON."""
    subject: str = "sub"
    """Key of the user's permanent identifier in that JSON."""

    @model_validator(mode="after")
    def check_addresses(self) -> Self:
        """Raise ValueError unless all addresses use https or a local host, and none or all three are set."""
        oauth_urls = [url for url in (self.authorize_url, self.token_url, self.user_url) if url]
        if len(oauth_urls) not in {0, 3}:
            raise ValueError("set all of authorize_url, token_url and user_url, or none of them")
        if not all(is_secure_url(url) for url in (self.issuer, *oauth_urls)):
            raise ValueError("the addresses of a provider begin with https://")
        return self

    def read_secret(self) -> str:
        return _read_secret(self.client_secret, self.client_secret_file)


class SmtpServer(BaseModel):
    """A mail server that sends the service's mail."""

    model_config = ConfigDict(frozen=True)

    host: Annotated[str, Field(min_length=1)]
    port: Annotated[int, Field(ge=1, le=65535)] = 587
    tls: Literal["starttls", "implicit", "none"] = "starttls"
    """``none`` is for servers without a password, or on this machine."""
    user: str = ""
    password: SecretStr = SecretStr("")
    password_file: Path | None = None
    """File with the password, which only the sender of mail reads."""
    sender: str
    """Address that mail comes from, such as ``Cup <cup@example.org>``."""

    @model_validator(mode="after")
    def check_connection(self) -> Self:
        """Raise ValueError if the password would be sent in clear, or the sender is no address."""
        if self.tls == "none" and self.user and not is_local_host(self.host):
            raise ValueError("a password needs TLS: set tls to starttls or implicit")
        if not re.fullmatch(EMAIL_PATTERN, self.sender_address) or not self.sender.isprintable():
            raise ValueError("the sender is an address such as Cup <cup@example.org>")
        return self

    @property
    def sender_address(self) -> str:
        return parseaddr(self.sender)[1]

    def read_password(self) -> str:
        return _read_secret(self.password, self.password_file)


def _read_secret(secret: SecretStr, file: Path | None) -> str:
    return secret.get_secret_value() if file is None else file.read_text().strip()


class Settings(BaseSettings):
    """Each setting is the environment variable ``ANONCUP_`` + its name in capitals.

    ``DATABASE_URL`` and ``REDIS_URL`` work without the prefix too.
    """

    model_config = SettingsConfigDict(
        env_prefix="ANONCUP_", env_nested_delimiter="__", frozen=True, extra="ignore"
    )

    database_url: str = Field(
        default="", validation_alias=AliasChoices("ANONCUP_DATABASE_URL", "DATABASE_URL")
    )
    database_wait_s: float = 0
    """Seconds that commands such as ``migrate`` and ``restore`` wait for the database to start."""
    redis_url: str = Field(default="", validation_alias=AliasChoices("ANONCUP_REDIS_URL", "REDIS_URL"))
    data: Path = Path(".anoncup")
    """Folder for the embedded database, the keys and, without ``store``, the files."""
    store: str = ""
    """Location of the files: a folder, or ``s3://bucket/prefix`` with the usual ``AWS_ENDPOINT_URL``,
    ``AWS_REGION``, ``AWS_ACCESS_KEY_ID`` and ``AWS_SECRET_ACCESS_KEY``. Web, workers and clock need the same
    one."""

    public_url: str = ""
    """Public URL of the service, such as ``https://cup.example.org``. It is used for links, requests for
    other hosts are rejected except for local names of this machine, and browsers are told to use https only.
    Without it, only requests for localhost, 127.0.0.0/8 or [::1] are accepted."""
    sealing_key_file: Path | None = None
    """Public key that secrets are sealed to; required by the web application."""
    opening_keys_dir: Path | None = None
    """Folder of the private keys that open secrets; for workers only."""

    body_limit_mb: int = 160
    """Maximum size of a request. Each file has a smaller limit set by the competition."""
    grace_s: int = 120
    """Seconds after a deadline in which the body of an upload that started before it may complete."""
    uploads_at_once: int = 6
    """Maximum number of uploads received at a time; the uploads of one team are received one by one."""
    parsed_mb: int = 64
    """Maximum size of the uploads in memory at a time; a single larger upload is allowed."""
    upload_patience_s: float = 120
    """Seconds that an upload waits for either limit before it gets a 503."""
    web_processes: Annotated[int, Field(ge=1, le=32)] = 1
    """Number of web server processes. Limits kept in the memory of a process (connections, uploads, bytes,
    passwords, database connections) are divided by it."""
    metrics_token: Annotated[str, Field(pattern=r"^([!-~]{16,})?$")] = ""
    """Token that every reader of ``/metrics`` sends as ``Authorization: Bearer``. Without a token, only this
    machine can read ``/metrics``, and nobody can if ``public_url`` names another host."""
    sign_in: dict[Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,30}$")], SignInProvider] = {}
    """Providers of sign-in by their names in URLs: ``ANONCUP_SIGN_IN__NAME__ISSUER`` and so on."""
    cookie_key: Annotated[str, Field(pattern=r"^([!-~]{32,})?$")] = ""
    """Secret that signs the cookies of sign-ins with providers. Web servers on several hosts need the same
    one; without it, each start makes its own."""
    secure_cookies: bool | None = None
    """Whether browsers send the session cookie over https only. By default they do for every host except
    local names of this machine and names without a dot."""

    smtp: SmtpServer | None = None
    """Mail server, ``ANONCUP_SMTP__HOST`` and so on. Without it there is no mail, and no page mentions it."""

    scoring_time_limit_s: int = 600
    """Maximum CPU time to score a submission or to parse an original."""
    scoring_memory_mb: int = 6144
    jobs_per_child: Annotated[int, Field(ge=1)] = 20
    """Jobs of a process that reads untrusted files. With 1, nothing survives from one to the next."""
    runner_idle_s: float = 60
    """Seconds until idle processes that read untrusted files end; the next file starts new ones."""
    parsing_time_limit_s: int = 120
    """Maximum CPU time to parse an upload."""
    package_time_limit_s: int = 10
    """Maximum CPU time for the code of a package to read an upload, while the team waits."""
    parsing_memory_mb: int = 4096
    """Memory limit for parsing uploads; parsing originals has the limit of scoring."""
    sandbox: Literal["required", "wanted", "off"] = "required"
    """Sandbox of the processes that read untrusted files, see ``anoncup.runner.sandbox``. On a machine that
    cannot provide it, ``required`` accepts neither work nor uploads, and ``wanted`` only warns. ``anoncup
    serve`` with embedded servers sets ``wanted``."""
    scoring_attempts: int = 3
    """Number of attempts before a submission ends in ERROR."""
    lost_after_s: int = 300
    """Seconds after which a file that no worker has found intact is lost; jobs that need it end in ERROR."""
    lease_s: int = 20
    """Seconds after which a worker loses a lease that it has not renewed."""
    clock_every_s: float = 1.0
    """Seconds between the clock's checks for due phase changes."""
    clock_stale_s: float = 30.0
    """Seconds after which a clock without a completed tick is considered stopped."""
    sweep_every_s: int = 5
    """Seconds between the clock's checks for abandoned jobs."""

    @field_validator("database_url")
    @classmethod
    def add_driver(cls, value: str) -> str:
        """Return the URL with the driver that SQLAlchemy needs."""
        return re.sub("^postgres(ql)?://", DRIVER, value)

    @field_validator("secure_cookies", mode="before")
    @classmethod
    def read_empty_as_none(cls, value: object) -> object:
        """Treat an empty variable as unset, as when Compose passes on a variable without a value."""
        return None if value == "" else value

    @field_validator("public_url")
    @classmethod
    def check_public_url(cls, value: str) -> str:
        """Return the URL without a trailing slash; raise ValueError unless it is an http or https URL.

        Pages link to each other from the root, so that a path would lead nowhere.
        """
        parts = urlsplit(value)
        is_complete = (
            parts.scheme in {"http", "https"}
            and parts.hostname
            and parts.port != 0  # raises ValueError for a wrong one
            and not (parts.query or parts.fragment)
        )
        if value and not is_complete:
            raise ValueError("must be an address such as https://cup.example.org")
        if parts.path.strip("/"):
            raise ValueError("must have no path: the service needs a host name of its own")
        return value.rstrip("/")

    @model_validator(mode="after")
    def require_url_for_mail(self) -> Self:
        """Raise ValueError if there is a mail server, but no URL for the links in mail."""
        if self.smtp and not self.public_url:
            raise ValueError("mail needs ANONCUP_PUBLIC_URL for its links")
        return self

    @property
    def is_local(self) -> bool:
        """Whether the service is reached from this machine only, according to ``public_url``."""
        return is_local_host(urlsplit(self.public_url).hostname or "localhost")

    def requires_https(self, host: str) -> bool:
        """Return whether a session for a request to ``host`` is restricted to https."""
        if self.secure_cookies is not None:
            return self.secure_cookies
        public_host = urlsplit(self.public_url).hostname or host
        return not is_local_host(public_host) and ("." in public_host or ":" in public_host)

    def serves_host(self, host: str) -> bool:
        """Return whether the service accepts requests for ``host``."""
        return is_local_host(host) or (bool(host) and host == urlsplit(self.public_url).hostname)

    def compute_process_share(self, total: int) -> int:
        """Return the share of one web process in a total limit, at least 1."""
        return max(1, total // self.web_processes)

    @property
    def storage_location(self) -> str:
        """Location of the files: ``store``, or the data folder by default."""
        return self.store or str(self.data)


def is_secure_url(url: str) -> bool:
    """Return whether the URL uses https, or http to this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and is_local_host(parts.hostname or ""))


def is_local_host(host: str) -> bool:
    """Return whether the host is a local name or loopback address."""
    return host == "localhost" or host.endswith(".localhost") or is_loopback(host)


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@lru_cache
def get_settings() -> Settings:
    """Return the settings; raise InvalidInput for an invalid one, without its value, which may be secret."""
    try:
        return Settings()
    except ValidationError as problem:
        error = problem.errors(include_input=False, include_url=False)[0]
        reason = error["msg"].removeprefix("Value error, ")
        raise InvalidInput(
            "{setting}: {reason}", setting=_get_variable_name(error["loc"]), reason=reason
        ) from None


def _get_variable_name(location: tuple[int | str, ...]) -> str:
    """Return the environment variable of a setting or of a part of one; ``settings`` for all together."""
    if not location:
        return "settings"
    name = "__".join(map(str, location)).upper()
    return name if name in {"DATABASE_URL", "REDIS_URL"} else f"ANONCUP_{name.removeprefix('ANONCUP_')}"
