"""Scoring child with a new version of a measure."""

from functools import partial

from tests import upgrades
from workers import scorer

prepare = partial(upgrades.prepare, upgrades.bump_measure)
run = scorer.run
