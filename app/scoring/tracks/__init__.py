"""The tracks by name."""

from app.scoring.registry import Track
from app.scoring.tracks.microdata import MICRODATA
from app.scoring.tracks.transactions import TRANSACTIONS

TRACKS: dict[str, Track] = {"microdata": MICRODATA, "transactions": TRANSACTIONS}
