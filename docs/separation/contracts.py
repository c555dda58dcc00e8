"""Write .importlinter from layers.py: `python contracts.py REPO [--final]`.

Without --final, modules that are not there yet (or no longer) are left out, so that the file fits between any two steps.
"""
from __future__ import annotations
import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent))
from layers import ANONCUP, ROOMS, SERVICE

def exists(repo: Path, module: str) -> bool:
    path = repo / module.replace(".", "/")
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()

def children(repo: Path, package: str) -> list[str]:
    folder = repo / package.replace(".", "/")
    found = {p.stem for p in folder.glob("*.py") if p.stem not in ("__init__", "__main__")} | {p.parent.name for p in folder.glob("*/__init__.py")}
    return sorted(found)

def main() -> None:
    repo, final = Path(sys.argv[1]), "--final" in sys.argv
    workers = [f"workers.{c}" for c in children(repo, "workers") if c != "sandbox"]
    # What stands in app beside the packages of the plan: not moved yet.
    planned = {e for entries in SERVICE for e in entries}
    old = {"app.redis_client": 3, "app.throttle": 5, "app.turns": 5, "app.queue": 4, "app.transaction": 5, "app.logins": 3, "app.sealing": 3, "app.witnessing": 4,
           "app.language": 2, "app.contest": 6, "app.names": 2, "app.memory": 2, "app.local": 5, "app.parser": 11, "app.serving": 12, "app.backup": 11, "app.scoring": 1, "app.wire": 1, "app.roles": 1, "app.client": 1, "app.glossary": 6}
    def lines(layers, other={}):
        out = []
        for place, entries in reversed(list(enumerate(layers))):
            if "workers" in entries:
                some = workers
            else:
                some = [e for e in entries if exists(repo, e) or final]
            if not final:
                some += [m for m, p in other.items() if p == place and exists(repo, m) and m not in planned]
            if some:
                out.append("    " + (" : " if "workers" in entries or (other and not final) else " | ").join(some))
        return "\n".join(out)
    def existing(*modules):
        some = [m for m in modules if final or exists(repo, m)]
        return "\n".join(f"    {m}" for m in some)
    text = ["[importlinter]\nroot_packages =\n    app\n    workers\n    migrations\n    anoncup\ninclude_external_packages = True\n"]
    def contract(key, name, kind, **values):
        if any(v == "" for v in values.values()):
            return
        text.append(f"[importlinter:contract:{key}]\nname = {name}\ntype = {kind}\n" + "".join(f"{k} =\n{v}\n" if "\n" in v or v.startswith("    ") else f"{k} = {v}\n" for k, v in values.items()))
    contract("library", "The library knows nothing of the service", "forbidden", source_modules="    anoncup", forbidden_modules="    app\n    workers\n    migrations")
    contract("library-layers", "The layers of the library", "layers", layers=lines(ANONCUP))
    for package in ("anoncup.competition", "anoncup.tracks"):
        mine = [tuple(e.removeprefix(package + ".") for e in entries if e.startswith(package + ".")) for entries in ANONCUP]
        rows = [" | ".join(e for e in one if final or exists(repo, f"{package}.{e}")) for one in reversed(mine)]
        if exists(repo, package):
            contract(package.replace(".", "-"), f"Every module of {package} has its layer", "layers", containers=f"    {package}", exhaustive="True", layers="\n".join(f"    {r}" for r in rows if r))
    contract("library-pure", "The library needs no server, database or web framework", "forbidden", source_modules="    anoncup",
             forbidden_modules="    alembic\n    celery\n    fastapi\n    jinja2\n    prometheus_client\n    psycopg\n    redis\n    sqlalchemy\n    starlette\n    structlog\n    uvicorn")
    contract("rules-pure", "The rules need no pydantic and no client", "forbidden",
             source_modules=existing("anoncup.geometry", "anoncup.tables", "anoncup.competition", "anoncup.tracks", "anoncup.plugins", "anoncup.excessive", "anoncup.evaluation"), forbidden_modules="    httpx2\n    pydantic\n    typer")
    contract("service-layers", "The layers of the service", "layers", layers=lines(SERVICE, old))
    rooms = [" | ".join(r for r in room if final or exists(repo, f"app.services.{r}")) for room in reversed(ROOMS)]
    if final or not exists(repo, "app.services.contest"):
        contract("rooms", "The packages of services stand above each other", "layers", containers="    app.services", exhaustive="True", layers="\n".join(f"    {r}" for r in rooms if r))
    contract("audiences", "Pages of one audience know nothing of another's", "layers", containers="    app.web", exhaustive="True", layers="    visitor | team | organizer\n    site")
    contract("charts", "Charts know numbers and words only", "forbidden", source_modules="    app.charts",
             forbidden_modules=existing("app.web", "app.services", "app.db", "anoncup.schemas", "anoncup.tracks", "anoncup.evaluation") + "\n    fastapi\n    jinja2")
    contract("no-web-below", "Services, rows and workers know no web framework", "forbidden", source_modules=existing("app.services", "app.db", "workers"), forbidden_modules="    fastapi", allow_indirect_imports="True")
    contract("workers-serve-nobody", "Workers never import the web side", "forbidden", source_modules="    workers", forbidden_modules=existing("app.http", "app.api", "app.web", "app.main", "app.cli"))
    contract("scorer", "The scorer imports the library only", "forbidden", source_modules=existing("workers.scorer", "workers.original_cache"), forbidden_modules="    app\n    migrations") if final or exists(repo, "workers.original_cache") else None
    contract("sandbox", "The sandbox needs nobody", "forbidden", source_modules=existing("workers.sandbox"), forbidden_modules="    app\n    migrations\n    anoncup")
    contract("one-celery", "One place imports Celery in app", "forbidden", source_modules=existing("app.api", "app.web", "app.http", "app.db", "app.config", "app.storage", "app.crypto", "app.services.accounts", "app.services.contests", "app.services.originals"), forbidden_modules="    celery\n    kombu", allow_indirect_imports="True")
    contract("one-store", "Where files lie is known in app.storage only", "forbidden", source_modules=existing("app.api", "app.web", "app.http", "app.services", "app.cli", "workers"),
             forbidden_modules="    obstore\n    app.storage.bucket\n    app.storage.folder\n    app.storage.place", allow_indirect_imports="True", **({"ignore_imports": "    workers.parser -> app.storage.place"} if final or exists(repo, "workers.parser") else {}))
    contract("embedded", "The embedded servers stand apart", "forbidden", source_modules=existing("app.processes.embedded_servers", "app.processes.supervisor", "app.processes.child_process"),
             forbidden_modules=existing("app.config", "app.db.models", "app.services", "app.main", "app.cli", "anoncup.tracks"))
    contract("no-numbers", "What keeps the service and its time imports no numbers", "forbidden", source_modules=existing("app.cli.local_service", "app.cli.running", "workers.forked", "workers.clock") if not final else existing("app.cli.local_service", "workers.forked", "workers.clock"),
             forbidden_modules="    numpy\n    pandas\n    pyarrow\n    scipy\n    numba")
    contract("migrations", "Migrations see rows and settings only", "forbidden", source_modules="    migrations", forbidden_modules=existing("app.services", "app.api", "app.web", "app.http", "anoncup.tracks", "workers"))
    (repo / ".importlinter").write_text("\n".join(text))

main()
