"""What notebooks import, by way of the package: loads the numbers."""

from app.errors import InvalidCompetition, InvalidInput, InvalidUpload
from app.scoring.attackers import ATTACKERS
from app.scoring.competition_file import parse_competition
from app.scoring.data import tc400
from app.scoring.evaluate import Verdict, evaluate
from app.scoring.excessive.advisor import advise
from app.scoring.excessive.certified import certified_bounds
from app.scoring.fingerprint import fingerprint
from app.scoring.methods import METHODS
from app.scoring.methods.permutations import shuffle_rows
from app.scoring.methods.planning import best_clusters, expected_dummies, expected_shared_goods
from app.scoring.rates import rate_of, sampled_guess
from app.scoring.release import prepare, release_of, target_of
from app.scoring.rules import Rules
from app.scoring.scales import scales
from app.scoring.settings import AttackerSettings, Columns, Excessive, MeasureSettings
from app.scoring.synthetic import household_columns, household_table
from app.scoring.templates import template
from app.scoring.tracks import TRACKS
from app.scoring.transaction_tables import TransactionTables
from app.scoring.utility import UTILITIES
