"""What attackers that say more than a guess are judged by, for a package's questions: lots and rates.

Importing this loads NumPy: a module that only describes does not.
"""

from app.scoring.rates import (
    ABSTAIN,
    Candidates,
    Noted,
    Rate,
    expected_rate,
    guess_rate,
    rate_of_outcome,
    wilson,
)

__all__ = [
    "ABSTAIN",
    "Candidates",
    "Noted",
    "Rate",
    "expected_rate",
    "guess_rate",
    "rate_of_outcome",
    "wilson",
]
