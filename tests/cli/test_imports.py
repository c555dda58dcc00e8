"""Commands import no heavy modules that they do not need."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.full

HEAVY_MODULES = {
    *("numpy", "pandas", "numba", "scipy", "pyarrow", "sqlalchemy", "pydantic_settings", "celery"),
    "fastapi",
}

PROGRAM = """
import sys
from anoncup.cli.main import main
try:
    main()
finally:
    print(*(name for name in sys.modules if "." not in name), file=sys.stderr)
"""


def list_loaded_modules(*arguments: str) -> set[str]:
    """Return the top-level modules that a command has loaded when it ends."""
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, encoding="utf-8", check=False
    )
    assert "typer" in result.stderr
    return set(result.stderr.split())


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["score", "--help"], ["threshold", "--help"], ["serve", "--help"], ["organize", "--help"]],
    ids=" ".join,
)
def test_help_imports_no_scoring_server_or_network_modules(arguments: list[str]) -> None:
    assert list_loaded_modules(*arguments) & (HEAVY_MODULES | {"httpx2"}) == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ["competitions"],
        ["download", "cup"],
        ["submit", "cup", "--anonymized", "/dev/null", "--secret", "/dev/null"],
        *([command, "cup"] for command in ("submissions", "quota", "team", "board", "targets", "guesses")),
        ["guess", "cup/T01", "--file", "/dev/null"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_remote_command_imports_no_scoring_or_server_modules(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANONCUP_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ANONCUP_TOKEN", "token")
    loaded = list_loaded_modules(*arguments)
    assert "httpx2" in loaded
    assert loaded & HEAVY_MODULES == set()


def test_template_imports_no_scoring_modules() -> None:
    assert list_loaded_modules("template", "2015") & HEAVY_MODULES == set()
