"""Attackers of the microdata track: they guess the original row of each row of a release."""
