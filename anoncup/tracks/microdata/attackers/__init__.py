"""Attackers on microdata."""
