"""Competitions: their files and revisions, rounds, phases, who sees what, rules pages."""
