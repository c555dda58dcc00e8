"""Evaluation of releases: scores, attack rates, scales, ranks and fingerprints."""
