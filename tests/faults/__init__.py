"""Fault injection into a running contest: ``python -m tests.faults --seed 1 --faults 200``."""
