"""The built-in attackers' guess vectors as lists."""

import numpy as np

from anoncup.tracks.microdata.registry import ATTACKERS
from anoncup.tracks.microdata.release import Target


def guessed(attacker: str, target: Target, **parameters: object) -> list[int]:
    """What an attacker that answers with a guess vector guesses."""
    answer = ATTACKERS[attacker].attack(target, **parameters)
    assert isinstance(answer, np.ndarray)
    return [int(row) for row in answer]
