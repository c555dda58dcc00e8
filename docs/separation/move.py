"""Carry out steps of the plan: `venv/bin/python move.py REPO STEP…`, on a clean checkout; it commits nothing.

A step is a group of rows of moves.tsv, splits.tsv and data_moves.tsv. For each it
  1. makes the registries (registries.py) and splits modules: top-level names go to another file, imports follow;
  2. rewrites every import of the moved modules and names in all Python files (top, lazy, TYPE_CHECKING; local names
     follow the module's new name where nothing else has it, else `as` keeps the old one: see aliases.txt),
     `module.name` where the name went elsewhere, setattr(module, "name"), deferred("…"), deferred_in(…)("…");
  3. moves files with `git mv`, data files too, and makes the __init__.py of new packages;
  4. rewrites dotted paths, `from … import …` and file paths in strings, comments and all other text files;
  5. lets ruff sort imports, drop unused ones and format what was touched;
  6. tells what is left of the old names.

`move.py REPO --rewrite [STEP…]` brings what was added since in old names over steps that were made (they are noted in state.json).
`move.py REPO --check` tells modules that the plan does not know; `--list` the steps; `--left STEP…` only the leftovers.
"""
from __future__ import annotations

import ast
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tokenize
from collections import defaultdict
from functools import cache
from pathlib import Path

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, ScopeProvider
from libcst.metadata.scope_provider import ImportAssignment

HERE = Path(__file__).parent
STATE = HERE / "state.json"
sys.path.insert(0, str(HERE))
import mapping  # noqa: E402
from text_rules import RULES  # noqa: E402

SKIPPED = re.compile(r"(\.lock|\.po|\.parquet|\.woff2|\.png|\.jpg|\.svg|\.ipynb_checkpoints|\.min\.js|\.jsonl)$|^CHANGELOG|/vendor/|verdicts_of_before|^docs/separation/")


def module_of(path: str) -> str:
    return path[:-3].removesuffix("/__init__").replace("/", ".")


class Step:
    """The rows of some steps, and the repository they are applied to."""

    def __init__(self, repo: Path, names: list[str]) -> None:
        self.repo, self.names = repo, names
        unknown = [n for n in names if n not in mapping.MOVES]
        if unknown:
            sys.exit(f"no such step: {unknown}; there are {list(mapping.MOVES)}")
        self.paths: dict[str, str] = {}  # old path -> new path ("" = deleted)
        for name in names:
            for old, new in mapping.MOVES[name].items():
                self.paths[old] = new[0] if isinstance(new, tuple) else new
        self.splits = [row for row in mapping.SPLITS if row[0] in names]
        self.data = [(old, new) for step, old, new, _ in mapping.DATA if step in names and old != new]
        self.modules = {module_of(o): (module_of(n) if n else "") for o, n in self.paths.items()}
        self.modules = {o: n for o, n in self.modules.items() if o != n}
        self.symbols: dict[tuple[str, str], str] = {}
        self.renamed: dict[tuple[str, str], str] = {}
        for _, old, some, new, _ in self.splits:
            for one in some.split():
                self.symbols[old, one] = new
        self.faces: dict[str, dict[str, tuple[str, str]]] = {}
        self.touched: set[str] = set()
        self.aliases: list[str] = []
        self.notes: list[str] = []
        self.merges = [o for o, n in self.paths.items() if n and list(self.paths.values()).count(n) > 1 and not self._keeps(o, n)]
        self.merges += [o for o, n in self.paths.items() if n and o != n and (repo / n).exists() and n not in self.paths and not self.placeholder(n)]
        self.python = self.list_files("*.py")
        self.known = {module_of(p) for p in self.python}

    def _keeps(self, old: str, new: str) -> bool:
        """Of several that become one file, the first row is the file that moves."""
        return next(o for o, n in self.paths.items() if n == new) == old

    def placeholder(self, path: str) -> bool:
        file = self.repo / path
        return file.exists() and all(isinstance(s, ast.Expr) for s in ast.parse(file.read_text()).body)

    def save(self) -> None:
        """For --rewrite, which comes when the files have moved."""
        saved = json.loads(STATE.read_text()) if STATE.exists() else {}
        saved[" ".join(self.names)] = {
            "modules": self.modules, "paths": self.paths, "faces": self.faces,
            "symbols": [[*k, v] for k, v in self.symbols.items()], "renamed": [[*k, v] for k, v in self.renamed.items()],
        }
        STATE.write_text(json.dumps(saved, indent=1))

    def load(self, state: dict) -> None:
        there = lambda m: (self.repo / m.replace(".", "/")).is_dir()  # noqa: E731
        self.modules = {o: n for o, n in state["modules"].items() if n or not there(o)}
        self.paths = state["paths"]
        self.faces = {m: {n: tuple(p) for n, p in names.items()} for m, names in state["faces"].items()}
        self.symbols = {(m, n): new for m, n, new in state["symbols"]}
        self.renamed = {(m, n): new for m, n, new in state["renamed"]}
        self.merges = []

    def git(self, *words: str) -> str:
        return subprocess.run(["git", *words], cwd=self.repo, check=True, capture_output=True, text=True).stdout

    def list_files(self, *patterns: str) -> list[str]:
        out = self.git("ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns)
        return sorted({f for f in out.split("\n") if f and (self.repo / f).exists()})

    def read(self, path: str) -> str:
        return (self.repo / path).read_text()

    def write(self, path: str, text: str) -> None:
        file = self.repo / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        self.touched.add(path)

    def new_module(self, path: str) -> str:
        new = self.paths.get(path, path) or path
        return module_of(new)

    # ------------------------------------------------------------ 0: faces (re-exports that go away)

    def read_faces(self) -> None:
        for old, new in self.paths.items():
            if new == "" and old.startswith("anoncup/") and (self.repo / old).exists():
                found = {}
                for node in ast.parse(self.read(old)).body:
                    if isinstance(node, ast.ImportFrom) and node.module:
                        for a in node.names:
                            found[a.asname or a.name] = (node.module, a.name)
                    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                        found[node.targets[0].id] = found[node.value.id]  # type: ignore[attr-defined]
                self.faces[module_of(old)] = found
            elif old == "app/scoring/draws.py":  # re-exports two names of seeds
                self.faces[module_of(old)] = {n: ("app.seeds", n) for n in ("commitment", "key_for")}

    # ------------------------------------------------------------ 1: splits

    def split(self) -> None:
        by_pair: dict[tuple[str, str], list[str]] = {}
        for _, old, some, new, reason in self.splits:
            if "registries.py" in reason:
                continue
            by_pair.setdefault((old, new), []).extend(some.split())
        for (old, new), names in by_pair.items():
            self._split(old, new, names)
        for old in self.merges:
            new = self.paths[old]
            target = next((o for o, n in self.paths.items() if n == new and o != old and o not in self.merges), new)
            self._merge(old, target, module_of(new))

    def file_of(self, module: str) -> str:
        """Where a module is now: at its new place, at its old one if it moves in this step, or nowhere yet."""
        for path in (f"{module.replace('.', '/')}.py", f"{module.replace('.', '/')}/__init__.py"):
            if (self.repo / path).exists() and not (self.placeholder(path) and module in self.modules.values()):
                return path
        for old, new in self.paths.items():
            if new and module_of(new) == module and old not in self.merges:
                return old
        return f"{module.replace('.', '/')}.py"

    def _split(self, old: str, new: str, names: list[str]) -> None:
        source, target = self.file_of(old), self.file_of(new)
        text = self.read(source)
        parts = Parts(text)
        missing = set(names) - parts.names
        if missing:
            raise SystemExit(f"{source} has no {sorted(missing)}")
        taken = [s for s in parts.statements if set(parts.names_of(s)) & set(names)]
        chunk = parts.text_of(taken)
        needed = parts.imports_for(taken, old, set(names))
        own = [n for n in parts.used_by(taken) if n in parts.names and n not in names]
        if own:
            needed.append((f"from {old} import {', '.join(own)}", "top"))
        rest = parts.without(taken)
        unused = set(parts.used_by(taken)) - Parts(rest).all_used()
        rest = without_imports(rest, unused)
        if rest.count("TYPE_CHECKING") == 1:
            rest = without_imports(rest, {"TYPE_CHECKING"})
        back = [n for n in names if n in Parts(rest).all_used()]
        if back:
            rest = insert_imports(rest, [(f"from {new} import {', '.join(back)}", "top")])
        if not (self.repo / target).exists():
            head = f'"""{mapping.NEW[new]}"""\n'
            head += "\nfrom __future__ import annotations\n" if "from __future__ import annotations" in text else ""
            before = head
        else:
            before = self.read(target)
            if "from __future__ import annotations" in text and "from __future__ import annotations" not in before and any(k == "type" for _, k in needed):
                before = insert_future(before)
                self.notes.append(f"{target}: from __future__ import annotations was added")
        self.write(target, insert_imports(before.rstrip() + "\n\n\n" + chunk.strip() + "\n", needed))
        self.write(source, rest)
        self.python = self.list_files("*.py")

    def _merge(self, old: str, target: str, new: str) -> None:
        text = self.read(old)
        parts = Parts(text)
        names = [n for s in parts.statements for n in parts.names_of(s)]
        chunk = parts.text_of(parts.statements)
        needed = parts.imports_for(parts.statements, module_of(old), set(names))
        before = self.read(target)
        twice = (Parts(before).names & set(names)) - {"log", "logger"}
        if twice:
            raise SystemExit(f"{old} and {target} both have {twice}")
        if "log" in names and "log" in Parts(before).names:
            log = [s for s in parts.statements if parts.names_of(s) == ["log"]]
            chunk = parts.text_of([s for s in parts.statements if s not in log])
        if "from __future__ import annotations" in text and "from __future__ import annotations" not in before:
            before = insert_future(before)
        self.write(target, insert_imports(before.rstrip() + "\n\n\n" + chunk.strip() + "\n", needed))
        for name in names:
            self.symbols[module_of(old), name] = new
        self.paths[old] = ""
        self.modules[module_of(old)] = new

    # ------------------------------------------------------------ 2: imports

    def rewrite_imports(self) -> None:
        moved = {*self.modules, *self.faces, *(m for m, _ in self.symbols)}
        by_parent = defaultdict(set)
        for one in moved:
            by_parent[one.rpartition(".")[0]].add(one.rpartition(".")[2])
        said = [rf"\b{re.escape(m)}\b" for m in sorted(moved, key=len, reverse=True)]
        said += [rf"from {re.escape(p)} import (?:\([^)]*|[^\n(]*)\b(?:{'|'.join(sorted(names))})\b" for p, names in by_parent.items() if p]
        pattern = re.compile("|".join(said))
        for path in self.list_files("*.py"):
            if SKIPPED.search(path):
                continue
            if self.paths.get(path) == "" and path not in self.merges:
                continue
            text = self.read(path)
            here = module_of(path)
            is_base = "deferred_in(__name__)" in text and any(m.startswith(here + ".") for m in moved)
            if not pattern.search(text) and not is_base and path not in self.paths and path not in self.touched:
                continue
            for old, new in self.modules.items():  # import a.b.c, and then a.b.c.name
                if new and re.search(rf"^\s*import {re.escape(old)}$", text, re.M):
                    text = re.sub(rf"(?<![\w.]){re.escape(old)}(?!\w)", new, text)
            done = self._rewritten(path, text)
            if done != self.read(path):
                self.write(path, done)

    def place_of(self, module: str, name: str) -> tuple[str, str]:
        """Where a name of a module is afterwards: module and name."""
        if module in self.faces:
            if name in self.faces[module]:
                module, name = self.faces[module][name]
        if (module, name) in self.symbols:
            return self.symbols[module, name], self.renamed.get((module, name), name)
        return self.modules.get(module, module), name

    def _rewritten(self, path: str, text: str) -> str:
        wrapper = MetadataWrapper(cst.parse_module(text))
        rewriter = Rewriter(self, path, wrapper)
        return wrapper.module.visit(rewriter).code

    # ------------------------------------------------------------ 3: files

    def move_files(self) -> None:
        for old, new in self.paths.items():
            if old == new or not (self.repo / old).exists():
                continue
            if new == "":
                self.git("rm", "-q", "-f", old)
            else:
                self._git_mv(old, new)
        for old, new in self.data:
            self._git_mv(old, new)
        for top in ("app", "anoncup", "workers"):  # mypy takes an empty folder for a package, and finds it elsewhere
            for folder in sorted((p for p in (self.repo / top).rglob("*") if p.is_dir()), reverse=True):
                if folder.name != "__pycache__" and not [x for x in folder.iterdir() if x.name != "__pycache__"]:
                    shutil.rmtree(folder)
        for path in self.list_files("anoncup/*.py", "app/*.py", "workers/*.py"):
            folder = Path(path).parent
            while str(folder) != ".":
                init = f"{folder}/__init__.py"
                if not (self.repo / init).exists():
                    doc = mapping.NEW.get(str(folder).replace("/", "."), "")
                    self.write(init, f'"""{doc}"""\n' if doc else "")
                folder = folder.parent
        self.touched = {self.paths.get(p, p) or p for p in self.touched}
        self.touched = {p for p in self.touched if (self.repo / p).exists()}
        self.git("add", "-A")

    def _git_mv(self, old: str, new: str) -> None:
        (self.repo / new).parent.mkdir(parents=True, exist_ok=True)
        self.git("add", "-A", old)
        self.git("mv", "-f", old, new)
        if old in self.touched:
            self.touched.discard(old)
        self.touched.add(new)

    # ------------------------------------------------------------ 4: text

    def rewrite_text(self) -> None:
        for path in self.list_files():
            if SKIPPED.search(path):
                continue
            try:
                text = self.read(path)
            except UnicodeDecodeError:
                continue
            done = self._text_of_python(text) if path.endswith(".py") else self._text(text)
            for step, glob, pattern, replacement in RULES:
                if step in self.names and Path(path).match(glob):
                    done = re.sub(pattern, replacement, done, flags=re.M)
            if done != text:
                self.write(path, done)
        self.git("add", "-A")

    def _text_of_python(self, text: str) -> str:
        if not (self._dotted().search(text) or self._file_paths().search(text) or self._froms().search(text)):
            return text
        lines, pieces = text.splitlines(keepends=True), []
        kinds = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1)}
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in kinds:
                pieces.append((token.start, token.end))
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        done, last = [], 0
        for (a, b), (c, d) in pieces:
            first, end = starts[a - 1] + b, starts[c - 1] + d
            done += [text[last:first], self._text(text[first:end])]
            last = end
        return "".join([*done, text[last:]])

    @cache
    def _dotted(self) -> re.Pattern[str]:
        known = sorted({*self.modules, *self.faces, *(m for m, _ in self.symbols)}, key=len, reverse=True)
        return re.compile(r"(?<![\w.\-/])(" + "|".join(map(re.escape, known)) + r")(?![\w/])((?:\.[A-Za-z_]\w*)?)")

    @cache
    def _froms(self) -> re.Pattern[str]:
        """`from PACKAGE import MODULE` of what is moved."""
        moved = {*self.modules, *self.faces, *(m for m, _ in self.symbols)}
        said = [rf"from {re.escape(m.rpartition('.')[0])} import (?:[\w ]+, ?)*{re.escape(m.rpartition('.')[2])}\b" for m in moved]
        return re.compile("|".join(said) or "\0")

    @cache
    def _file_paths(self) -> re.Pattern[str]:
        known = sorted([o for o, n in self.paths.items() if n and o != n] + [o for o, _ in self.data], key=len, reverse=True)
        return re.compile(r"(?<![\w\-])(?<!\w/)(" + "|".join(map(re.escape, known or ["\0"])) + r")(?![\w])")

    def _text(self, text: str) -> str:
        text = re.sub(
            r"(?P<before>^[ \t>*]*|(?<=[\"'; ]))from (?P<base>(?:app|anoncup|workers)[\w.]*) import (?P<names>\w+(?: as \w+)?(?:, ?\w+(?: as \w+)?)*)",
            self._from_in_text, text, flags=re.M,
        )
        moved = {o: n for o, n in self.paths.items() if n} | dict(self.data)
        text = self._file_paths().sub(lambda m: moved[m[1]], text)
        return self._dotted().sub(self._dotted_in_text, text)

    def _dotted_in_text(self, match: re.Match[str]) -> str:
        module, rest = match[1], match[2]
        if rest and f"{module}{rest}" in self.known and f"{module}{rest}" not in self.modules:
            return match[0]
        new, name = self.place_of(module, rest[1:])
        return f"{new or module}{rest and '.' + name}"

    def _from_in_text(self, match: re.Match[str]) -> str:
        base, groups = match["base"], defaultdict(list)
        for one in re.split(r", ?", match["names"]):
            name, _, alias = one.partition(" as ")
            full = f"{base}.{name}"
            if self.modules.get(full):
                parent, _, last = self.modules[full].rpartition(".")
                groups[parent].append(last if last == (alias or name) else f"{last} as {alias or name}")
            else:
                new, renamed = self.place_of(base, name)
                groups[new or base].append(one if renamed == name else f"{renamed} as {alias or name}")
        said = [f"from {m} import {', '.join(names)}" for m, names in groups.items()]
        lead = match["before"]
        return lead + (f"\n{lead}" if match.string[: match.start()].endswith("\n") or match.start() == 0 else "; ").join(said)

    # ------------------------------------------------------------ 5, 6: tidy, tell

    def tidy(self) -> None:
        files = sorted(p for p in self.touched if p.endswith(".py") and (self.repo / p).exists())
        ruff = os.environ.get("RUFF") or next((str(p) for p in (self.repo / ".venv/bin/ruff",) if p.exists()), "ruff")
        for i in range(0, len(files), 200):
            some = files[i : i + 200]
            for words in (["check", "-q", "--select", "I001,F401,F811,RUF022,TC005", "--fix", "--exit-zero"], ["format", "-q"], ["check", "-q", "--select", "I001", "--fix", "--exit-zero"]):
                subprocess.run([ruff, *words, *some], cwd=self.repo, check=False, capture_output=True)
        self.git("add", "-A")

    def left(self) -> list[str]:
        found = []
        gone = [m for m in (*self.modules, *self.faces) if not (self.repo / f"{m.replace('.', '/')}").is_dir() and not (self.repo / f"{m.replace('.', '/')}.py").exists()]
        if not gone:
            return []
        dotted = re.compile(r"(?<![\w.\-/])(" + "|".join(map(re.escape, sorted(gone, key=len, reverse=True))) + r")(?![\w])")
        paths = re.compile("|".join(re.escape(o) for o in self.paths if not (self.repo / o).exists()) or "\0")
        froms = re.compile("|".join(rf"from {re.escape(m.rpartition('.')[0])} import (?:[\w ]+, ?)*{re.escape(m.rpartition('.')[2])}\b" for m in gone))
        for path in self.list_files():
            if SKIPPED.search(path) or path.startswith("docs/decisions"):
                continue
            try:
                text = self.read(path)
            except UnicodeDecodeError:
                continue
            for number, line in enumerate(text.split("\n"), 1):
                if dotted.search(line) or paths.search(line) or froms.search(line):
                    found.append(f"{path}:{number}: {line.strip()[:140]}")
        return found


class Parts:
    """The top-level statements of a module, with comments and attribute docstrings that belong to them."""

    def __init__(self, text: str) -> None:
        self.text, self.tree, self.lines = text, ast.parse(text), text.splitlines()
        body = self.tree.body
        self.statements = [s for i, s in enumerate(body) if not is_import(s) and not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
        self.spans: dict[ast.stmt, tuple[int, int]] = {}
        for i, s in enumerate(body):
            first = min([s.lineno, *(d.lineno for d in getattr(s, "decorator_list", []))]) - 1
            while first and self.lines[first - 1].startswith("#"):
                first -= 1
            last = s.end_lineno
            after = body[i + 1] if i + 1 < len(body) else None
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(s, ast.Assign | ast.AnnAssign):
                last = after.end_lineno
            self.spans[s] = first, last
        self.names = {n for s in self.statements for n in self.names_of(s)}

    @staticmethod
    def names_of(s: ast.stmt) -> list[str]:
        match s:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return [s.name]
            case ast.Assign():
                return [n.id for t in s.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
            case ast.AnnAssign():
                return [s.target.id] if isinstance(s.target, ast.Name) else []
        return []

    def text_of(self, taken: list[ast.stmt]) -> str:
        out, before = [], None
        for s in taken:
            a, b = self.spans[s]
            piece = "\n".join(self.lines[a:b])
            apart = isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or isinstance(before, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            out.append(("\n\n\n" if apart else "\n") + piece if before else piece)
            before = s
        return "".join(out)

    def without(self, taken: list[ast.stmt]) -> str:
        gone = {i for s in taken for i in range(*self.spans[s])}
        return "\n".join(line for i, line in enumerate(self.lines) if i not in gone) + "\n"

    @staticmethod
    def words_of(nodes: list[ast.stmt]) -> list[str]:
        found: dict[str, None] = {}
        for node in nodes:
            for n in ast.walk(node):
                if isinstance(n, ast.Name):
                    found[n.id] = None
                elif isinstance(n, ast.Constant) and isinstance(n.value, str) and len(n.value) < 200 and re.fullmatch(r"[\w\[\], .|]+", n.value):
                    found.update(dict.fromkeys(re.findall(r"[A-Za-z_]\w*", n.value)))
        return list(found)

    def used_by(self, taken: list[ast.stmt]) -> list[str]:
        return self.words_of(taken)

    def all_used(self) -> set[str]:
        return set(self.words_of(self.statements))

    def imports_for(self, taken: list[ast.stmt], module: str, moved: set[str]) -> list[tuple[str, str]]:
        """The imports of this module that the statements need, each with its kind."""
        used, found = set(self.words_of(taken)), []
        def collect(body: list[ast.stmt], kind: str) -> None:
            for s in body:
                if isinstance(s, ast.If):
                    checking = ast.unparse(s.test).endswith("TYPE_CHECKING")
                    collect(s.body, "type" if checking else kind)
                    stand_ins = [n for x in s.orelse for n in self.names_of(x) if n in used]
                    if stand_ins:
                        raise SystemExit(f"{module}: {stand_ins} are deferred; split by hand")
                elif isinstance(s, ast.ImportFrom) and s.module != "__future__":
                    some = [a for a in s.names if (a.asname or a.name) in used]
                    if some:
                        said = ", ".join(a.name + (f" as {a.asname}" if a.asname else "") for a in some)
                        found.append((f"from {s.module} import {said}", kind))
                elif isinstance(s, ast.Import):
                    for a in s.names:
                        if (a.asname or a.name.split(".")[0]) in used:
                            found.append((f"import {a.name}" + (f" as {a.asname}" if a.asname else ""), kind))
        collect(self.tree.body, "top")
        return found


def is_import(s: ast.stmt) -> bool:
    return isinstance(s, ast.Import | ast.ImportFrom) or (
        isinstance(s, ast.If) and ast.unparse(s.test).endswith("TYPE_CHECKING")
    )


def without_imports(text: str, names: set[str]) -> str:
    """Without the imports of these local names."""
    lines, gone = text.splitlines(), {}
    def visit(body: list[ast.stmt], indent: str, block: ast.If | None) -> None:
        left = len(body)
        for s in body:
            if isinstance(s, ast.If) and ast.unparse(s.test).endswith("TYPE_CHECKING"):
                visit(s.body, indent + "    ", s)
            elif isinstance(s, ast.Import | ast.ImportFrom) and getattr(s, "module", "") != "__future__":
                kept = [a for a in s.names if (a.asname or a.name.split(".")[0]) not in names]
                if len(kept) == len(s.names):
                    continue
                said = ", ".join(a.name + (f" as {a.asname}" if a.asname else "") for a in kept)
                head = f"from {s.module} import " if isinstance(s, ast.ImportFrom) else "import "
                gone[s.lineno - 1, s.end_lineno] = [indent + head + said] if kept else []
                left -= not kept
        if block and left == 0 and not block.orelse:
            for span in [k for k in gone if block.lineno <= k[0] < block.end_lineno]:
                del gone[span]
            gone[block.lineno - 1, block.end_lineno] = []
    visit(ast.parse(text).body, "", None)
    for (a, b), new in sorted(gone.items(), reverse=True):
        lines[a:b] = new
    return "\n".join(lines) + "\n"


def insert_future(text: str) -> str:
    return insert_imports(text, [("from __future__ import annotations", "top")])


def insert_imports(text: str, needed: list[tuple[str, str]]) -> str:
    """The imports below the docstring; those for types into the TYPE_CHECKING block. Ruff sorts them afterwards."""
    top = [said for said, kind in needed if kind == "top"]
    types = [said for said, kind in needed if kind == "type"]
    tree, lines = ast.parse(text), text.splitlines()
    block = next((s for s in tree.body if isinstance(s, ast.If) and ast.unparse(s.test).endswith("TYPE_CHECKING")), None)
    if types:
        if block:
            lines[block.body[0].lineno - 1 : block.body[0].lineno - 1] = [f"    {said}" for said in types]
        else:
            top = ["from typing import TYPE_CHECKING", *top]
            last = max((s.end_lineno for s in tree.body if is_import(s)), default=(tree.body[0].end_lineno if tree.body and isinstance(tree.body[0], ast.Expr) else 0))
            lines[last:last] = ["", "if TYPE_CHECKING:", *[f"    {said}" for said in types], ""]
    first = 0
    for s in tree.body:
        if (isinstance(s, ast.Expr) and s is tree.body[0]) or (isinstance(s, ast.ImportFrom) and s.module == "__future__"):
            first = s.end_lineno
        else:
            break
    lines[first:first] = ["", *top, ""] if top else []
    return "\n".join(lines) + "\n"


class Rewriter(cst.CSTTransformer):
    """Imports of one file, and what follows from them."""

    METADATA_DEPENDENCIES = ()

    def __init__(self, step: Step, path: str, wrapper: MetadataWrapper) -> None:
        super().__init__()
        self.step, self.path = step, path
        self.here_old, self.here = module_of(path), step.new_module(path)
        self.scopes = {s for s in wrapper.resolve(ScopeProvider).values() if s is not None}
        self.parents = wrapper.resolve(ParentNodeProvider)
        self.names: dict[cst.CSTNode, str] = {}        # Name nodes -> new text
        self.statements: dict[cst.CSTNode, list[str]] = {}  # ImportFrom/Import nodes -> new statements
        self.strings: dict[str, str] = {}              # alias in string annotations
        self.more: dict[str, None] = {}                # imports to add at the top
        self.plan(wrapper)

    # -- what is to be done

    def plan(self, wrapper: MetadataWrapper) -> None:
        self.kept: dict[tuple[cst.CSTNode, str], str] = {}
        seen: set[tuple[int, str]] = set()
        for scope in self.scopes:
            for assignment in scope.assignments:
                if not isinstance(assignment, ImportAssignment) or not isinstance(assignment.node, cst.ImportFrom):
                    continue
                node = assignment.node
                base = dotted(node.module)
                if node.relative or isinstance(node.names, cst.ImportStar):
                    continue
                for alias in node.names:
                    local = alias.asname.name.value if alias.asname else alias.name.value
                    if local != assignment.name or (id(node), local) in seen:
                        continue
                    seen.add((id(node), local))
                    self._plan_alias(scope, assignment, node, base, alias, local)
        for node in self._import_froms(wrapper.module):
            self._plan_statement(node)
        self._plan_deferred(wrapper.module)

    def _plan_alias(self, scope, assignment, node, base, alias, local) -> None:
        full = f"{base}.{alias.name.value}"
        is_module = full in self.step.modules or full in {m for m, _ in self.step.symbols}
        if not is_module:
            return
        went: set[str] = set()
        for access in assignment.references:
            target = self._split_target(full, access.node)
            if target:
                name = self._module_name(target, scope, access.scope)
                self.names[access.node] = name
                went.add(target)
        new = self.step.modules.get(full)
        if new and not alias.asname:
            last = new.rpartition(".")[2]
            rest = [a for a in assignment.references if a.node not in self.names]
            if last != local:
                if self._is_free(last, scope, [a.scope for a in rest]):
                    for access in rest:
                        if isinstance(access.node, cst.Name):
                            self.names[access.node] = last
                        elif isinstance(access.node, cst.Attribute):
                            self.names[leftmost(access.node)] = last
                    self.strings[local] = last
                    self.kept[node, local] = last
                else:
                    self.kept[node, local] = f"{last} as {local}"
                    self.step.aliases.append(f"{self.step.paths.get(self.path, self.path) or self.path}: {last} as {local}")

    def _split_target(self, module: str, node: cst.CSTNode) -> str | None:
        """Where the name went that this access of the module wants: module.name, or setattr(module, "name")."""
        name = node
        parent = self.parents.get(name)
        attribute = None
        if isinstance(node, cst.Attribute):
            attribute = node.attr.value if isinstance(node.value, cst.Name) else None
        elif isinstance(parent, cst.Attribute) and parent.value is name:
            attribute = parent.attr.value
        elif isinstance(parent, cst.Arg):
            call = self.parents.get(parent)
            if isinstance(call, cst.Call) and len(call.args) > 1 and call.args[0] is parent and isinstance(call.args[1].value, cst.SimpleString):
                attribute = call.args[1].value.evaluated_value
        return self.step.symbols.get((module, attribute)) if attribute else None

    def _module_name(self, target: str, scope, used) -> str:
        parent, _, last = target.rpartition(".")
        if target == self.here:
            self.step.notes.append(f"{self.path}: uses module.name of what is its own now; mend by hand")
        if self._is_free(last, scope, [used]) or f"from {parent} import {last}" in self.more:
            self.more[f"from {parent} import {last}"] = None
            return last
        other = f"{parent.rpartition('.')[2]}_{last}"
        self.more[f"from {parent} import {last} as {other}"] = None
        self.step.aliases.append(f"{self.path}: {last} as {other}")
        return other

    def _is_free(self, name: str, scope, uses) -> bool:
        """Whether no scope from the uses up to the import has the name."""
        for used in (*uses, scope):
            while used is not None:
                if any(True for a in used.assignments if a.name == name) and not self._same_import(used, name):
                    return False
                if used is scope or used is getattr(used, "parent", None):
                    break
                used = getattr(used, "parent", None)
        return not any(a.name == name for a in scope.assignments)

    def _same_import(self, scope, name: str) -> bool:
        return False

    def _import_froms(self, module):
        found = []
        class Finder(cst.CSTVisitor):
            def visit_ImportFrom(self, node):
                found.append(node)
        module.visit(Finder())
        return found

    def _plan_statement(self, node: cst.ImportFrom) -> None:
        base = dotted(node.module)
        if node.relative or isinstance(node.names, cst.ImportStar) or not base:
            return
        groups: dict[str, list[str]] = {}
        changed = False
        for alias in node.names:
            name = alias.name.value
            asname = alias.asname.name.value if alias.asname else ""
            full = f"{base}.{name}"
            local = asname or name
            if full in self.step.modules or (full in {m for m, _ in self.step.symbols} and full in self.step.known):
                new = self.step.modules.get(full, full)
                if new == "":  # all of it went elsewhere; what used it was rewritten
                    changed = True
                    continue
                parent, _, last = new.rpartition(".")
                said = f"{last} as {asname}" if asname else self.kept.get((node, local), last)
                said = said.removesuffix(f" as {last}") if said == f"{last} as {last}" else said
                groups.setdefault(parent, []).append(said)
                changed |= new != full or said != (f"{name} as {asname}" if asname else name)
                continue
            new, renamed = self.step.place_of(base, name)
            if new == "":
                self.step.notes.append(f"{self.path}: {base} has no {name} any more")
                new = base
            if new == self.here and new != self.here_old or (new == self.here and (base, name) in self.step.symbols):
                changed = True  # it is at home
                continue
            groups.setdefault(new, []).append(renamed + (f" as {asname}" if asname else "" if renamed == name else f" as {name}"))
            changed |= new != base
        if changed:
            self.statements[node] = [f"from {m} import {', '.join(names)}" for m, names in groups.items()]

    def _plan_deferred(self, module: cst.Module) -> None:
        """deferred_in(…) and what is called by it: one base that suits most, deferred(…) for the others."""
        self.deferred: dict[cst.CSTNode, cst.BaseExpression] = {}
        bases: dict[str, tuple[cst.Call, str]] = {}
        calls: dict[str, list[tuple[cst.Call, str]]] = defaultdict(list)
        class Finder(cst.CSTVisitor):
            def visit_Assign(self, node):
                v = node.value
                if isinstance(v, cst.Call) and isinstance(v.func, cst.Name) and v.func.value in ("deferred_in", "lazy_in"):
                    bases[node.targets[0].target.value] = (v, v.args[0].value)
            def visit_Call(self, node):
                if isinstance(node.func, cst.Name) and len(node.args) == 1 and isinstance(node.args[0].value, cst.SimpleString):
                    calls[node.func.value].append((node, node.args[0].value.evaluated_value))
        module.visit(Finder())
        for name, (call, base) in bases.items():
            old = base.evaluated_value if isinstance(base, cst.SimpleString) else self.here_old
            full = {}
            for one, path in calls[name]:
                owner, _, attr = f"{old}.{path}".rpartition(".")
                new, renamed = self.step.place_of(owner, attr)
                full[one] = f"{new}.{renamed}"
            if not full:
                continue
            if all(f"{old}.{path}" == full[one] for one, path in calls[name]) and (isinstance(base, cst.SimpleString) or self.here == self.here_old):
                continue
            own = [f for f in full.values() if f.startswith(self.here + ".")]
            if not isinstance(base, cst.SimpleString) and own and len(own) * 2 >= len(full):
                chosen, said = self.here, "__name__"
            else:
                counts: dict[str, int] = defaultdict(int)
                for f in full.values():
                    parts = f.split(".")
                    for i in range(1, len(parts)):
                        counts[".".join(parts[:i])] += 1
                most = max(counts.values())
                enough = [p for p, c in counts.items() if c >= max(1, most - 2) and p.count(".") >= 1]
                chosen = max(enough, key=lambda p: (counts[p] * 100 + p.count(".") * 150, len(p)))
                said = f'"{chosen}"'
            self.deferred[call.args[0].value] = cst.parse_expression(said)
            for one, path in calls[name]:
                if full[one].startswith(chosen + "."):
                    self.deferred[one.args[0].value] = cst.SimpleString(f'"{full[one][len(chosen) + 1:]}"')
                else:
                    self.deferred[one] = cst.parse_expression(f'{call.func.value.removesuffix("_in")}("{full[one]}")')
                    home = "anoncup.lazy" if (self.step.repo / "anoncup/lazy.py").exists() else "app.deferred"
                    self.more[f"from {home} import {call.func.value.removesuffix('_in')}"] = None

    # -- doing it

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        return updated.with_changes(value=self.names[original]) if original in self.names else updated

    def leave_SimpleString(self, original: cst.SimpleString, updated: cst.SimpleString) -> cst.BaseExpression:
        if original in self.deferred:
            return self.deferred[original]
        text = updated.value
        place = self.parents.get(self.parents.get(self.parents.get(original)))
        if isinstance(place, cst.Assign) and dotted(place.targets[0].target) == "__all__":
            said = original.evaluated_value
            return updated.with_changes(value=f'"{self.strings[said]}"') if said in self.strings else updated
        if self.strings and re.fullmatch(r"[\"'][\w\[\], .|]+[\"']", text):
            for old, new in self.strings.items():
                text = re.sub(rf"\b{old}\.(?=[A-Z])", f"{new}.", text)
        return updated.with_changes(value=text) if text != updated.value else updated

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        return self.deferred.get(original, updated)

    def leave_Arg(self, original: cst.Arg, updated: cst.Arg) -> cst.Arg:
        return updated

    def leave_SimpleStatementLine(self, original, updated):
        found = [n for n in original.body if n in self.statements]
        if not found:
            return updated
        new: list[str] = []
        for n in original.body:
            new += self.statements.get(n, [cst.Module([]).code_for_node(n)])
        if not new:
            return cst.RemoveFromParent()
        made = [cst.parse_statement(s) for s in new]
        made[0] = made[0].with_changes(leading_lines=updated.leading_lines)
        if updated.trailing_whitespace.comment:
            made = [m.with_changes(trailing_whitespace=updated.trailing_whitespace) for m in made]
        return cst.FlattenSentinel(made)

    def leave_If(self, original: cst.If, updated: cst.If):
        if isinstance(updated.body, cst.IndentedBlock) and not updated.body.body:
            return cst.RemoveFromParent() if not updated.orelse else updated.with_changes(
                body=updated.body.with_changes(body=[cst.parse_statement("pass")]))
        return updated

    def leave_FunctionDef(self, original, updated):
        if isinstance(updated.body, cst.IndentedBlock) and not updated.body.body:
            return updated.with_changes(body=updated.body.with_changes(body=[cst.parse_statement("pass")]))
        return updated

    def leave_Module(self, original: cst.Module, updated: cst.Module) -> cst.Module:
        if not self.more:
            return updated
        return cst.parse_module(insert_imports(updated.code, [(said, "top") for said in self.more]))


def dotted(node: cst.CSTNode | None) -> str:
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        return f"{dotted(node.value)}.{node.attr.value}"
    return ""


def leftmost(node: cst.CSTNode) -> cst.CSTNode:
    while isinstance(node, cst.Attribute):
        node = node.value
    return node


def main() -> None:
    repo, words = Path(sys.argv[1]).resolve(), sys.argv[2:]
    if words == ["--list"]:
        print("\n".join(f"{name}  {len(rows)}" for name, rows in mapping.MOVES.items()))
        return
    if words == ["--check"]:
        files = subprocess.check_output(["git", "ls-files", "app/*.py", "anoncup/*.py", "workers/*.py"], cwd=repo, text=True).split()
        old, new = set(mapping.planned()), {n for n, _, _ in mapping.planned().values()}
        stay = {line.split("\t")[0] for line in (HERE / "moves.tsv").read_text().splitlines()}
        made = {f"{m.replace('.', '/')}{end}" for m in (*mapping.NEW, *(row[3] for row in mapping.SPLITS)) for end in (".py", "/__init__.py")}
        print("not in the plan:", *[f for f in files if f not in old | new | stay | made] or ["nothing"])
        print("no longer there:", *[f for f in old if f not in files and mapping.planned()[f][0] not in files and mapping.planned()[f][0]] or ["nothing"])
        return
    if "--rewrite" in words:  # what others have added since, in old names: no file moves
        saved = json.loads(STATE.read_text())
        for names, state in saved.items():
            if words[1:] in ([], names.split()):
                step = Step(repo, names.split())
                step.load(state)
                step.rewrite_imports()
                step.rewrite_text()
                step.tidy()
                print(f"{names}: {len(step.touched)} files touched", *sorted(step.touched))
        return
    step = Step(repo, [w for w in words if not w.startswith("--")])
    if "--left" not in words:
        if step.git("status", "--porcelain"):
            sys.exit("the checkout has changes: commit them first")
        import edits, registries
        for name in step.names:
            edits.before(name, step)
        registries.make(step)
        step.read_faces()
        step.split()
        step.rewrite_imports()
        step.move_files()
        step.rewrite_text()
        for name in step.names:
            edits.after(name, step)
        step.tidy()
        step.save()
        with (HERE / "aliases.txt").open("a") as file:
            file.writelines(f"{', '.join(step.names)}\t{one}\n" for one in sorted(set(step.aliases)))
    print(f"{', '.join(step.names)}: {len(step.touched)} files touched, {len(set(step.aliases))} aliases kept")
    for one in step.notes:
        print("NOTE", one)
    for one in step.left():
        print("LEFT", one)


if __name__ == "__main__":
    main()
