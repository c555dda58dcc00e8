"""Targets and guesses."""

WORDS: dict[str, dict[str, str]] = {}
