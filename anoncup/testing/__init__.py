"""Contract tests for tracks and their parts, for authors of plug-ins and for us."""
