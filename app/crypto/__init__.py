"""Sealing of secrets."""
