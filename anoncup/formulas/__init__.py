"""Formulas of a competition file: a restricted language for the numbers of a board (``docs/formulas.md``)."""
