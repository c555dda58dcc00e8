"""A size limit for the sandboxed process's own folder: what it writes there fills no disk of others.

The folder becomes a small file system in memory that only this process sees and that ends with it. Containers
and systemd units may not mount one: there the folder may fill the file system that it lies on.
"""

import ctypes
import os
from pathlib import Path

NEW_MOUNTS, NEW_USER = 0x20000, 0x10000000
FOR_US_ALONE, RECURSIVE = 1 << 18, 1 << 14
WITHOUT_PROGRAMS = 0b1110
"""Nor devices, nor programs that give privileges."""
OPTIONS = b"size=256m,nr_inodes=4096,mode=700"


def mount(folder: Path) -> bool:
    """Put it there, if this process may: as root, or where anybody may make a namespace."""
    try:
        step_aside()
        done("mount", None, b"/", None, FOR_US_ALONE | RECURSIVE, None)
        done("mount", b"none", os.fsencode(folder), b"tmpfs", WITHOUT_PROGRAMS, OPTIONS)
    except OSError:
        return False
    return True


def step_aside() -> None:
    """Into a namespace of mounts; who is not root needs one of users for it, and stays who it is."""
    user, group = os.geteuid(), os.getegid()
    done("unshare", NEW_MOUNTS if user == 0 else NEW_MOUNTS | NEW_USER)
    if user != 0:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def done(name: str, *arguments: bytes | int | None) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    words = [ctypes.c_ulong(one) if isinstance(one, int) else one for one in arguments]
    if getattr(libc, name)(*words) != 0:
        raise OSError(ctypes.get_errno(), name)
