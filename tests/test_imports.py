"""Processes that compute nothing load no numeric packages, and all lazy functions exist."""

import subprocess
import sys

import pytest

from anoncup.lazy import lazy_module

NUMERIC_PACKAGES = {"numpy", "pandas", "pyarrow", "scipy", "numba"}
PROGRAMS = {
    "the command line": "import anoncup.cli.main",
    "the supervisor": "import app.operations.local_service",
    "the web application": "from app.main import create_app; create_app()",
    "a worker": "import workers.main",
    "the clock": "import workers.clock",
    "migrations": "import migrations.run",
    "a competition file": """
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
parse_competition(template(2015)), parse_competition(template(2016))
""",
}
PARSE_PROGRAM = """
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
TRACKS["transactions"].parse_original(
    {
        "customers": b"customer_id,sex,birthday,country\\nc,f,,France\\n",
        "transactions": b"customer_id,receipt_id,date,time,goods,unit_price,quantity\\n"
        b"c,r,2011-01-05,08:45,A,2.5,3\\n",
    },
    parse_competition(template(2016)),
)
"""
LAZY_FUNCTIONS_PROGRAM = """
import gc, app.main, workers.main
from anoncup.lazy import LazyFunction
named = [each for each in gc.get_objects() if isinstance(each, LazyFunction)]
assert all(callable(each.__wrapped__) for each in named)
print(len(named))
"""


def list_loaded_packages(program: str) -> set[str]:
    """Return the top-level packages that a process has loaded after running the program."""
    code = f"{program}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(completed.stdout.split())


@pytest.mark.full
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_processes_without_computation_load_no_numeric_packages(program: str) -> None:
    assert not list_loaded_packages(program) & NUMERIC_PACKAGES


def test_reading_tables_loads_neither_scipy_nor_numba() -> None:
    loaded_packages = list_loaded_packages(PARSE_PROGRAM)
    assert {"numpy", "pandas", "pyarrow"} <= loaded_packages
    assert not loaded_packages & {"scipy", "numba"}


def test_lazy_modules_have_functions_only() -> None:
    lazy_math = lazy_module("math")
    assert lazy_math.sqrt(4.0) == 2.0
    for name in ("__wrapped__", "__len__", "__name__"):
        assert not hasattr(lazy_math, name)


@pytest.mark.full
def test_every_lazily_imported_function_exists() -> None:
    completed = subprocess.run(
        [sys.executable, "-c", LAZY_FUNCTIONS_PROGRAM], capture_output=True, text=True, check=True
    )
    assert int(completed.stdout) > 50
