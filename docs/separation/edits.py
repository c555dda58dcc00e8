"""The edits that are not moves, each with the step before or after which it is made. A text that is not there stops the step."""
from __future__ import annotations
import ast, re
from collections.abc import Callable

BEFORE: dict[str, list[Callable]] = {}
AFTER: dict[str, list[Callable]] = {}

def at(table, step):
    def add(edit):
        table.setdefault(step, []).append(edit)
        return edit
    return add

def before(name, step):
    for edit in BEFORE.get(name, []):
        edit(step)
    step.git("add", "-A")

def after(name, step):
    for edit in AFTER.get(name, []):
        edit(step)
    step.git("add", "-A")

def swap(step, path: str, *pairs: tuple[str, str]) -> None:
    text = step.read(path)
    for old, new in pairs:
        if old not in text:
            raise SystemExit(f"{path} has changed: no {old!r}")
        text = text.replace(old, new, 1)
    step.write(path, text)

# ---------------------------------------------------------------- E0: the public names without re-export modules

@at(BEFORE, "L00-faces")
def e0_public_names(step) -> None:
    """anoncup/__init__.py names each public name's own place; the six faces go."""
    homes = {}
    for node in ast.parse(step.read("anoncup/notebooks.py")).body:
        if isinstance(node, ast.ImportFrom):
            homes |= {a.asname or a.name: (node.module, a.name) for a in node.names}
    homes["Competition"] = homes["Rules"]
    lines = [f'    "{n}": "{m}.{x}",' for n, (m, x) in sorted(homes.items())]
    types = [f"    from {m} import {x} as {n}" for n, (m, x) in sorted(homes.items()) if n != "Competition"]
    types.append("\n    Competition = Rules")
    doc = ast.get_docstring(ast.parse(step.read("anoncup/__init__.py")), clean=False)
    doc = doc.replace("The rules of the contest for notebooks: re-exports of ``app.scoring``.", "The rules of the contests, for notebooks and programs.")
    step.write("anoncup/__init__.py", f'"""{doc}"""\n\nfrom importlib import import_module\nfrom typing import TYPE_CHECKING, Any\n\n'
        + "if TYPE_CHECKING:\n" + "\n".join(types) + "\n\n_HOMES = {\n" + "\n".join(lines) + "\n}\n"
        + '"""Where each public name is; it is imported when it is asked for."""\n\n__all__ = list(_HOMES)\n\n\n'
        + 'def __getattr__(name: str) -> Any:\n    if name not in _HOMES:\n        raise AttributeError(f"module \'anoncup\' has no attribute {name!r}")\n'
        + '    module, _, own = _HOMES[name].rpartition(".")\n    return getattr(import_module(module), own)\n\n\n'
        + "def __dir__() -> list[str]:\n    return [*globals(), *__all__]\n")

# ---------------------------------------------------------------- E1: which parts count is asked in competition/, not of Rules

NAMES = {"counts": "attacker_counts", "is_counted": "part_counts", "lets_count": "settings_let_count"}

@at(BEFORE, "L04-competition-model")
def e1_rules_ask_no_tracks(step) -> None:
    path = "app/scoring/rules.py"
    text = step.read(path)
    tree = ast.parse(text)
    rules = next(s for s in tree.body if isinstance(s, ast.ClassDef))
    lines = text.splitlines(keepends=True)
    for method in reversed([m for m in rules.body if isinstance(m, ast.FunctionDef) and m.name in NAMES]):
        del lines[method.lineno - 1 : method.end_lineno + 1]
    text = "".join(lines).replace("from app.scoring.tracks import TRACKS\n", "")
    step.write(path, text)
    swap(step, "app/scoring/counted.py", ("def what_counts(rules: Rules)", '''def attacker_counts(rules: Rules, attacker: str) -> bool:
    """Whether an attacker's rate may be E."""
    if rules.scored_by:
        return f"attackers.{attacker}" in rules.scored_by
    return settings_let_count(rules, attacker)


def part_counts(rules: Rules, part: str) -> bool:
    """Whether ``measures.NAME`` weighs in U, or ``attackers.NAME`` may be E."""
    kind, _, name = part.partition(".")
    return rules.weight(name) > 0 if kind == "measures" else attacker_counts(rules, name)


def settings_let_count(rules: Rules, attacker: str) -> bool:
    """Whether it counts by the file's settings alone; one that is not installed does not."""
    known = TRACKS[rules.track].attackers.get(attacker)
    if known is None or not known.may_count:
        return False
    named = rules.attackers.get(attacker)
    return named.counts if named else known.by_default


def what_counts(rules: Rules)'''))
    for path in step.list_files("app/*.py", "workers/*.py", "tests/*.py", "benchmarks/*.py", "examples/*.py"):
        if path != "app/scoring/rules.py" and not path.startswith("docs/"):
            calls_instead_of_methods(step, path)

def calls_instead_of_methods(step, path: str) -> None:
    text = step.read(path)
    if not re.search(r"\.(counts|is_counted|lets_count)\(", text):
        return
    lines = text.split("\n")
    spots, used = [], set()
    for n in ast.walk(ast.parse(text)):
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in NAMES and len(n.args) == 1:
            owner, argument = ast.unparse(n.func.value), ast.unparse(n.args[0])
            if argument.endswith("rules") or not (owner.endswith("rules") or owner in ("COMPETITION", "uncounted") or owner.startswith("replace(COMPETITION")):
                continue
            spots.append((n.lineno, n.col_offset, n.end_lineno, n.end_col_offset, f"{NAMES[n.func.attr]}({owner}, {argument})"))
            used.add(NAMES[n.func.attr])
    for a, b, c, d, new in sorted(spots, reverse=True):
        if a != c:
            raise SystemExit(f"{path}:{a}: a call over several lines")
        line = lines[a - 1].encode()
        lines[a - 1] = (line[:b] + new.encode() + line[d:]).decode()
    if not used:
        return
    text = "\n".join(lines)
    if path != "app/scoring/counted.py":
        from move import insert_imports
        text = insert_imports(text, [(f"from app.scoring.counted import {', '.join(sorted(used))}", "top")])
    step.write(path, text)

# ---------------------------------------------------------------- E2 … E10

@at(AFTER, "L05-tracks-model")
def e11_plain_rates(step) -> None:
    """What a Rate is needs no numbers any more: a plain import; and generators.py re-exports nothing."""
    path = "anoncup/tracks/model.py"
    text = re.sub(r"^    from anoncup\.tracks\.outcomes import .*\n", "", step.read(path), flags=re.M)
    text = re.sub(r'^else:\n    rate_of_outcome = deferred\(.*\)\n', "", text, flags=re.M)
    text = re.sub(r"^from anoncup\.(?:lazy import deferred|tracks\.outcomes import .*)\n", "", text, flags=re.M)
    text = text.replace("from anoncup.tracks.parts import", "from anoncup.tracks.outcomes import Outcome, Rate, rate_of_outcome\nfrom anoncup.tracks.parts import", 1)
    step.write(path, text)
    path = "anoncup/tracks/generators.py"
    text = re.sub(r"^__all__ = .*\n\n", "", step.read(path), flags=re.M)
    step.write(path, text)

@at(AFTER, "L06-linkage")
def e2_own_row(step) -> None:
    path = "anoncup/tracks/linkage/attackers.py"
    text = step.read(path)
    text = re.sub(r"^from .*(Target|TransactionTarget).*\n", "", text, flags=re.M)
    text = text.replace("def own_row(target: Target | TransactionTarget)", "def own_row(target: Rows)")
    text = text.replace("def own_row", 'class Rows(Protocol):\n    """A target, of which the number of rows is known."""\n\n    @property\n    def rows(self) -> int: ...\n\n\ndef own_row', 1)
    text = text.replace("import numpy as np\n", "from typing import Protocol\n\nimport numpy as np\n", 1)
    step.write(path, text)

@at(BEFORE, "L15-cli")
def e3_digest(step) -> None:
    swap(step, "app/cli/redrawing.py", ("    from app.storage import digest_of\n", ""),
         ("digest_of(made[file.name])", "sha256(made[file.name]).hexdigest()"), ("from pathlib import Path\n", "from hashlib import sha256\nfrom pathlib import Path\n"))

@at(AFTER, "A04-locale")
def e4_folder(step) -> None:
    swap(step, "app/locale/language.py", ('FOLDER = Path(__file__).parent / "locale"', "FOLDER = Path(__file__).parent"))

@at(AFTER, "L13-testing")
def e5_words(step) -> None:
    """check_words reads the catalogues of packages only: all that it asks for are keys of the package's own."""
    text = step.read("anoncup/catalogues.py")
    step.write("anoncup/catalogues.py", text.rstrip() + '''


LANGUAGES = ("en", "ja")
"""The languages that a package has words in: those that titles of competitions have."""


def installed() -> list[tuple[str, Path]]:
    """Names and folders of the catalogues that packages bring; no package is imported for them."""
    added = sorted(entry_points(group=ADDED), key=lambda one: one.name)
    specs = [(one.name, find_spec(one.value)) for one in added]
    return [(name, Path(spec.origin).parent / "locale") for name, spec in specs if spec and spec.origin]


def chained(domains: Sequence[tuple[str, Path]], language: str) -> NullTranslations:
    """A language's texts, each said by the first domain that has it."""
    found = NullTranslations()
    for domain, folder in reversed(domains):
        path = folder / language / "LC_MESSAGES" / f"{domain}.po"
        if path.is_file():
            more = compiled(path, language)
            more.add_fallback(found)
            found = more
    return found
''')
    swap(step, "anoncup/catalogues.py", ('"""\n', '"""\n\nfrom collections.abc import Sequence\nfrom gettext import NullTranslations\nfrom importlib.metadata import entry_points\nfrom importlib.util import find_spec\n'))
    language = step.file_of("app.language")
    text = step.read(language)
    start, end = text.index("@cache\ndef catalogue("), text.index("def in_language(")
    text = text[:start] + '''@cache
def catalogue(language: str) -> NullTranslations:
    """A language's texts: ours, then what packages add."""
    return chained([(DOMAIN, FOLDER), *installed()], language)


''' + text[end:]
    text = text.replace("\nfrom anoncup.messages import", "\nfrom anoncup.catalogues import chained, installed\nfrom anoncup.messages import", 1)
    step.write(language, text)
    words = "anoncup/testing/words.py"
    text = step.read(words).replace("from app.language import LANGUAGES, catalogue", "from anoncup.catalogues import LANGUAGES, chained, installed")
    text = text.replace("catalogue(language)", "chained(installed(), language)")
    if "app.language" in text:
        raise SystemExit(f"{words} still imports app.language")
    step.write(words, text)

@at(BEFORE, "L15-cli")
def e6_two_command_lines(step) -> None:
    """The library's main adds the service's commands when they can be imported."""
    path = "app/cli/main.py"
    text = step.read(path)
    server = re.findall(r"^app\.(?:command|add_typer)\([^\n]*(?:SERVER|hidden=True|operate\.|keeping\.)[^\n]*\n", text, re.M)
    for line in server:
        text = text.replace(line, "")
    text = text.replace("    keeping,\n", "").replace("    operate,\n", "")
    text = text.replace('LOCAL, REMOTE, SERVER = "On your own files", "At a service", "Running a service"', 'LOCAL, REMOTE = "On your own files", "At a service"\nSERVICE = "app.cli.commands"\n"""Adds the commands of the service, where that is importable: a checkout or an image, not the wheel."""')
    text = text.replace("\n\ndef print_version", '''

def add_service_commands() -> None:
    """Add the commands of the service where it can be imported."""
    try:
        commands = import_module(SERVICE)
    except ModuleNotFoundError as problem:
        if not f"{SERVICE}.".startswith(f"{problem.name}."):
            raise
        return
    commands.add_to(app)


def print_version''', 1)
    text = text.replace("\n\n@app.callback()", "\n\nadd_service_commands()\n\n\n@app.callback()", 1)
    text = text.replace("from importlib.metadata import version\n", "from importlib import import_module\nfrom importlib.metadata import version\n")
    step.write(path, text)
    calls = "".join("    " + line.replace("app.", "main.", 1) for line in server)
    step.write("app/cli/commands.py", f'"""The commands of the service, added to those of ``anoncup``."""\n\nimport typer\n\nfrom app.cli import keeping, operate\n\nSERVER = "Running a service"\n\n\ndef add_to(main: typer.Typer) -> None:\n{calls}')

@at(AFTER, "L07b-transactions")
def e7_parquet(step) -> None:
    swap(step, "anoncup/tracks/transactions/example.py", ('files(__name__) / "tc400.parquet"', 'files(__package__) / "tc400.parquet"'))
    # The package has a module `files` now, which hides a function of that name in its __init__.
    swap(step, "anoncup/tracks/transactions/__init__.py", ("from importlib.resources import files\n", "from importlib import resources\n"), ('files(__name__) /', 'resources.files(__name__) /'))

@at(AFTER, "L01-foundations")
def e8_words_of_both(step) -> None:
    swap(step, "tests/catalogues.py", ('str(path), "app", "workers")', 'str(path), "anoncup", "app", "workers")'))

@at(AFTER, "A11-workers")
def e9_scorer(step) -> None:
    """The scorer imports the library only: of the pipe it needs the shape."""
    path = "workers/scorer.py"
    text = step.read(path)
    if not re.search(r"^from app\.processes\.\w+ import Pipe\n", text, re.M):
        raise SystemExit(f"{path} has changed")
    text = re.sub(r"^from app\.processes\.\w+ import Pipe\n", "", text, flags=re.M)
    text = text.replace("from typing import Any\n", "from typing import Any, Protocol\n", 1)
    text = text.replace("\n\ndef prepare(", '''

class Pipe(Protocol):
    """The connection to the parent, see ``app.processes.child_entry``."""

    def receive(self) -> Any: ...

    def send(self, message: Mapping[str, Any]) -> None: ...

    def fetch(self, digest: str) -> bytes: ...


def prepare(''', 1)
    step.write(path, text)

@at(BEFORE, "A01-db")
def e10_after_commit(step) -> None:
    """The transaction calls what was left with the session; it need not know the queue."""
    swap(step, "app/transaction.py",
        ("from app import queue\nfrom app.db import engine, failures\n", 'from app.db import engine, failures\n\nAFTER_COMMIT = "after commit"\n"""In ``session.info``: functions, and what each is called with, all at once, after COMMIT."""\n'),
        ("    queue.publish(session.info.pop(queue.RINGS, []))\n", "    for publish, jobs in session.info.pop(AFTER_COMMIT, {}).items():\n        publish(jobs)\n"))
    swap(step, "app/queue.py",
        ("    session.info.setdefault(RINGS, []).append(task)\n", "    session.info.setdefault(AFTER_COMMIT, {}).setdefault(publish, []).append(task)\n"),
        ('RINGS = "rings"\n', ""), ("from app.config import get_settings\n", "from app.config import get_settings\nfrom app.transaction import AFTER_COMMIT\n"))

@at(AFTER, "A10-cli")
def e12_keys_first(step) -> None:
    """The group of commands stands above the commands that are added to it."""
    path = "app/cli/keys.py"
    text = step.read(path)
    line = re.search(r"^keys = typer\.Typer\(.*\)\n", text, re.M)
    if line is None:
        raise SystemExit(f"{path} has changed")
    text = text.replace(line[0], "", 1)
    text = text.replace('\n\n\n@keys.command("rotate")', f'\n\n{line[0]}\n\n@keys.command("rotate")', 1)
    text = re.sub(r'\A""".*?"""\n', '"""``anoncup keys``: the keys that seal secrets and sign deadlines."""\n', text, flags=re.S)
    step.write(path, text)

@at(AFTER, "L05-tracks-model")
def e13_patched_few(step) -> None:
    """A test patches what kept_of_few reads, which went to tracks/memo.py."""
    path = "tests/scoring/test_laws.py"
    text = step.read(path)
    if 'few_is.setattr(release, "FEW", 0)' not in text:
        raise SystemExit(f"{path} has changed")
    from move import insert_imports
    text = text.replace('few_is.setattr(release, "FEW", 0)', 'few_is.setattr(memo, "FEW", 0)')
    step.write(path, insert_imports(text, [("from anoncup.tracks import memo", "top")]))
