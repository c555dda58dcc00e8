"""The boards: pure functions of immutable evaluations and judged guesses, as one person may see them."""
