"""The rules of the contests, for notebooks and programs.

``TRACKS["microdata"]`` and ``TRACKS["transactions"]`` hold the measures, attackers and methods of each track.
All tracks have the same steps: ``track.parse_original(files, rules)`` (or build the tables yourself),
``track.prepare(tables, rules)``, ``track.anonymize(method, tables, rules, rng, parameters)``,
``track.shuffle(tables, source, rng=rng)``, and then ``evaluate(rules, prepared, released, source)`` with
``rules = parse_competition(text)``. Row numbers start at 0.

``ATTACKERS``, ``METHODS``, ``UTILITIES``, ``prepare``, ``target_of``, ``release_of`` and ``shuffle_rows``
belong to the microdata track.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anoncup.competition.parser import parse_competition as parse_competition
    from anoncup.competition.templates import template as template
    from anoncup.errors import InvalidCompetition as InvalidCompetition
    from anoncup.errors import InvalidInput as InvalidInput
    from anoncup.errors import InvalidUpload as InvalidUpload
    from anoncup.evaluation.evaluate import Verdict as Verdict
    from anoncup.evaluation.evaluate import evaluate as evaluate
    from anoncup.evaluation.fingerprint import fingerprint as fingerprint
    from anoncup.evaluation.scales import scales as scales
    from anoncup.excessive.advisor import advise as advise
    from anoncup.excessive.certified_bounds import certified_bounds as certified_bounds
    from anoncup.plugins import TRACKS as TRACKS
    from anoncup.rules.model import Rules as Rules
    from anoncup.rules.settings import AttackerSettings as AttackerSettings
    from anoncup.rules.settings import Columns as Columns
    from anoncup.rules.settings import Excessive as Excessive
    from anoncup.rules.settings import MeasureSettings as MeasureSettings
    from anoncup.tracks.linkage.attack_rates import rate_of as rate_of
    from anoncup.tracks.linkage.attack_rates import sampled_guess as sampled_guess
    from anoncup.tracks.microdata.example import household_columns as household_columns
    from anoncup.tracks.microdata.example import household_table as household_table
    from anoncup.tracks.microdata.permutations import shuffle_rows as shuffle_rows
    from anoncup.tracks.microdata.registry import ATTACKERS as ATTACKERS
    from anoncup.tracks.microdata.registry import METHODS as METHODS
    from anoncup.tracks.microdata.registry import UTILITIES as UTILITIES
    from anoncup.tracks.microdata.release import prepare as prepare
    from anoncup.tracks.microdata.release import release_of as release_of
    from anoncup.tracks.microdata.release import target_of as target_of
    from anoncup.tracks.transactions.cluster_planning import best_clusters as best_clusters
    from anoncup.tracks.transactions.cluster_planning import expected_dummies as expected_dummies
    from anoncup.tracks.transactions.cluster_planning import expected_shared_goods as expected_shared_goods
    from anoncup.tracks.transactions.example import tc400 as tc400
    from anoncup.tracks.transactions.tables import TransactionTables as TransactionTables

_IMPORT_PATHS = {
    "ATTACKERS": "anoncup.tracks.microdata.registry.ATTACKERS",
    "AttackerSettings": "anoncup.rules.settings.AttackerSettings",
    "Columns": "anoncup.rules.settings.Columns",
    "Excessive": "anoncup.rules.settings.Excessive",
    "InvalidCompetition": "anoncup.errors.InvalidCompetition",
    "InvalidInput": "anoncup.errors.InvalidInput",
    "InvalidUpload": "anoncup.errors.InvalidUpload",
    "METHODS": "anoncup.tracks.microdata.registry.METHODS",
    "MeasureSettings": "anoncup.rules.settings.MeasureSettings",
    "Rules": "anoncup.rules.model.Rules",
    "TRACKS": "anoncup.plugins.TRACKS",
    "TransactionTables": "anoncup.tracks.transactions.tables.TransactionTables",
    "UTILITIES": "anoncup.tracks.microdata.registry.UTILITIES",
    "Verdict": "anoncup.evaluation.evaluate.Verdict",
    "advise": "anoncup.excessive.advisor.advise",
    "best_clusters": "anoncup.tracks.transactions.cluster_planning.best_clusters",
    "certified_bounds": "anoncup.excessive.certified_bounds.certified_bounds",
    "evaluate": "anoncup.evaluation.evaluate.evaluate",
    "expected_dummies": "anoncup.tracks.transactions.cluster_planning.expected_dummies",
    "expected_shared_goods": "anoncup.tracks.transactions.cluster_planning.expected_shared_goods",
    "fingerprint": "anoncup.evaluation.fingerprint.fingerprint",
    "household_columns": "anoncup.tracks.microdata.example.household_columns",
    "household_table": "anoncup.tracks.microdata.example.household_table",
    "parse_competition": "anoncup.competition.parser.parse_competition",
    "prepare": "anoncup.tracks.microdata.release.prepare",
    "rate_of": "anoncup.tracks.linkage.attack_rates.rate_of",
    "release_of": "anoncup.tracks.microdata.release.release_of",
    "sampled_guess": "anoncup.tracks.linkage.attack_rates.sampled_guess",
    "scales": "anoncup.evaluation.scales.scales",
    "shuffle_rows": "anoncup.tracks.microdata.permutations.shuffle_rows",
    "target_of": "anoncup.tracks.microdata.release.target_of",
    "tc400": "anoncup.tracks.transactions.example.tc400",
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
