"""The tracks by name, with what installed packages add to them."""

from anoncup.tracks.model import Track
from app.scoring.plugins import discovered
from app.scoring.tracks.membership import MEMBERSHIP
from app.scoring.tracks.microdata import MICRODATA
from app.scoring.tracks.monthly import MONTHLY
from app.scoring.tracks.transactions import TRANSACTIONS

BUILT_IN = {
    "microdata": MICRODATA,
    "transactions": TRANSACTIONS,
    "monthly": MONTHLY,
    "membership": MEMBERSHIP,
}
INSTALLED = discovered(BUILT_IN)
TRACKS: dict[str, Track] = INSTALLED.tracks
