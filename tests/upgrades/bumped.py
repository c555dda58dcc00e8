"""The scoring child after an upgrade: see the package."""

from functools import partial

from tests import upgrades
from workers import scorer

prepare = partial(upgrades.prepare, upgrades.bumped)
run = scorer.run
