"""Original data of a competition: import, allocation to teams, and starter kits."""
