"""Pages and API with which organizers set up a contest: its file, its data, its threshold."""
