"""The microdata track: PWS Cup 2015."""

from app.scoring.anonymity import ANONYMITY
from app.scoring.attackers import ATTACKERS
from app.scoring.excessive.check import DISTANCES
from app.scoring.methods import METHODS
from app.scoring.registry import Track
from app.scoring.utility import UTILITIES

MICRODATA = Track(
    name="microdata",
    measures={**UTILITIES, **ANONYMITY},
    attackers=ATTACKERS,
    methods=METHODS,
    distances=tuple(DISTANCES),
)
