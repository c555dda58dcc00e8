"""Original data of a competition: import, profile, allocation to teams, and starter kits."""
