"""Processes that compute nothing load no numbers; and what stands in for a function exists."""

import subprocess
import sys

import pytest

NUMBERS = {"numpy", "pandas", "pyarrow", "scipy", "numba"}
PROMPTS = {"click_repl", "prompt_toolkit"}
"""What Celery's own command line brings along."""
STARTED = {
    "the command line": "import anoncup.cli.main",
    "the supervisor": "import app.cli.local_service",
    "the web application": "from app.main import create_app; create_app()",
    "a worker": "import workers.pool",
    "the clock": "import workers.clock",
    "what forks them": "from workers import forked; forked.load()",
    "migrations": "import migrations.run",
    "a competition file": """
from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
parse_competition(template(2015)), parse_competition(template(2016))
""",
}
READ = """
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
RESOLVED = """
import gc, app.main, workers.main
from anoncup.lazy import Deferred
named = [each for each in gc.get_objects() if isinstance(each, Deferred)]
assert all(callable(each.__wrapped__) for each in named)
print(len(named))
"""


def loaded_after(program: str) -> set[str]:
    """The top-level modules that a process of its own has after running this."""
    shown = f"{program}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.full
@pytest.mark.parametrize("program", STARTED.values(), ids=STARTED)
def test_what_describes_and_passes_on_loads_no_numbers(program: str) -> None:
    assert not loaded_after(program) & (NUMBERS | PROMPTS)


def test_tables_are_read_without_the_compiler_and_the_solvers() -> None:
    loaded = loaded_after(READ)
    assert {"numpy", "pandas", "pyarrow"} <= loaded
    assert not loaded & {"scipy", "numba"}


def test_every_function_that_is_named_by_its_path_exists() -> None:
    done = subprocess.run([sys.executable, "-c", RESOLVED], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 50
