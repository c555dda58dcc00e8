"""Pages and services with which organizers run a contest."""
