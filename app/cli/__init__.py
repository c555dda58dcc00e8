"""The command line ``anoncup``."""
