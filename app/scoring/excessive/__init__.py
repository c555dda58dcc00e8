"""Excessive anonymization (P2): the rule against it, its bounds and the advice on its threshold."""
