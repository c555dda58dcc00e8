"""Attackers on transactions."""
