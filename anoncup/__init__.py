"""The rules of the contest for notebooks: re-exports of ``app.scoring``.

``TRACKS["microdata"]`` and ``TRACKS["transactions"]`` hold what each track measures, runs and offers, with
the same steps for both: ``track.parse_original(files, rules)`` or tables of one's own,
``track.prepare(tables, rules)``, ``track.anonymize(method, tables, rules, rng, parameters)``,
``track.shuffle(tables, source, rng=rng)``, and then ``evaluate(rules, prepared, released, source)`` with
``rules = parse_competition(text)``. Rows count from 0.

``ATTACKERS``, ``METHODS``, ``UTILITIES``, ``prepare``, ``target_of``, ``release_of`` and ``shuffle_rows`` are
those of the microdata track.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anoncup.notebooks import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        """Loaded when it is asked for: who imports ``anoncup.plugin`` only describes parts."""
        if name not in __all__:
            raise AttributeError(f"module 'anoncup' has no attribute {name!r}")
        return getattr(import_module("anoncup.notebooks"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]


__all__ = [
    "ATTACKERS",
    "METHODS",
    "TRACKS",
    "UTILITIES",
    "AttackerSettings",
    "Columns",
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
