"""Fixtures that run the command line against a web server on a real port with the test database."""

import io
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog
import uvicorn

from anoncup.cli.main import main
from app.config import Settings
from app.main import create_app
from tests.support.command_line import CliResult, CommandRunner
from tests.support.wait import TIMEOUT_S, poll_until

# The test's own service must not be reached through a proxy.
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@pytest.fixture
def quiet_server() -> Iterator[None]:
    """Silence the server's log, which would mix with the output of commands in the same process."""
    with structlog.testing.capture_logs():
        yield


@pytest.fixture(scope="session")
def url(session_settings: Settings) -> Iterator[str]:
    """The address of the application, which runs in a separate thread."""
    server = uvicorn.Server(uvicorn.Config(create_app(), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    assert poll_until(lambda: server.started or not thread.is_alive())
    assert server.started
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(TIMEOUT_S)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, without settings of any service."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("ANONCUP_URL", "ANONCUP_TOKEN", *PROXY_VARIABLES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def anoncup(
    folder: Path,
    quiet_server: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> CommandRunner:
    """A function that runs the command line in this process; ``typed`` is its standard input."""

    def run(*arguments: str | Path, typed: str = "") -> CliResult:
        monkeypatch.setattr(sys, "argv", ["anoncup", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_info:
            main()
        stdout, stderr = capsys.readouterr()
        assert "Traceback" not in stderr
        return CliResult(int(exit_info.value.code or 0), stdout, stderr)

    return run


@pytest.fixture
def sign_in_as(url: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Run the following commands as the owner of a token."""

    def set_token(token: str) -> None:
        monkeypatch.setenv("ANONCUP_URL", url)
        monkeypatch.setenv("ANONCUP_TOKEN", token)

    return set_token
