"""Patched names that do not exist: `cd REPO && .venv/bin/python check_patches.py`. Of setattr/delattr(module, "name") and of dotted strings."""
import ast, importlib, subprocess, sys
sys.path.insert(0, ".")
bad = 0
def get(dotted):
    parts = dotted.split(".")
    for i in range(len(parts), 0, -1):
        try: o = importlib.import_module(".".join(parts[:i]))
        except ImportError: continue
        for p in parts[i:]: o = getattr(o, p)
        return o
    raise ImportError(dotted)
for f in subprocess.check_output(["git", "ls-files", "tests/*.py", "benchmarks/*.py"], text=True).split():
    t = ast.parse(open(f).read()); names = {}
    for n in ast.walk(t):
        if isinstance(n, ast.ImportFrom) and n.module and n.module.split(".")[0] in ("app", "anoncup", "workers", "migrations"):
            for a in n.names: names[a.asname or a.name] = f"{n.module}.{a.name}"
        elif isinstance(n, ast.Import):
            for a in n.names: names[a.asname or a.name.split(".")[0]] = a.name if a.asname else a.name.split(".")[0]
    for n in ast.walk(t):
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in ("setattr", "delattr") and n.args:
            a = n.args[0]
            try:
                if isinstance(a, ast.Constant) and isinstance(a.value, str):
                    if a.value.split(".")[0] in ("app", "anoncup", "workers", "migrations"): get(a.value)
                elif len(n.args) > 1 and isinstance(n.args[1], ast.Constant) and (d := ast.unparse(a)).split(".")[0] in names:
                    head, *rest = d.split(".")
                    full = ".".join([names[head], *rest])
                    if full.split(".")[0] in ("app", "anoncup", "workers", "migrations") and not hasattr(get(full), n.args[1].value):
                        raise AttributeError(f"{full}.{n.args[1].value}")
            except Exception as e:
                bad += 1; print(f"{f}:{n.lineno}: {e!r}")
print(bad, "patched names are missing")
