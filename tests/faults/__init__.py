"""A contest in flight while everything under it breaks: ``python -m tests.faults --seed 1 --faults 200``."""
