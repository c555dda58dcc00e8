"""Boards, computed from immutable evaluations and judged guesses, as one viewer may see them."""
