"""Attackers of the microdata track."""
