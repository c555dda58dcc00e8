"""The lists of parts of microdata and transactions: four packages' __init__ become one registry.py in each track.

L06-linkage makes anoncup/tracks/linkage/parameters.py of what both lists share; L07a-microdata makes both registries.
Written in the old names of functions (deferred_in("app.scoring")): the step itself then rewrites them.
"""
from __future__ import annotations
import ast, re

import mapping

SHARED = {"_dense_limit": "DENSE_LIMIT_PARAMETER", "_share": "SHARE", "_each": "each_of", "_never": "no_strengths", "_SHARES": "SHARES"}
HEADER = {
    "microdata": '"""The measures, attackers and methods of the microdata track by name."""\n',
    "transactions": '"""The measures, attackers and methods of the transactions track by name."""\n',
}
IMPORTS = """
from collections.abc import Mapping, Sequence
from typing import Any

from {lazy} import deferred, deferred_in
from anoncup.{model}.parameters import Parameter
from anoncup.tracks.linkage.parameters import DENSE_LIMIT_PARAMETER, SHARE, SHARES, each_of, no_strengths
from anoncup.tracks.parts import Attacker, Measure, Method
"""

def pieces(text: str) -> dict[str, str]:
    """Top-level names with their source, and the docstring below each."""
    tree, lines, found = ast.parse(text), text.splitlines(), {}
    for i, s in enumerate(tree.body):
        names = [s.name] if isinstance(s, ast.FunctionDef) else [t.id for t in s.targets] if isinstance(s, ast.Assign) else []
        after = tree.body[i + 1] if i + 1 < len(tree.body) else None
        last = after.end_lineno if isinstance(after, ast.Expr) and isinstance(s, ast.Assign) else s.end_lineno
        for name in names:
            found[name] = "\n".join(lines[s.lineno - 1 : last])
    return found

def registered_lines(step, package: str, *names: str) -> list[str]:
    text = step.read(f"app/scoring/{package}/__init__.py")
    found = pieces(text)
    base = re.search(r'_by = deferred_in\((?:__name__|"([\w.]+)")\)', text)
    prefix = (base and base[1] or f"app.scoring.{package}") + "."
    out = []
    for name in names:
        said = found[name]
        said = re.sub(r'\b_by\(\s*"([\w.]+)"', lambda m: f'deferred("{prefix}{m[1]}"', said)
        said = re.sub(r'deferred\("app\.scoring\.([\w.]+)"', r'_by("\1"', said)
        out.append(said)
    return out

def with_public(text: str) -> str:
    for old, new in SHARED.items():
        text = re.sub(rf"(?<!\w){old}(?!\w)", new, text)
    return text

def joined(parts: list[str]) -> str:
    """Short assignments one below the other, all else apart."""
    text = parts[0]
    for before, part in zip(parts, parts[1:], strict=False):
        both = all("\n" not in p or p.endswith('"""') and p.count("\n") == 1 for p in (before, part))
        text += ("\n" if both else "\n\n\n" if "def " in before + part else "\n\n") + part
    return text

def make(step) -> None:
    lazy = "anoncup.lazy" if (step.repo / "anoncup/lazy.py").exists() else "app.deferred"
    if "L06-linkage" in step.names:
        parts = registered_lines(step, "attackers", "DENSE_LIMIT", "_dense_limit") + registered_lines(step, "methods", "_share", "_each", "_never", "_SHARES")
        head = '"""Parameters and strengths that attackers and methods of the linkage tracks share."""\n\n'
        head += "from collections.abc import Mapping, Sequence\nfrom typing import Any\n\n"
        head += f"from anoncup.{mapping.MODEL}.parameters import Parameter\nfrom anoncup.tracks.parts import Strengths\n\n"
        step.write("anoncup/tracks/linkage/parameters.py", head + with_public(joined(parts)) + "\n")
        for package, names in (("attackers", ("DENSE_LIMIT", "_dense_limit")), ("methods", ("_share", "_each", "_never", "_SHARES"))):
            path = f"app/scoring/{package}/__init__.py"
            text = step.read(path)
            for name in names:
                text = text.replace(pieces(text)[name] + "\n", "", 1)
            first = text.index("\nfrom ")
            used = [SHARED.get(n, n) for n in names if re.search(rf"(?<!\w){n}(?!\w)", text)]
            text = text[:first] + f"\nfrom anoncup.tracks.linkage.parameters import {', '.join(used)}" + with_public(text[first:])
            step.write(path, text)
        for name, public in SHARED.items():
            step.renamed["app.scoring.attackers" if name == "_dense_limit" else "app.scoring.methods", name] = public
    if "L07a-microdata" in step.names:
        by = '\n_by = deferred_in("app.scoring")\n'
        mine = registered_lines(step, "utility", "_columns", "_target", "UTILITIES") + registered_lines(step, "anonymity", "ANONYMITY")
        mine += registered_lines(step, "attackers", "_quasi", "_sensitive", "_column", "_give_up", "ATTACKERS")
        mine += registered_lines(step, "methods", "_more_columns", "METHODS")
        step.write("anoncup/tracks/microdata/registry.py", HEADER["microdata"] + IMPORTS.format(lazy=lazy, model=mapping.MODEL) + by + joined(mine) + "\n")
        theirs = registered_lines(step, "utility", "TRANSACTION_UTILITIES") + registered_lines(step, "anonymity", "CUSTOMER_ANONYMITY") + registered_lines(step, "attackers", "TRANSACTION_ATTACKERS")
        theirs += registered_lines(step, "methods", "_master", "_clusters", "_fewer_clusters", "TRANSACTION_METHODS")
        step.write("anoncup/tracks/transactions/registry.py", HEADER["transactions"] + IMPORTS.format(lazy=lazy, model=mapping.MODEL) + by + joined(theirs) + "\n")
        for package in ("utility", "anonymity", "attackers", "methods"):
            for name in pieces(step.read(f"app/scoring/{package}/__init__.py")):
                step.symbols.setdefault((f"app.scoring.{package}", name), "anoncup.tracks.microdata.registry")
