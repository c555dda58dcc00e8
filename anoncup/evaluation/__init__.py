"""Evaluation of a release: measures, attackers, scales, ranking, fingerprint."""
