"""The rules of the contest for notebooks: re-exports of ``app.scoring``.

``TRACKS["microdata"]`` and ``TRACKS["transactions"]`` hold what each track measures, runs and offers, with
the same steps for both: ``track.parse_original(files, rules)`` or tables of one's own,
``track.prepare(tables, rules)``, ``track.anonymize(method, tables, rules, rng, parameters)``,
``track.shuffle(tables, source, rng=rng)``, and then ``evaluate(rules, prepared, released, source)`` with
``rules = parse_competition(text)``. Rows count from 0.

``ATTACKERS``, ``METHODS``, ``UTILITIES``, ``prepare``, ``target_of``, ``release_of`` and ``shuffle_rows`` are
those of the microdata track.
"""

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

Competition = Rules
"""As ``parse_competition`` names it."""

__all__ = [
    "ATTACKERS",
    "METHODS",
    "TRACKS",
    "UTILITIES",
    "AttackerSettings",
    "Columns",
    "Competition",
    "Excessive",
    "InvalidCompetition",
    "InvalidInput",
    "InvalidUpload",
    "MeasureSettings",
    "Rules",
    "TransactionTables",
    "Verdict",
    "advise",
    "best_clusters",
    "certified_bounds",
    "evaluate",
    "expected_dummies",
    "expected_shared_goods",
    "fingerprint",
    "household_columns",
    "household_table",
    "parse_competition",
    "prepare",
    "rate_of",
    "release_of",
    "sampled_guess",
    "scales",
    "shuffle_rows",
    "target_of",
    "tc400",
    "template",
]
