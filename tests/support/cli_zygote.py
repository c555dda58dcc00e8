"""Runs commands in processes forked from one that has loaded all modules, since loading takes seconds."""

import atexit
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

ROOT = Path(__file__).parents[2]
SERVE_CODE = "from tests.support.cli_zygote import serve; serve()"


def run(
    arguments: Sequence[str | Path], *, cwd: Path, env: dict[str, str]
) -> "subprocess.CompletedProcess[str]":
    """Run ``anoncup`` with these arguments. Return what ``subprocess.run`` would."""
    with tempfile.TemporaryFile() as out_file, tempfile.TemporaryFile() as err_file:
        request = {"words": [str(word) for word in arguments], "cwd": str(cwd), "env": env}
        files = {
            "out": f"/proc/{os.getpid()}/fd/{out_file.fileno()}",
            "err": f"/proc/{os.getpid()}/fd/{err_file.fileno()}",
        }
        process = get_zygote()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request | files) + "\n")
        process.stdin.flush()
        status = int(process.stdout.readline())
        texts = [(file.seek(0), file.read().decode("utf-8"))[1] for file in (out_file, err_file)]
    return subprocess.CompletedProcess(["anoncup", *arguments], status, *texts)


@cache
def get_zygote() -> "subprocess.Popen[str]":
    """Return the process that all commands are forked from. It ends with its standard input."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE_CODE],
        cwd=ROOT,
        env={"PATH": os.defpath},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.communicate)
    return process


def serve() -> None:
    """Fork a child for each line of standard input, wait for it and print its exit status."""
    import anoncup
    import app.operations
    from anoncup.geometry import kernels

    for package in (anoncup, app.operations):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    kernels.load()
    responses = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            run_request(request)
        _, status = os.waitpid(child, 0)
        responses.write(f"{os.waitstatus_to_exitcode(status)}\n")
        responses.flush()


def run_request(request: dict[str, object]) -> None:
    from anoncup.cli.main import main

    for fd, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(str(request[name]), os.O_WRONLY), fd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(str(request["cwd"]))
    os.environ.clear()
    os.environ.update(request["env"])  # type: ignore[call-overload]
    sys.argv = ["anoncup", *request["words"]]  # type: ignore[misc]
    status: object = 0
    try:
        main()
    except SystemExit as exit_error:
        status = exit_error.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))
