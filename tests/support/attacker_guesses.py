"""Guess vectors of the built-in microdata attackers."""

import numpy as np

from anoncup.tracks.microdata.registry import ATTACKERS
from anoncup.tracks.microdata.release import MicrodataTarget


def guess_rows(attacker: str, target: MicrodataTarget, **parameters: object) -> list[int]:
    """Return the guess vector of an attacker as a list of original rows."""
    answer = ATTACKERS[attacker].attack(target, **parameters)
    assert isinstance(answer, np.ndarray)
    return [int(row) for row in answer]
