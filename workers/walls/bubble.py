"""Bubblewrap."""


def works() -> bool:
    return False
