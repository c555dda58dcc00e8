"""Scoring all submissions again by other rules."""
