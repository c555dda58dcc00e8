"""Print the names that break a rule: ``python -m tests.support.name_rules``, part of ``make check``.

- Modules, functions and classes are not named by a bare participle, preposition or pronoun. Values are not
  named by a pronoun.
- Class names are unique in the code. A table and its API type may share a name.
- A name with a leading underscore is used by its module only. A function that only its module uses has one.
- Test modules import from ``tests/support``, not from each other.
"""

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE_FOLDERS = ("anoncup", "app", "workers", "migrations", "benchmarks")
ALL_FOLDERS = (*CODE_FOLDERS, "examples", "tests")

PREPOSITIONS = re.compile(
    "about|after|against|among|as|at|before|below|beside|between|beyond|by|during|for|"
    "from|in|into|of|on|out|over|per|since|to|under|until|up|with|without"
)
PRONOUNS = re.compile(
    "all|any|both|each|either|every|everybody|least|most|neither|nobody|none|one|other|"
    "others|some|somebody|something|that|them|there|these|this|those|what|which|who|"
    "whom|whose"
)
PARTICIPLES = re.compile(
    "begun|born|bound|broken|brought|built|caught|chosen|done|drawn|fallen|forgotten|"
    "found|given|gone|held|hidden|kept|known|left|lent|lost|made|meant|met|overwritten|"
    "paid|said|seen|sent|shown|sold|spent|spoken|stood|struck|taken|taught|thought|"
    "thrown|told|torn|understood|withdrawn|won|worn|written"
)
NOT_PARTICIPLES = re.compile("deed|embed|exceed|feed|need|proceed|seed|speed")
TEST_MODULE = re.compile(r"tests\.(.*\.)?(test_\w+|conftest)(\.\w+)?")

EXCEPTIONS = {
    "anoncup/cli/board.py: which": "an argument of the command",
    "anoncup/excessive/threshold_advisor.py: least": "a key of the JSON",
    "anoncup/schemas/advice.py: least": "a field of the API",
    "anoncup/lazy.py: __wrapped__": "the attribute that inspect reads",
    "anoncup/tracks/ranking_board.py: Ranked": "what ranking functions return, by their specification",
    "anoncup/tracks/monthly/measures.py: deleted": "the name of a measure",
    "app/submissions/quota.py: left": "a field of the API",
    "anoncup/messages.py: one": "a key of stored messages",
}
"""Path and name -> the reason why it may break a rule."""


@dataclass(frozen=True)
class Module:
    """A file with its syntax tree and the words that occur in it."""

    path: Path
    tree: ast.Module
    words: Counter[str]

    @property
    def is_code(self) -> bool:
        return self.path.parts[0] in CODE_FOLDERS


def parse_modules(root: Path) -> list[Module]:
    modules = []
    for file in sorted(path for tree in ALL_FOLDERS for path in (root / tree).rglob("*.py")):
        text = file.read_text("utf-8")
        modules.append(Module(file.relative_to(root), ast.parse(text), Counter(re.findall(r"\w+", text))))
    return modules


def is_uninformative(word: str) -> bool:
    return any(pattern.fullmatch(word) for pattern in (PREPOSITIONS, PRONOUNS)) or is_participle(word)


def is_participle(word: str) -> bool:
    if PARTICIPLES.fullmatch(word):
        return True
    return re.fullmatch("[a-z]+ed", word) is not None and NOT_PARTICIPLES.fullmatch(word) is None


def check_definitions(module: Module) -> Iterator[str]:
    """Yield modules, functions and classes whose whole name is a participle, a preposition or a pronoun."""
    if is_uninformative(module.path.stem):
        yield f"{module.path}:1: {module.path.stem} is no name for a module"
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    for node in (node for node in ast.walk(module.tree) if isinstance(node, kinds)):
        if is_uninformative(node.name.strip("_").lower()):
            yield f"{module.path}:{node.lineno}: {node.name} says no verb and no noun"


def check_values(module: Module) -> Iterator[str]:
    """Yield values that are named by a pronoun, or ``found`` and the like."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.arg):
            name, line = node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name, line = node.id, node.lineno
        else:
            continue
        if PRONOUNS.fullmatch(name.lower()) or name in ("found", "said", "told", "shown", "seen"):
            yield f"{module.path}:{line}: {name} does not say what it is"


def check_imports(module: Module) -> Iterator[str]:
    """Yield private names that are imported, and what a test module imports from another."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            place = f"{module.path}:{node.lineno}"
            names = [alias.name for alias in node.names]
            if any(TEST_MODULE.fullmatch(f"{node.module}.{name}") for name in names):
                yield f"{place}: imports from a test module; move it to tests/support"
            for name in names:
                if name.startswith("_") and not name.startswith("__"):
                    yield f"{place}: {name} is private to {node.module}"


def check_classes(modules: Sequence[Module]) -> Iterator[str]:
    """Yield class names of the code that two modules define."""
    paths = defaultdict(list)
    for module in modules:
        if module.is_code and "schemas" not in module.path.parts:
            for node in module.tree.body:
                if isinstance(node, ast.ClassDef):
                    paths[node.name].append(str(module.path))
    for name, places in paths.items():
        if len(places) > 1:
            yield f"{places[-1]}:1: {name} is a class of {places[0]}, too"


def check_underscores(modules: Sequence[Module]) -> Iterator[str]:
    """Yield functions without a leading underscore that their module uses and no other file mentions."""
    file_counts = Counter(word for module in modules for word in module.words)
    for module in modules:
        for node in module.tree.body:
            if (
                module.is_code
                and isinstance(node, ast.FunctionDef)
                and not node.decorator_list
                and not node.name.startswith("_")
                and file_counts[node.name] == 1
                and module.words[node.name] > 1
            ):
                yield f"{module.path}:{node.lineno}: {node.name} is used here only: call it _{node.name}"


def find_faults(root: Path) -> dict[str, str]:
    """Return the faults by "path: name", the keys of ``EXCEPTIONS``."""
    modules = parse_modules(root)
    faults = [
        fault
        for module in modules
        for check in (check_definitions, check_values, check_imports)
        for fault in check(module)
    ]
    faults += [*check_classes(modules), *check_underscores(modules)]
    return {re.sub(r":\d+: (\w+).*", r": \1", fault): fault for fault in faults}


def main() -> None:
    faults = find_faults(ROOT)
    lines = [fault for key, fault in faults.items() if key not in EXCEPTIONS]
    lines += [f"{key} is an exception that is not needed" for key in EXCEPTIONS if key not in faults]
    sys.exit("\n".join(lines) or None)


if __name__ == "__main__":
    main()
