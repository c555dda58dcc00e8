"""Contract tests for tracks and their parts, for the built-in ones and for plug-ins."""
