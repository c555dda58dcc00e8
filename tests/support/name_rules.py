"""Print the names that break a rule: ``python -m tests.support.name_rules``, part of ``make check``.

- Functions and classes are not named by a bare participle, preposition or pronoun; values not by a pronoun.
- Class names are unique in the code. A table and its API type may share a name.
- A name with a leading underscore is used by its module only. A function that only its module uses has one.
- Test modules import from ``tests/support``, not from each other.
"""

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("anoncup", "app", "workers", "migrations", "benchmarks")
TREES = (*CODE, "tests")

PREPOSITION = re.compile(
    "about|after|against|among|as|at|before|below|beside|between|beyond|by|during|for|"
    "from|in|into|of|on|out|over|per|since|to|under|until|up|with|without"
)
PRONOUN = re.compile(
    "all|any|both|each|either|every|everybody|least|most|neither|nobody|none|one|other|"
    "others|some|somebody|something|that|them|there|these|this|those|what|which|who|"
    "whom|whose"
)
PARTICIPLE = re.compile(
    "begun|born|bound|broken|brought|built|caught|chosen|done|drawn|fallen|forgotten|"
    "found|given|gone|held|hidden|kept|known|left|lent|lost|made|meant|met|overwritten|"
    "paid|said|seen|sent|shown|sold|spent|spoken|stood|struck|taken|taught|thought|"
    "thrown|told|torn|understood|withdrawn|won|worn|written"
)
NO_PARTICIPLE = re.compile("deed|embed|exceed|feed|need|proceed|seed|speed")

EXCEPTIONS = {
    "anoncup/cli/board.py: which": "an argument of the command",
    "anoncup/cli/organize.py: what": "an argument of the command",
    "anoncup/excessive/simulation.py: least": "a key of the JSON",
    "anoncup/schemas/advice.py: least": "a field of the API",
    "anoncup/lazy.py: __wrapped__": "the attribute that inspect reads",
    "anoncup/tracks/monthly/measures.py: deleted": "the name of a measure",
    "app/db/models/competitions.py: said": "a column",
    "app/services/submissions/quota.py: left": "a field of the API",
    "app/web/organizer/submissions.py: said": "a parameter of the page",
    "workers/job_schema.py: one": "a key of stored messages",
}
"""Path and name -> the reason why it may break a rule."""


def parse_modules() -> dict[Path, ast.Module]:
    paths = (path for tree in TREES for path in (ROOT / tree).rglob("*.py"))
    return {path.relative_to(ROOT): ast.parse(path.read_text("utf-8")) for path in paths}


def is_participle(word: str) -> bool:
    if PARTICIPLE.fullmatch(word):
        return True
    return re.fullmatch("[a-z]+ed", word) is not None and NO_PARTICIPLE.fullmatch(word) is None


def check_definitions(path: Path, module: ast.Module) -> Iterator[str]:
    """Yield functions and classes whose whole name is a participle, a preposition or a pronoun."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            word = node.name.strip("_").lower()
            if PREPOSITION.fullmatch(word) or PRONOUN.fullmatch(word) or is_participle(word):
                yield f"{path}:{node.lineno}: {node.name} says no verb and no noun"


def check_values(path: Path, module: ast.Module) -> Iterator[str]:
    """Yield values that are named by a pronoun, or ``found`` and the like."""
    for node in ast.walk(module):
        if isinstance(node, ast.arg):
            name, line = node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name, line = node.id, node.lineno
        else:
            continue
        if PRONOUN.fullmatch(name.lower()) or name in ("found", "said", "told", "shown", "seen"):
            yield f"{path}:{line}: {name} does not say what it is"


def check_classes(modules: dict[Path, ast.Module]) -> Iterator[str]:
    """Yield class names of the code that two modules define."""
    places = defaultdict(list)
    for path, module in modules.items():
        for node in module.body:
            if isinstance(node, ast.ClassDef) and path.parts[0] in CODE and "schemas" not in path.parts:
                places[node.name].append(str(path))
    for name, paths in places.items():
        if len(paths) > 1:
            yield f"{name}: a class of {', '.join(paths)}"


def check_imports(path: Path, module: ast.Module) -> Iterator[str]:
    """Yield private names that are imported, and what a test module imports from another."""
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module:
            last = node.module.rpartition(".")[2]
            if node.module.startswith("tests.") and (last.startswith("test_") or last == "conftest"):
                yield f"{path}:{node.lineno}: imports from a test module; move it to tests/support"
            for alias in node.names:
                if alias.name.startswith("_") and not alias.name.startswith("__"):
                    yield f"{path}:{node.lineno}: {alias.name} is private to {node.module}"


@cache
def count_words(path: Path) -> Counter[str]:
    return Counter(re.findall(r"\w+", (ROOT / path).read_text("utf-8")))


def check_private(modules: dict[Path, ast.Module]) -> Iterator[str]:
    """Yield functions without a leading underscore that no other file mentions."""
    elsewhere = Counter(word for path in modules for word in count_words(path))
    for path, module in modules.items():
        for node in module.body:
            if (
                path.parts[0] in CODE
                and isinstance(node, ast.FunctionDef)
                and not node.decorator_list
                and not node.name.startswith("_")
                and node.name != "main"
                and elsewhere[node.name] == 1
                and count_words(path)[node.name] > 1
            ):
                yield f"{path}:{node.lineno}: only its module uses {node.name}; call it _{node.name}"


def find_faults() -> list[str]:
    modules = parse_modules()
    checks = (check_definitions, check_values, check_imports)
    faults = [fault for path, module in modules.items() for check in checks for fault in check(path, module)]
    faults += [*check_classes(modules), *check_private(modules)]
    return [fault for fault in faults if not is_exception(fault)]


def is_exception(fault: str) -> bool:
    place, _, rest = fault.partition(": ")
    return f"{place.partition(':')[0]}: {rest.partition(' ')[0]}" in EXCEPTIONS


if __name__ == "__main__":
    faults = find_faults()
    sys.exit("\n".join(faults) or None)
