"""The contest itself: its file, where it stands, who may see what of it."""
