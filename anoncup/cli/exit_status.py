"""Run a command, report its errors as text or, with ``--json``, as an object, and set the exit status.

Exit status 1 is reserved for releases that the contest's rules reject.
"""

import errno
import io
import json
import os
import sys
import traceback
from collections.abc import Callable
from importlib.metadata import distribution

from anoncup.cli import options
from anoncup.errors import DomainError, InvalidResult, InvalidUpload, Unavailable, describe_error
from anoncup.messages import Message, replace_control_characters

_WRONG_INPUT = 2
_UNREACHABLE = 3
INTERNAL_ERROR = 70
"""A bug or failure of the program itself."""
_STATUSES = ((Unavailable, _UNREACHABLE), (InvalidResult, INTERNAL_ERROR))
_OUTPUT_FAILED = 74
"""The output could not be written: the disk is full or failing."""
_PIPE_CLOSED = 141
"""The status that shells report for a program ended by SIGPIPE, as in ``| head -1``."""
SCORING_PACKAGES = {
    "charset_normalizer",
    "clevercsv",
    "numba",
    "numpy",
    "pandas",
    "pyarrow",
    "scipy",
    "simpleeval",
}
"""The packages of the extra ``score``, without which only the commands for a service work."""
_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def run(command: Callable[[], object]) -> None:
    """Run a command and exit with its status."""
    options.wants_json.set(False)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the parent process
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  # open until the process exits
    _set_encodings()
    try:
        status = _run_command(command)
        sys.stdout.flush()
    except BrokenPipeError:
        status = _PIPE_CLOSED
        _discard_output()
    except OSError as problem:
        status = _OUTPUT_FAILED
        _discard_output()
        print(f"anoncup: {replace_control_characters(str(problem))}", file=sys.stderr)
    sys.exit(status)


def _set_encodings() -> None:
    """Write files and pipes as UTF-8. Terminals show a replacement for characters that they do not have.

    Windows would write them in the encoding of its region, which other commands do not expect.
    PYTHONIOENCODING takes precedence.
    """
    for stream, errors in ((sys.stdout, "replace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            if not stream.isatty() and "PYTHONIOENCODING" not in os.environ:
                stream.reconfigure(encoding="utf-8", newline="\n")
            stream.reconfigure(errors=errors)


def _run_command(command: Callable[[], object]) -> int:
    try:
        command()
    except SystemExit as system_exit:
        if isinstance(system_exit.__context__, BrokenPipeError):  # typer would exit with 1
            raise system_exit.__context__ from None
        return system_exit.code if isinstance(system_exit.code, int) else int(system_exit.code is not None)
    except BrokenPipeError:
        raise
    except DomainError as problem:
        _print_problem(problem)
        return next((status for kind, status in _STATUSES if isinstance(problem, kind)), _WRONG_INPUT)
    except OSError as problem:
        if problem.errno in _DISK_ERRORS:
            raise
        _print_problem(DomainError(Message(str(problem)), code="file"))
        return _WRONG_INPUT
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name in SCORING_PACKAGES:
            explanation = Message(
                'this command needs the packages that score: use "anoncup[score] @ {address}"',
                address=_find_origin(),
            )
            _print_problem(DomainError(explanation, code="scoring_not_installed"))
            return _WRONG_INPUT
        traceback.print_exc()
        return INTERNAL_ERROR
    return 0


def _find_origin() -> str:
    """Return the address that this program was installed from, which is not the name in a package index."""
    return str(json.loads(distribution("anoncup").read_text("direct_url.json") or "{}").get("url", "ADDRESS"))


def _discard_output() -> None:
    """Discard buffered output that could not be written."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # open until the process exits
    os.dup2(sys.stdout.fileno(), 1)


def _print_problem(problem: DomainError) -> None:
    if options.wants_json.get():
        document = {"code": problem.code, "detail": str(problem), **describe_error(problem)}
        print(json.dumps(document, indent=2))
    print(f"anoncup: {problem}", file=sys.stderr)
    if isinstance(problem, InvalidUpload):
        _print_file_problems(problem)


def _print_file_problems(problem: InvalidUpload) -> None:
    for entry in problem.problems:
        location = f"{entry.file}, row {entry.row}" if entry.row else entry.file
        value = f": {entry.value!r}" if entry.value else ""
        line = f" (line {entry.line}{value})" if entry.line else ""
        print(
            f"  {location}: {entry.code}: {replace_control_characters(str(entry.message))}{line}",
            file=sys.stderr,
        )
    if problem.total > len(problem.problems):
        print(f"  … {problem.total} problems in all", file=sys.stderr)
