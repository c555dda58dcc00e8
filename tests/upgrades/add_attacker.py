"""Scoring child with one attacker added."""

from functools import partial

from tests import upgrades
from workers import scorer

prepare = partial(upgrades.prepare, upgrades.add_attacker)
run = scorer.run
