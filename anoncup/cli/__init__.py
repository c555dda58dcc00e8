"""The command line: commands for teams and organizers."""
