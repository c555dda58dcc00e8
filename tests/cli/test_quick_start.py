"""A command waits for no module that it does not need."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.full

SLOW = {
    "numpy",
    "pandas",
    "numba",
    "scipy",
    "pyarrow",
    "sqlalchemy",
    "pydantic_settings",
    "celery",
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


def modules_after(*words: str) -> set[str]:
    """The modules that a command has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], capture_output=True, encoding="utf-8", check=False
    )
    assert "typer" in done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "words",
    [["--help"], ["score", "--help"], ["threshold", "--help"], ["serve", "--help"], ["organize", "--help"]],
    ids=" ".join,
)
def test_help_loads_neither_the_scoring_nor_the_server_nor_the_network(words: list[str]) -> None:
    assert modules_after(*words) & (SLOW | {"httpx2"}) == set()


def test_a_remote_command_loads_neither_the_scoring_nor_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANONCUP_URL", "http://127.0.0.1:1")
    loaded = modules_after("competitions")
    assert "httpx2" in loaded
    assert loaded & SLOW == set()


def test_a_template_is_printed_without_the_scoring() -> None:
    assert modules_after("template", "2015") & SLOW == set()
