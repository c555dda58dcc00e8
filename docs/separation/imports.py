"""Static analysis of imports, before and after the moves: `python imports.py REPO [--report imports.md]`.

Unit of analysis: a top-level name of a module with what it uses, so that a split can be judged before it is made.
Kinds of an edge: top; type (bound under TYPE_CHECKING only); lazy (imported inside a function);
string (deferred("…"), deferred_in(…)("…"), import_module("…")); program (a module started as a process of its own,
by `-m`, PROGRAM = "…", uvicorn's import strings: not an import of this process).
"""
from __future__ import annotations
import ast, re, subprocess, sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent))

OURS = ("app", "anoncup", "workers", "migrations")
DOTTED = re.compile(r"(app|anoncup|workers|migrations)(\.\w+)+(:\w+)?")
NOT_MODULES = {"anoncup.plugins", "anoncup.locale"}  # names of entry point groups

@dataclass(frozen=True)
class Use:
    source: str      # module
    unit: str        # top-level name of it, "" outside of any
    target: str      # module
    name: str        # top-level name of it, "" the module itself
    kind: str
    line: int

def module_of(path: str) -> str:
    return path[:-3].removesuffix("/__init__").replace("/", ".")

def read_modules(repo: Path, *folders: str) -> dict[str, str]:
    out = subprocess.check_output(["git", "ls-files", "--", *[f"{f}/*.py" for f in folders]], cwd=repo, text=True)
    return {module_of(f): f for f in out.split("\n") if f and (repo / f).exists()}

def names_of(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [statement.name]
        case ast.Assign():
            return [n.id for t in statement.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
        case ast.AnnAssign():
            return [statement.target.id] if isinstance(statement.target, ast.Name) else []
    return []

class Module:
    def __init__(self, name: str, path: str, source: str, known: set[str]) -> None:
        self.name, self.path, self.known = name, path, known
        self.tree = ast.parse(source)
        self.bound: dict[str, list[tuple[str, str, str, int]]] = defaultdict(list)  # local name -> (module, name, kind, line)
        self.prefixes: dict[str, str] = {}
        self.own: set[str] = set()
        self.uses: list[Use] = []
        self._bind(self.tree.body, "top")
        for statement in self.tree.body:
            self._unit(statement)

    def resolve(self, dotted: str) -> tuple[str, str] | None:
        parts = dotted.split(".")
        for i in range(len(parts), 0, -1):
            if (m := ".".join(parts[:i])) in self.known:
                return m, ".".join(parts[i:])
        return None

    def targets(self, node: ast.Import | ast.ImportFrom) -> list[tuple[str, str, str]]:
        """(local name, module, name)"""
        found = []
        if isinstance(node, ast.Import):
            for a in node.names:
                if (r := self.resolve(a.name)) and not r[1]:
                    found.append((a.asname or a.name, r[0], ""))
            return found
        base = node.module or ""
        if node.level:
            package = self.name.split(".") if self.path.endswith("__init__.py") else self.name.split(".")[:-1]
            base = ".".join([*package[: len(package) - node.level + 1], *([base] if base else [])])
        for a in node.names:
            if f"{base}.{a.name}" in self.known:
                found.append((a.asname or a.name, f"{base}.{a.name}", ""))
            elif base in self.known:
                found.append((a.asname or a.name, base, a.name))
        return found

    def _bind(self, body, kind):
        for s in body:
            if isinstance(s, ast.Import | ast.ImportFrom):
                for local, m, n in self.targets(s):
                    self.bound[local].append((m, n, kind, s.lineno))
            elif isinstance(s, ast.If):
                checking = ast.unparse(s.test).endswith("TYPE_CHECKING")
                self._bind(s.body, "type" if checking else kind)
                self._bind(s.orelse, kind)
            elif isinstance(s, ast.Try):
                self._bind(s.body, kind)
            else:
                self.own.update(names_of(s))
                if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) and getattr(s.value.func, "id", "") in ("deferred_in", "lazy_in"):
                    a = s.value.args[0]
                    self.prefixes[names_of(s)[0]] = a.value if isinstance(a, ast.Constant) else self.name

    def _unit(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.If):
            for s in (*statement.body, *statement.orelse):
                self._unit(s)
            return
        if isinstance(statement, ast.Import | ast.ImportFrom):
            return
        for unit in names_of(statement) or [""]:
            self._walk(statement, unit, "top")

    def use(self, unit, target, name, kind, line):
        self.uses.append(Use(self.name, unit, target, name.split(".")[0], kind, line))

    def _walk(self, node, unit, kind):
        local: dict[str, tuple[str, str]] = {}
        bases = [n.args[0] for n in ast.walk(node) if isinstance(n, ast.Call) and getattr(n.func, "id", "") in ("deferred_in", "lazy_in")]
        for n in ast.walk(node):
            if isinstance(n, ast.Import | ast.ImportFrom) and n is not node:
                for name, m, x in self.targets(n):
                    local[name] = (m, x)
                    self.use(unit, m, x, "lazy", n.lineno)
        for n in ast.walk(node):
            if isinstance(n, ast.Attribute):
                dotted = ast.unparse(n) if re.fullmatch(r"[\w.]+", ast.unparse(n)) else ""
                head = dotted.split(".")[0]
                if head in local and not local[head][1]:
                    self.use(unit, local[head][0], n.attr if dotted == f"{head}.{n.attr}" else "", "lazy", n.lineno)
                for name, places in self.bound.items():
                    if dotted.startswith(name + ".") and (name == head or "." in name):
                        for m, x, k, _ in places:
                            if not x and dotted == f"{name}.{n.attr}":
                                self.use(unit, m, n.attr, k, n.lineno)
            elif isinstance(n, ast.Name):
                if n.id in self.own and n.id != unit:
                    self.use(unit, self.name, n.id, "top", n.lineno)
                for m, x, k, _ in self.bound.get(n.id, []):
                    self.use(unit, m, x, k, n.lineno)
            elif isinstance(n, ast.Constant) and isinstance(n.value, str) and n not in bases:
                self._string(n, unit)
            elif isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in self.prefixes and n.args and isinstance(n.args[0], ast.Constant):
                if r := self.resolve(f"{self.prefixes[n.func.id]}.{n.args[0].value}"):
                    self.use(unit, *r, "string", n.lineno)

    def _string(self, n: ast.Constant, unit: str) -> None:
        text = n.value
        if DOTTED.fullmatch(text) and text not in NOT_MODULES and not text.endswith(".log"):
            if r := self.resolve(text.replace(":", ".")):
                if r[0] in OURS: return
                line = self.lines[n.lineno - 1] if hasattr(self, "lines") else ""
                self.use(unit, *r, "string", n.lineno)
        elif re.search(r"\w+: |\[|\.", text) and len(text) < 120 and "\n" not in text:
            # a string annotation such as "wire.Competition" or "list[Rules]"
            for word in set(re.findall(r"[A-Za-z_]\w*", text)):
                for m, x, k, _ in self.bound.get(word, []):
                    if k == "type" and re.fullmatch(r"[\w\[\], .|\"']+", text):
                        self.use(unit, m, x, "type", n.lineno)

PROGRAM_USERS = {  # where a dotted string names a program to start, not something to import
    "app.cli.running", "app.local.processes", "app.processes.child", "app.processes.parser_process", "app.serving", "workers.child",
    "workers.crew", "workers.forked",
    "app.cli.local_service", "app.processes.supervisor", "app.processes.sandboxed_child", "app.cli.web_server", "workers.child_manager", "workers.transition_pool",
}

def analyse(repo: Path, *folders: str) -> tuple[dict[str, Module], list[Use]]:
    paths = read_modules(repo, *folders)
    modules = {m: Module(m, p, (repo / p).read_text(), set(paths)) for m, p in paths.items()}
    uses = []
    for m in modules.values():
        seen = set()
        for u in m.uses:
            if u.kind == "string" and u.source in PROGRAM_USERS:
                u = Use(u.source, u.unit, u.target, u.name, "program", u.line)
            if (key := (u.unit, u.target, u.name, u.kind)) not in seen:
                seen.add(key); uses.append(u)
        # an import that nothing uses is made for its effect, or is a re-export
        for local, places in m.bound.items():
            for t, x, k, line in places:
                if not any(u.target == t and u.name == x.split(".")[0] for u in m.uses):
                    uses.append(Use(m.name, local if x else "", t, x, k, line))
    return modules, uses

# ---------------------------------------------------------------- the plan

def plan(repo: Path):
    import mapping
    places = {module_of(o): module_of(n) if n else "" for o, (n, _, _) in mapping.planned().items()}
    names = {(old, one): new for _, old, some, new, _ in mapping.SPLITS for one in some.split()}
    return places, names

def located(use: Use, places, names, modules) -> tuple[str, str]:
    """Source and target module after the moves."""
    def where(module: str, name: str, depth: int = 0) -> str:
        if (module, name) in names:
            return names[module, name]
        new = places.get(module, module)
        # a name that a module only imports (a re-export) is where it comes from
        if depth < 4 and name and module in modules and name not in modules[module].own and modules[module].bound.get(name) and (new == "" or module.endswith(".draws")):
            m, x, *_ = modules[module].bound[name][0]
            return where(m, x, depth + 1)
        return new
    return where(use.source, use.unit), where(use.target, use.name)

def components(edges: dict[str, set[str]]) -> list[list[str]]:
    sys.setrecursionlimit(10000)
    index, low, stack, on, found = {}, {}, [], set(), []
    def visit(v):
        index[v] = low[v] = len(index); stack.append(v); on.add(v)
        for w in sorted(edges.get(v, ())):
            if w not in index: visit(w); low[v] = min(low[v], low[w])
            elif w in on: low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = []
            while True:
                w = stack.pop(); on.discard(w); part.append(w)
                if w == v: break
            if len(part) > 1: found.append(sorted(part))
    for v in sorted(edges):
        if v not in index: visit(v)
    return found

def layer_of(module: str, layers: list[tuple[str, ...]]) -> int | None:
    """Place of the layer, the lowest is 0; the longest matching entry counts."""
    best = (-1, None)
    for place, entries in enumerate(layers):
        for e in entries:
            if module == e or module.startswith(e + "."):
                best = max(best, (len(e), place))
    return best[1]

# Edits by hand (edits.py makes them): which edges they remove. (id, source, target) of modules after the moves.
EDITS = [
    ("E1", f"anoncup.{__import__('mapping').MODEL}.model", "anoncup.plugins"),
    ("E2", "anoncup.tracks.linkage.attackers", "anoncup.tracks.microdata.release"),
    ("E2", "anoncup.tracks.linkage.attackers", "anoncup.tracks.transactions.release"),
    ("E3", "anoncup.cli.draw", "app.storage"),
    ("E5", "anoncup.testing.words", "app.locale.language"),
    ("E6", "anoncup.cli.main", "app.cli"),
    ("E9", "workers.scorer", "app.processes.child_entry"),
    ("E10", "app.db.transaction", "app.services.jobs.queue"),
    ("reset", "migrations.versions.0012_looks_of_names", "app.services.accounts.names"),
]

HOW = {
    "E1": ("edits.py: e1_rules_ask_no_tracks, before L04", "`Rules.counts`, `.is_counted`, `.lets_count` become `attacker_counts(rules, name)`, `part_counts(rules, part)`, `settings_let_count(rules, name)` in `competition/scoring_versions.py`; 16 call sites in app and 11 in tests follow. **Breaks the cycle of 20 modules.**"),
    "E2": ("edits.py: e2_own_row, after L06", "`own_row` takes a protocol `Rows` (a property `rows`) instead of the targets of two tracks"),
    "E3": ("edits.py: e3_digest, before L15", "`anoncup draw` uses `hashlib.sha256` instead of `app.storage.digest_of`"),
    "E5": ("edits.py: e5_words, after L13", "`check_words` reads the catalogues of packages by `anoncup/catalogues.py` (ADDED and `compiled` split from `app.language`, `installed`, `chained`, LANGUAGES = en, ja); the service's `catalogue()` puts its own in front"),
    "E6": ("edits.py: e6_two_command_lines, before L15", "`anoncup/cli/main.py` adds the commands of `app.cli.commands` by `find_spec`/`import_module` when app is importable"),
    "E9": ("edits.py: e9_scorer, after A11", "`workers/scorer.py` has a protocol `Pipe` of its own instead of importing that of the child's end"),
    "E10": ("edits.py: e10_after_commit, before A01", "`transaction()` calls what was left in `session.info[AFTER_COMMIT]`; `queue.defer` leaves `publish` there"),
    "reset": ("compatibility reset (issue 29, step 1)", "goes with the old migrations; until then the contract of migrations is broken by this one module"),
}

def report(repo: Path) -> str:
    from layers import ANONCUP, ROOMS, SERVICE
    modules, uses = analyse(repo, *OURS)
    places, names = plan(repo)
    full = [*ANONCUP, *SERVICE]
    out = ["# Imports: what is wrong after the moves, and the smallest edit for each", "",
           "Made by `imports.py REPO --report`. Edges are counted between top-level names, so that a split is judged before it is made.", ""]
    kinds = defaultdict(set)
    for u in uses:
        if u.source != u.target: kinds[u.kind].add((u.source, u.target))
    out += ["| kind of edge | pairs of modules |", "|---|---|", *[f"| {k} | {len(v)} |" for k, v in sorted(kinds.items())], ""]
    out += ["## 1. Cycles today", ""]
    for title, some in (("top-level imports", ("top",)), ("and TYPE_CHECKING", ("top", "type")), ("and lazy imports in functions", ("top", "type", "lazy")), ("and deferred(…) strings", ("top", "type", "lazy", "string"))):
        edges = defaultdict(set)
        for u in uses:
            if u.kind in some and u.source != u.target: edges[u.source].add(u.target)
        found = components(edges)
        out.append(f"- {title}: " + (", ".join(f"{len(c)} modules" for c in found) or "none"))
    edges = defaultdict(set)
    for u in uses:
        if u.kind in ("top", "type") and u.source != u.target: edges[u.source].add(u.target)
    out += ["", *[f"  - {len(c)}: {', '.join(c)}" for c in components(edges)], ""]
    edges, why, programs = defaultdict(set), defaultdict(list), set()
    for u in uses:
        a, b = located(u, places, names, modules)
        if a == b or not a or not b: continue
        if u.kind == "program":
            programs.add((a, b)); continue
        edges[a].add(b); why[a, b].append(u)
    removed = lambda a, b: next((i for i, s, t in EDITS if s == a and (b == t or b.startswith(t + "."))), None)
    def entry(m):
        place = layer_of(m, full)
        return place, max((e for e in full[place] if m == e or m.startswith(e + ".")), key=len)
    upward = []
    for a in sorted(edges):
        for b in sorted(edges[a]):
            if layer_of(a, full) is None or layer_of(b, full) is None:
                if a not in ("anoncup", "app") and b not in ("anoncup", "app"): upward.append((a, b, "has no layer"))
                continue
            (la, ea), (lb, eb) = entry(a), entry(b)
            if lb > la or (la == lb and ea != eb): upward.append((a, b, ""))
    out += ["## 2. Upward imports after moves and splits, before the edits", "", "| from | to | what | edit |", "|---|---|---|---|"]
    for a, b, note in upward:
        said = ", ".join(sorted({f"{u.unit or 'module'} uses {u.name or 'the module'} ({u.kind})" for u in why[a, b]})[:4])
        out.append(f"| {a} | {b} | {note or said} | {removed(a, b) or '**none yet**'} |")
    out += ["", "## 3. Cycles after moves and splits, before the edits (all kinds, deferred strings too)", ""]
    for c in components(edges):
        ids = sorted({i for a in c for b in edges[a] if b in c and (i := removed(a, b))})
        out.append(f"- {len(c)} modules, gone with {', '.join(ids) or '**nothing yet**'}: {', '.join(c)}")
    after = {a: {b for b in bs if not removed(a, b)} for a, bs in edges.items()}
    out += ["", "## 4. After the edits", "", f"Cycles: {[len(c) for c in components(after)] or 'none'}. Upward: {[(a, b) for a, b, _ in upward if not removed(a, b)] or 'none'}."]
    rooms = [tuple(f"app.services.{x}" for x in r) for r in ROOMS]
    wrong = [(a, b) for a in after for b in after[a] if (x := layer_of(a, rooms)) is not None and (y := layer_of(b, rooms)) is not None and (y > x or (x == y and a.split(".")[2] != b.split(".")[2]))]
    out.append(f"Between the packages of services: {wrong or 'none upward'}.")
    for root, depth in (("anoncup", 2), ("app", 2), ("app.services", 3), ("app.web", 3)):
        packages = defaultdict(set)
        for a in after:
            for b in after[a]:
                if a.startswith(root + ".") and b.startswith(root + "."):
                    x, y = (".".join(m.split(".")[:depth]) for m in (a, b))
                    if x != y: packages[x].add(y)
        out.append(f"Cycles between the packages of {root}: {components(packages) or 'none'}.")
    out += ["", "## 5. The edits", "", "| edit | where | what |", "|---|---|---|", *[f"| {i} | {where} | {what} |" for i, (where, what) in HOW.items()], ""]
    out += ["Cycles that a split or a place breaks, without an edit:", ""]
    import mapping
    out += [f"- `{old}`: {some.replace(' ', ', ')} -> `{new}`: {reason}" for _, old, some, new, reason in mapping.SPLITS if "command" not in reason]
    out += ["- `app.parser` -> `workers.parser`: it names the modules of services whose functions it calls (13 modules in a cycle by strings); as a program above them it only imports down",
            "- `app.scoring.drawn` is merged into `tracks/model.py`: each named the other's types",
            "- `app.scoring.tracks` is merged into `anoncup/plugins.py`, and `Plugin` split to `tracks/plugin.py`: discovery must not be started by the modules that are discovered", ""]
    out += ["## 6. Programs that are started, not imported (strings; they may name what is above)", "", *[f"- `{a}` starts `{b}`" for a, b in sorted(programs)], ""]
    out += ["## 7. References by text", "", "What move.py rewrites: dotted paths, `from … import …` and file paths in strings, comments, docs, toml, ini, Makefile, Dockerfile, yml, js, html. Occurrences today:", "", "| file | references |", "|---|---|"]
    counts = defaultdict(int)
    pattern = re.compile(r"(?<![\w./-])(?:app|anoncup|workers)(?:[./][a-z_]+)+")
    listed = subprocess.check_output(["git", "ls-files"], cwd=repo, text=True).split("\n")
    for path in listed:
        if not path or re.search(r"\.(lock|po|parquet|woff2|png|svg|jsonl|ipynb)$|vendor|CHANGELOG|^docs/decisions", path): continue
        try: text = (repo / path).read_text()
        except UnicodeDecodeError: continue
        if path.endswith(".py"):
            strings = [n.value for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
            found = [m for s in strings for m in pattern.findall(s) if m.replace("/", ".").removesuffix(".py") in modules]
        else:
            found = [m for m in pattern.findall(text) if m.replace("/", ".").removesuffix(".py") in modules or m.endswith("/")]
        if found: counts[path] = len(found)
    out += [f"| {p} | {c} |" for p, c in sorted(counts.items())]
    return "\n".join(out) + "\n"

if __name__ == "__main__":
    where = Path(sys.argv[1] if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else ".")
    text = report(where)
    if "--report" in sys.argv:
        tail = Path(__file__).parent / "imports_by_hand.md"
        (Path(__file__).parent / "imports.md").write_text(text + (tail.read_text() if tail.exists() else ""))
    else:
        print(text)
