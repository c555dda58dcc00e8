"""Attackers of the transactions track."""
