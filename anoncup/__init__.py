"""Measures, attackers and anonymization methods of the contests, for notebooks and programs.

``score``, ``attack``, ``guess``, ``anonymize``, ``compare`` and ``advise`` take tables or files and return
results that print as tables:
``anoncup.score("original.csv", released, secret, competition="competition.toml")``.

``TRACKS`` contains the parts by track, such as ``TRACKS["microdata"]``. The steps are the same in all tracks:

1. ``rules = parse_competition(text)``
2. ``original, remarks = track.parse_original(files, rules)``, or build the original yourself
3. ``released, source = track.anonymize(method, original, rules, rng, parameters)``
4. ``released, source = track.shuffle(released, source, rng=rng)``
5. ``evaluate(rules, original, released, source)``

Row numbers start at 0. ``ATTACKERS``, ``METHODS``, ``UTILITIES``, ``MicrodataOriginal``, ``build_target``,
``build_release`` and ``shuffle_rows`` are shortcuts to the microdata track.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anoncup.competition.parser import parse_competition as parse_competition
    from anoncup.competition.templates import template as template
    from anoncup.dataframes import advise as advise
    from anoncup.dataframes import anonymize as anonymize
    from anoncup.dataframes import attack as attack
    from anoncup.dataframes import compare as compare
    from anoncup.dataframes import guess as guess
    from anoncup.dataframes import score as score
    from anoncup.errors import InvalidCompetition as InvalidCompetition
    from anoncup.errors import InvalidInput as InvalidInput
    from anoncup.errors import InvalidUpload as InvalidUpload
    from anoncup.evaluation.evaluate import Verdict as Verdict
    from anoncup.evaluation.evaluate import evaluate as evaluate
    from anoncup.evaluation.scales import scales as scales
    from anoncup.excessive.threshold_advisor import find_cheapest_derangement as find_cheapest_derangement
    from anoncup.excessive.threshold_advisor import s_lower as s_lower
    from anoncup.plugins import TRACKS as TRACKS
    from anoncup.rules.model import Rules as Rules
    from anoncup.rules.settings import AttackerSettings as AttackerSettings
    from anoncup.rules.settings import Columns as Columns
    from anoncup.rules.settings import Excessive as Excessive
    from anoncup.rules.settings import MeasureSettings as MeasureSettings
    from anoncup.tracks.linkage.attack_rates import rate_guess as rate_guess
    from anoncup.tracks.microdata.example import generate_households as generate_households
    from anoncup.tracks.microdata.example import get_household_columns as get_household_columns
    from anoncup.tracks.microdata.methods import shuffle_rows as shuffle_rows
    from anoncup.tracks.microdata.registry import ATTACKERS as ATTACKERS
    from anoncup.tracks.microdata.registry import METHODS as METHODS
    from anoncup.tracks.microdata.registry import UTILITIES as UTILITIES
    from anoncup.tracks.microdata.release import MicrodataOriginal as MicrodataOriginal
    from anoncup.tracks.microdata.release import build_release as build_release
    from anoncup.tracks.microdata.release import build_target as build_target
    from anoncup.tracks.transactions.cluster_planning import best_clusters as best_clusters
    from anoncup.tracks.transactions.cluster_planning import expected_dummies as expected_dummies
    from anoncup.tracks.transactions.cluster_planning import expected_shared_goods as expected_shared_goods
    from anoncup.tracks.transactions.example import load_tc400 as load_tc400
    from anoncup.tracks.transactions.release import TransactionOriginal as TransactionOriginal
    from anoncup.tracks.transactions.tables import TransactionTables as TransactionTables

_IMPORT_PATHS = {
    "anonymize": "anoncup.dataframes.anonymize",
    "attack": "anoncup.dataframes.attack",
    "compare": "anoncup.dataframes.compare",
    "guess": "anoncup.dataframes.guess",
    "score": "anoncup.dataframes.score",
    "ATTACKERS": "anoncup.tracks.microdata.registry.ATTACKERS",
    "AttackerSettings": "anoncup.rules.settings.AttackerSettings",
    "Columns": "anoncup.rules.settings.Columns",
    "Excessive": "anoncup.rules.settings.Excessive",
    "InvalidCompetition": "anoncup.errors.InvalidCompetition",
    "InvalidInput": "anoncup.errors.InvalidInput",
    "InvalidUpload": "anoncup.errors.InvalidUpload",
    "METHODS": "anoncup.tracks.microdata.registry.METHODS",
    "MeasureSettings": "anoncup.rules.settings.MeasureSettings",
    "MicrodataOriginal": "anoncup.tracks.microdata.release.MicrodataOriginal",
    "Rules": "anoncup.rules.model.Rules",
    "TRACKS": "anoncup.plugins.TRACKS",
    "TransactionOriginal": "anoncup.tracks.transactions.release.TransactionOriginal",
    "TransactionTables": "anoncup.tracks.transactions.tables.TransactionTables",
    "UTILITIES": "anoncup.tracks.microdata.registry.UTILITIES",
    "Verdict": "anoncup.evaluation.evaluate.Verdict",
    "advise": "anoncup.dataframes.advise",
    "best_clusters": "anoncup.tracks.transactions.cluster_planning.best_clusters",
    "build_release": "anoncup.tracks.microdata.release.build_release",
    "build_target": "anoncup.tracks.microdata.release.build_target",
    "evaluate": "anoncup.evaluation.evaluate.evaluate",
    "expected_dummies": "anoncup.tracks.transactions.cluster_planning.expected_dummies",
    "expected_shared_goods": "anoncup.tracks.transactions.cluster_planning.expected_shared_goods",
    "find_cheapest_derangement": "anoncup.excessive.threshold_advisor.find_cheapest_derangement",
    "generate_households": "anoncup.tracks.microdata.example.generate_households",
    "get_household_columns": "anoncup.tracks.microdata.example.get_household_columns",
    "load_tc400": "anoncup.tracks.transactions.example.load_tc400",
    "parse_competition": "anoncup.competition.parser.parse_competition",
    "rate_guess": "anoncup.tracks.linkage.attack_rates.rate_guess",
    "s_lower": "anoncup.excessive.threshold_advisor.s_lower",
    "scales": "anoncup.evaluation.scales.scales",
    "shuffle_rows": "anoncup.tracks.microdata.methods.shuffle_rows",
    "template": "anoncup.competition.templates.template",
}
"""Dotted path of each public name. A name is imported on first access."""

__all__ = list(_IMPORT_PATHS)


def __getattr__(name: str) -> Any:
    if name not in _IMPORT_PATHS:
        raise AttributeError(f"module 'anoncup' has no attribute {name!r}")
    module, _, attribute = _IMPORT_PATHS[name].rpartition(".")
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
