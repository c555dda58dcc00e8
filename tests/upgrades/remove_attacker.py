"""Scoring child with one attacker removed."""

from functools import partial

from tests import upgrades
from workers import scorer

prepare = partial(upgrades.prepare, upgrades.remove_attacker)
run = scorer.run
