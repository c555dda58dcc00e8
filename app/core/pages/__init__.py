"""Shared parts of all pages: rendering, competition state, language and style."""
