"""Reading, writing and completing competition files; templates."""
