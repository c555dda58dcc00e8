"""The scoring child after an upgrade: see the package."""

from tests import upgrades

if __name__ == "__main__":
    upgrades.run(upgrades.added)
