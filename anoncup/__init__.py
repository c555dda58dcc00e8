"""The rules of the contest for notebooks: re-exports of ``app.scoring``."""

from app.scoring.attackers import ATTACKERS
from app.scoring.competition import AttackerSettings, Columns, Competition, Excessive, MeasureSettings
from app.scoring.evaluate import Verdict, evaluate
from app.scoring.excessive.advisor import suggest_threshold
from app.scoring.methods import METHODS
from app.scoring.methods.permutations import shuffle_rows
from app.scoring.rates import rate_of, sampled_guess
from app.scoring.release import prepare, release_of, target_of
from app.scoring.scales import scales
from app.scoring.synthetic import household_columns, household_table
from app.scoring.tracks import TRACKS
from app.scoring.utility import UTILITIES

__all__ = [
    "ATTACKERS",
    "METHODS",
    "TRACKS",
    "UTILITIES",
    "AttackerSettings",
    "Columns",
    "Competition",
    "Excessive",
    "MeasureSettings",
    "Verdict",
    "evaluate",
    "household_columns",
    "household_table",
    "prepare",
    "rate_of",
    "release_of",
    "sampled_guess",
    "scales",
    "shuffle_rows",
    "suggest_threshold",
    "target_of",
]
