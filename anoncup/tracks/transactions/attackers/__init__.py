"""Attackers of the transactions track: they guess the original customer of each customer of a release."""
