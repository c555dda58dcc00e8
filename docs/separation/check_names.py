"""Packages whose __init__ has a name of one of its modules: `cd REPO && python check_names.py`."""
import ast, pathlib, subprocess
for f in subprocess.check_output(["git", "ls-files", "*__init__.py"], text=True).split():
    folder = pathlib.Path(f).parent
    modules = {p.stem for p in folder.glob("*.py")} | {p.parent.name for p in folder.glob("*/__init__.py")}
    names = set()
    for n in ast.walk(ast.parse(open(f).read())):
        if isinstance(n, ast.ImportFrom) and (n.module or "").replace(".", "/") != str(folder):
            names |= {a.asname or a.name for a in n.names}
        elif isinstance(n, ast.FunctionDef | ast.ClassDef):
            names.add(n.name)
        elif isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            names.add(n.id)
    if names & modules:
        print(f, *sorted(names & modules))
