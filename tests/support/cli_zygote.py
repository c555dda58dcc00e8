"""The command line in a process of its own, forked from one that has imported it: importing takes seconds."""

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
SERVE = "from tests.support.cli_zygote import serve; serve()"
NO_LINES_S = 3600.0
"""Between lines of progress: a command must not say more where the machine is busier."""


def run(words: Sequence[str | Path], *, cwd: Path, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """``anoncup`` with these words, as ``subprocess.run`` would tell of it."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        asked = {"words": [str(word) for word in words], "cwd": str(cwd), "env": env}
        files = {
            "out": f"/proc/{os.getpid()}/fd/{out.fileno()}",
            "err": f"/proc/{os.getpid()}/fd/{err.fileno()}",
        }
        process = imported()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(asked | files) + "\n")
        process.stdin.flush()
        status = int(process.stdout.readline())
        texts = [(file.seek(0), file.read().decode("utf-8"))[1] for file in (out, err)]
    return subprocess.CompletedProcess(["anoncup", *words], status, *texts)


@cache
def imported() -> "subprocess.Popen[str]":
    """The process that all are forked from; it ends with its standard input."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE],
        cwd=ROOT,
        env={"PATH": os.defpath},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.communicate)
    return process


def serve() -> None:
    """A child for every line of standard input, one after the other; its exit status is the answer."""
    import anoncup
    import app.cli
    from anoncup.cli import terminal
    from anoncup.geometry import kernels

    for package in (anoncup, app.cli):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    terminal.LINE_EVERY_S = NO_LINES_S
    kernels.warm()
    kernels.warm_bounds()
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            become(asked)
        _, status = os.waitpid(child, 0)
        answers.write(f"{os.waitstatus_to_exitcode(status)}\n")
        answers.flush()


def become(asked: dict[str, object]) -> None:
    from anoncup.cli.main import main

    for fd, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(str(asked[name]), os.O_WRONLY), fd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(str(asked["cwd"]))
    os.environ.clear()
    os.environ.update(asked["env"])  # type: ignore[call-overload]
    sys.argv = ["anoncup", *asked["words"]]  # type: ignore[misc]
    status: object = 0
    try:
        main()
    except SystemExit as ended:
        status = ended.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))
