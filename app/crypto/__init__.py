"""Sealing of secrets and signing of observed deadlines."""
