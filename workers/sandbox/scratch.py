"""A size limit for the sandboxed process's folder, so that it cannot fill the disk.

The folder becomes a small tmpfs that only this process sees and that ends with it. Containers and systemd
units may not mount one; there the folder may fill the file system that it is on.
"""

import os
from pathlib import Path

from workers.sandbox.kernel import call_libc

CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_PRIVATE, MS_REC = 1 << 18, 1 << 14
_RESTRICTIVE_FLAGS = 0b1110
"""MS_NOSUID, MS_NODEV and MS_NOEXEC."""
_TMPFS_OPTIONS = b"size=256m,nr_inodes=4096,mode=700"


def mount(folder: Path) -> bool:
    """Mount the tmpfs on ``folder``; return whether this process was allowed to.

    It needs root, or a system where any user may create a namespace.
    """
    try:
        _enter_mount_namespace()
        call_libc("mount", None, b"/", None, MS_PRIVATE | MS_REC, None)
        call_libc("mount", b"none", os.fsencode(folder), b"tmpfs", _RESTRICTIVE_FLAGS, _TMPFS_OPTIONS)
    except OSError:
        return False
    return True


def _enter_mount_namespace() -> None:
    """Enter a new mount namespace. Without root, also a user namespace that maps the user to itself."""
    user, group = os.geteuid(), os.getegid()
    call_libc("unshare", CLONE_NEWNS if user == 0 else CLONE_NEWNS | CLONE_NEWUSER)
    if user != 0:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
