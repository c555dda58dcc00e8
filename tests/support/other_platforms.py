"""Runs ``anoncup`` without what only POSIX systems have. Other packages than anoncup keep it.

Opening a text file without an encoding is an error: the default is that of the region on Windows.
"""

import builtins
import os
import signal
import sys
import warnings
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

POSIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
POSIX_NAMES: dict[ModuleType, set[str]] = {
    os: {
        *("chown", "fchmod", "fchown", "fork", "forkpty", "getegid", "geteuid", "getgid", "getloadavg"),
        *("getpgid", "getuid", "killpg", "lchown", "mkfifo", "nice", "openpty", "sched_getaffinity"),
        *("setpgid", "setsid", "uname", "wait", "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK"),
    },
    signal: {"SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1", "alarm", "pthread_sigmask"},
}


class _WindowsModule(ModuleType):
    """A module as our code sees it on Windows."""

    def __init__(self, module: ModuleType, missing: set[str]) -> None:
        super().__init__(module.__name__)
        self.module, self.missing = module, missing

    def __getattr__(self, name: str) -> Any:
        if name in self.missing:
            raise AttributeError(f"Windows has no {self.module.__name__}.{name}")
        return getattr(self.module, name)


def hide_posix() -> None:
    """Let imports by the library fail or return modules that lack what only POSIX systems have."""
    modules = {module.__name__: _WindowsModule(module, names) for module, names in POSIX_NAMES.items()}
    import_module = builtins.__import__

    def import_as_on_windows(
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002  # the names of the builtin
        locals: Mapping[str, object] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        is_ours = str((globals or {}).get("__name__")).partition(".")[0] == "anoncup" and level == 0
        if is_ours and name in POSIX_MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if is_ours and name in modules:
            return modules[name]
        return import_module(name, globals, locals, fromlist or (), level)

    builtins.__import__ = import_as_on_windows


if __name__ == "__main__":
    warnings.filterwarnings("ignore", category=EncodingWarning)
    warnings.filterwarnings("error", category=EncodingWarning, module=r"anoncup(\.|$)")
    hide_posix()
    if sys.argv[1:2] == ["-c"]:
        exec(sys.argv[2])
    else:
        from anoncup.cli.main import main

        main()
