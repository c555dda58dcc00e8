"""Start a sandboxed child: ``python -m app.processes PROGRAM OPTIONS``, see ``SandboxedChild``.

``PROGRAM`` is a module with ``prepare``, which is called before the process enters its sandbox, and ``run``.
"""

import os
import sys
from importlib import import_module

from anoncup.environments import FOLDER_VARIABLE
from anoncup.runner import allocator
from app.processes import child_entry


def main() -> None:
    pipe = child_entry.take_pipe()
    options = child_entry.read_options(sys.argv[2])
    child_entry.limit_resources(options)
    allocator.keep_freed_memory()
    # Import after setting the environment variables that keep numpy from starting threads.
    program = import_module(sys.argv[1])
    program.prepare(warm=options.warm)
    os.environ.pop(FOLDER_VARIABLE, None)  # files that strangers send should not learn where the data are
    child_entry.enter_sandbox(options)
    program.run(pipe)


if __name__ == "__main__":
    main()
