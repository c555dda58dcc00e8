"""The tracks by name."""

from app.scoring.tracks.microdata import MICRODATA

TRACKS = {"microdata": MICRODATA}
