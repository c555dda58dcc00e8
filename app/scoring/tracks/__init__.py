"""The tracks by name, with what installed packages add to them."""

from anoncup.tracks.membership import MEMBERSHIP
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.model import Track
from anoncup.tracks.monthly import MONTHLY
from anoncup.tracks.transactions import TRANSACTIONS
from app.scoring.plugins import discovered

BUILT_IN = {
    "microdata": MICRODATA,
    "transactions": TRANSACTIONS,
    "monthly": MONTHLY,
    "membership": MEMBERSHIP,
}
INSTALLED = discovered(BUILT_IN)
TRACKS: dict[str, Track] = INSTALLED.tracks
