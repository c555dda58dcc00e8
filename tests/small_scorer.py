"""A scoring child of an installation that has the small track."""

from app.scoring.tracks import TRACKS
from tests.small_track import SMALL
from workers import scorer

if __name__ == "__main__":
    TRACKS["small"] = SMALL
    scorer.main()
