"""Import all that jobs need, and evaluate an example, which imports what is lazy.

The example is made, not read: Arrow starts a thread at its first file.
"""

import pkgutil
from importlib import import_module
from types import ModuleType

import numpy as np

from anoncup import competition, evaluation, excessive, tables, tracks
from anoncup.competition.parser import parse_competition
from anoncup.evaluation.evaluate import evaluate
from anoncup.geometry import kernels
from anoncup.plugins import BUILT_IN
from anoncup.tracks.microdata.example import generate_households, get_household_columns
from anoncup.tracks.microdata.release import MicrodataOriginal

_SEED, _ROWS = 0, 200


def preload() -> None:
    """Import the library with its compiled loops. No child may write these to their cache."""
    for package in (competition, evaluation, excessive, tables, tracks):
        _import_modules(package)
    import_module("anoncup.runner.scoring")
    kernels.load()
    kernels.disable_cache_writes()
    _evaluate_example()


def _import_modules(package: ModuleType) -> None:
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        import_module(module.name)


def _evaluate_example() -> None:
    track = BUILT_IN["microdata"]
    rules = parse_competition(next(iter(track.examples.templates.values())).read_text("utf-8"))
    original = MicrodataOriginal(generate_households(_ROWS), get_household_columns())
    release, answer = track.anonymize(
        next(iter(track.methods.values())), original, rules, np.random.default_rng(_SEED), {}
    )
    evaluate(rules, original, release, answer)
