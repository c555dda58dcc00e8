"""A table of six rows, prepared for scoring, and its rules."""

import pandas as pd

from anoncup.rules.model import Rules
from anoncup.rules.settings import Columns, MeasureSettings
from anoncup.tracks.microdata.registry import UTILITIES
from anoncup.tracks.microdata.release import MicrodataOriginal

COLUMNS = Columns(("sex", "job"), ("pay", "rent"))
TABLE = pd.DataFrame(
    {
        "sex": ["f", "f", "m", "m", "f", "m"],
        "pay": [10.0, 20.0, 30.0, 40.0, 50.0, 70.0],
        "job": ["a", "b", "a", "b", "", "a"],
        "rent": [3.0, 1.0, 4.0, 1.0, 5.0, 9.0],
    }
)
ORIGINAL = MicrodataOriginal(TABLE, COLUMNS)
RULES = Rules(
    slug="cup",
    title={"en": "Cup"},
    track="microdata",
    timezone="Asia/Tokyo",
    columns=COLUMNS,
    measures={name: MeasureSettings(weight=1.0) for name in UTILITIES},
)
