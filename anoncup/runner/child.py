"""A child: limits itself, enters the sandbox, then reads jobs and writes their results."""

import os
import resource
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from anoncup.runner import sandbox
from anoncup.runner.protocol import (
    FINISHED,
    MAX_FILES_BYTES,
    MAX_MESSAGE_BYTES,
    MEMORY_STATUS,
    JobLimits,
    read_file,
    write_file,
)
from anoncup.runner.sandbox import Sandbox, kernel, privileges

RESOURCE_LIMITS = {
    resource.RLIMIT_CORE: 0,  # no memory on the disk after a crash
    resource.RLIMIT_NOFILE: 256,
    resource.RLIMIT_SIGPENDING: 64,
}
"""Limits for core dumps, descriptors and pending signals, which are counted by user."""
_OWN_THREADS, _SHARED_THREADS = 64, 4096
"""Threads of the user of a child, and of one whose web server, worker and databases run as the same user."""
_JOB_DESCRIPTORS = 3


@dataclass(frozen=True, slots=True)
class Confinement:
    """The sandbox of a child, see ``anoncup.runner.sandbox``, and what it does first inside."""

    mechanisms: Sandbox
    ruleset: int | None
    prepare: Callable[[], None]


def run(template: socket.socket, template_pid: int, limits: JobLimits, confinement: Confinement) -> NoReturn:
    """Be a child: do jobs until the template kills this process. Never returns into the template's code."""
    status = 1
    try:
        _end_with_template(template_pid)
        channel, ruleset = _keep_descriptors(template, confinement.ruleset)
        has_own_user = confinement.mechanisms.drops_root and privileges.may_switch_user(
            restricts_files=ruleset is not None
        )
        _limit_resources(limits, has_own_user=has_own_user)
        sandbox.enter(confinement.mechanisms, ruleset)
        if ruleset is not None:
            os.close(ruleset)
        os.dup2(1, 2)  # from here on, secrets could be printed into the log
        confinement.prepare()
        _serve(channel)
    except MemoryError:
        status = MEMORY_STATUS
    except BaseException:  # of which nothing may reach the template's code
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _end_with_template(template_pid: int) -> None:
    kernel.call_libc("prctl", privileges.PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != template_pid:
        os._exit(1)


def _keep_descriptors(channel: socket.socket, ruleset: int | None) -> tuple[socket.socket, int | None]:
    """Close all but the channel to the template and the ruleset, and return them under other numbers."""
    kept = [os.dup(descriptor) for descriptor in (channel.fileno(), ruleset) if descriptor is not None]
    for number, descriptor in enumerate(kept, 3):
        os.dup2(descriptor, number, inheritable=False)
    os.closerange(3 + len(kept), os.sysconf("SC_OPEN_MAX"))
    return socket.socket(fileno=3), 4 if len(kept) > 1 else None


def _limit_resources(limits: JobLimits, *, has_own_user: bool) -> None:
    os.nice(limits.niceness)
    wanted = {
        resource.RLIMIT_AS: limits.memory_mb << 20,
        resource.RLIMIT_FSIZE: MAX_FILES_BYTES,
        resource.RLIMIT_NPROC: _OWN_THREADS if has_own_user else _SHARED_THREADS,
        **RESOURCE_LIMITS,
    }
    for kind, target in wanted.items():
        hard_limit = resource.getrlimit(kind)[1]
        limit = target if hard_limit == resource.RLIM_INFINITY else min(target, hard_limit)
        resource.setrlimit(kind, (limit, limit))


def _serve(template: socket.socket) -> None:
    from anoncup.runner.answers import answer  # noqa: PLC0415  # the template has imported it

    while True:
        content, descriptors, _, _ = socket.recv_fds(template, MAX_MESSAGE_BYTES, _JOB_DESCRIPTORS)
        if not content:
            return
        steps, request, result = descriptors
        write_file(result, answer(read_file(request), steps))
        os.write(steps, FINISHED)
        for descriptor in descriptors:
            os.close(descriptor)
