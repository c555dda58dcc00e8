"""How a command ends: its exit status, and what went wrong in words and, after ``--json``, as an object.

1 means nothing but that the contest's rules reject a release.
"""

import errno
import io
import json
import os
import sys
import traceback
from collections.abc import Callable

from anoncup.cli import options
from anoncup.errors import DomainError, InvalidUpload, Unavailable, particulars
from anoncup.messages import Message, visible

WRONG_INPUT = 2
UNREACHABLE = 3
BROKEN = 70
"""A fault of ours."""
NOT_WRITTEN = 74
"""The disk is full, or does not work."""
PIPE_CLOSED = 141
"""What a shell tells of other tools whose reader has gone, as in ``| head -1``."""
DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def end(command: Callable[[], object]) -> None:
    """Run a command to its end, and leave with its status."""
    options.json_wanted.set(False)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  # for as long as we run
    buffer_output()
    try:
        status = status_of(command)
        sys.stdout.flush()
    except BrokenPipeError:
        status = PIPE_CLOSED
        leave_unwritten()
    except OSError as problem:
        status = NOT_WRITTEN
        leave_unwritten()
        print(f"anoncup: {visible(str(problem))}", file=sys.stderr)
    sys.exit(status)


def buffer_output() -> None:
    """Replace the standard output of PYTHONUNBUFFERED, which drops the rest of a partial write.

    Each line is still written when it is printed.
    """
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
        number, encoding, errors = sys.stdout.fileno(), sys.stdout.encoding, sys.stdout.errors
        sys.stdout = open(number, "w", buffering=1, encoding=encoding, errors=errors, closefd=False)  # noqa: SIM115


def status_of(command: Callable[[], object]) -> int:
    try:
        command()
    except SystemExit as left:
        if isinstance(left.__context__, BrokenPipeError):  # typer's own answer to it is 1
            raise left.__context__ from None
        return left.code if isinstance(left.code, int) else int(left.code is not None)
    except BrokenPipeError:
        raise
    except DomainError as problem:
        say(problem)
        return UNREACHABLE if isinstance(problem, Unavailable) else WRONG_INPUT
    except OSError as problem:
        if problem.errno in DISK:
            raise
        say(DomainError(Message(str(problem)), code="file"))
        return WRONG_INPUT
    except Exception:
        traceback.print_exc()
        return BROKEN
    return 0


def leave_unwritten() -> None:
    """Let what is left in the buffer go nowhere: it could not be written."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # until the process is over
    os.dup2(sys.stdout.fileno(), 1)


def say(problem: DomainError) -> None:
    if options.json_wanted.get():
        print(json.dumps(described(problem), indent=2))
    print(f"anoncup: {problem}", file=sys.stderr)
    if isinstance(problem, InvalidUpload):
        list_problems(problem)


def described(problem: DomainError) -> dict[str, object]:
    """The same fields as the service's problem documents have."""
    return {"code": problem.code, "detail": str(problem), **particulars(problem)}


def list_problems(problem: InvalidUpload) -> None:
    for entry in problem.problems:
        where = f"{entry.file}, row {entry.row}" if entry.row else entry.file
        value = f": {entry.value!r}" if entry.value else ""
        line = f" (line {entry.line}{value})" if entry.line else ""
        print(f"  {where}: {entry.code}: {visible(str(entry.message))}{line}", file=sys.stderr)
    if problem.total > len(problem.problems):
        print(f"  … {problem.total} problems in all", file=sys.stderr)
