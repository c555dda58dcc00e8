"""Attack phase: finals become targets, teams send guesses on targets, and secrets are revealed."""
