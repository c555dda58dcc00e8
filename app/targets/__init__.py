"""The second phase: targets, guesses, judging, and the end of a contest."""
