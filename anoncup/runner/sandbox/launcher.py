"""Start a package's interpreter confined: ``python -m anoncup.runner.sandbox.launcher PYTHON ARGUMENT…``.

Such an interpreter runs code of others before it could enter a sandbox by itself: ``.pth`` files, and entry
points that libraries load. Unlike its children it may start programs, and write compiled loops and modules.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

from anoncup.runner.sandbox import landlock, library_paths, privileges, seccomp


def main() -> None:
    command = sys.argv[1:]
    python, environment = Path(command[0]), Path(command[0]).parents[1]
    if not (environment / "pyvenv.cfg").is_file():
        sys.exit(f"{environment} is not an environment")
    loops = environment / "loops"
    uid = _find_user(loops)
    # Not the folder that pyvenv.cfg names, since a package may bring another one.
    base = python.resolve()
    ruleset = landlock.make_ruleset(
        [Path("/etc", base.name)],  # where Debian keeps a sitecustomize
        runnable=[environment, base, base.parents[1] / "lib", *library_paths.list_readable()],
        writable=[loops],
        # The interpreter looks for modules in the first, and counts its threads in the second.
        listable=[*(path.parent for path in library_paths.list_local_modules().values()), Path("/proc")],
    )
    privileges.drop(restricts_files=True, program_uid=uid)
    landlock.restrict(ruleset)
    if seccomp.is_available():
        seccomp.restrict_interpreter()
    os.environ["PYTHONPYCACHEPREFIX"] = str(loops)
    os.execv(python, command)  # noqa: S606  # the interpreter of an environment that operators made


def _find_user(loops: Path) -> int:
    """Return the user of an environment that root starts: the owner of its loops, which all starts share."""
    uid = privileges.choose_uid()
    with suppress(PermissionError):
        loops.mkdir(exist_ok=True)
        if loops.stat().st_uid in privileges.SANDBOX_UIDS:
            return loops.stat().st_uid
        if privileges.may_switch_user(restricts_files=True):
            os.chown(loops, uid, uid, follow_symlinks=False)
    return uid


if __name__ == "__main__":
    main()
