"""Evaluation of releases: scores, attack rates, scales and ranks."""
