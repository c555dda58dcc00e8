"""The command line against a web server on a real port, on the tests' own database."""

import io
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog
import uvicorn

from anoncup.cli import terminal
from anoncup.cli.main import main
from app.config import Settings
from app.main import create_app
from tests.support.cli_zygote import NO_LINES_S
from tests.support.command_line import Anoncup, Ran
from tests.support.wait import PATIENCE_S, eventually

# A test's own service must not be reached through somebody's proxy.
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@pytest.fixture(autouse=True)
def quiet_server() -> Iterator[None]:
    """The server's log would come between the lines of the commands, which run in the same process."""
    with structlog.testing.capture_logs():
        yield


@pytest.fixture(scope="session")
def url(session_settings: Settings) -> Iterator[str]:
    """The address of the application, served by a thread of its own."""
    server = uvicorn.Server(uvicorn.Config(create_app(), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    assert eventually(lambda: server.started or not thread.is_alive())
    assert server.started
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(PATIENCE_S)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, and nothing known of any service."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("ANONCUP_URL", "ANONCUP_TOKEN", *PROXIES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def anoncup(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Anoncup:
    """Run the command line in this process; ``typed`` is its standard input."""
    monkeypatch.setattr(terminal, "LINE_EVERY_S", NO_LINES_S)

    def run(*words: str | Path, typed: str = "") -> Ran:
        monkeypatch.setattr(sys, "argv", ["anoncup", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Ran(int(left.value.code or 0), out, err)

    return run


@pytest.fixture
def signed_in(url: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Be the owner of a token from here on."""

    def become(token: str) -> None:
        monkeypatch.setenv("ANONCUP_URL", url)
        monkeypatch.setenv("ANONCUP_TOKEN", token)

    return become
