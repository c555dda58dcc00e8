"""The template as a program: ``python -m anoncup.runner OPTIONS``, see ``anoncup.runner.client``."""

import gc
import json
import signal
import socket
import sys
from typing import Any

from anoncup import environments
from anoncup.runner import allocator, sandbox
from anoncup.runner.sandbox import Sandbox, privileges


def main() -> None:
    options: dict[str, Any] = json.loads(sys.argv[1])
    for number in (signal.SIGINT, signal.SIGTERM):  # sent to all processes of a terminal or service
        signal.signal(number, signal.SIG_IGN)
    allocator.keep_freed_memory()
    environments.defer_packages()
    _serve(socket.socket(fileno=options["socket"]), Sandbox(**options["sandbox"]), options)


def _serve(caller: socket.socket, mechanisms: Sandbox, options: dict[str, Any]) -> None:
    from anoncup.runner.child import Confinement  # noqa: PLC0415
    from anoncup.runner.packages import PackageFinder  # noqa: PLC0415  # after packages are deferred
    from anoncup.runner.preload import preload  # noqa: PLC0415
    from anoncup.runner.template import Template  # noqa: PLC0415

    if options["preloads"]:
        preload()
    finder = PackageFinder()
    ruleset = sandbox.make_ruleset(mechanisms, finder.folders)
    privileges.are_libraries_public()  # remembers the answer for all children
    gc.collect()
    gc.freeze()  # else the collector of each child would write to all memory that they share
    try:
        caller.send(b"ready")
    except BrokenPipeError:  # the caller was killed meanwhile
        return
    # The code of packages gets a process for each job.
    jobs_per_child = 1 if finder.runs_packages else options["jobs_per_child"]
    confinement = Confinement(mechanisms, ruleset, finder.load)
    Template(caller, confinement, jobs_per_child, options["idle_s"]).serve(options["caller"])


if __name__ == "__main__":
    main()
