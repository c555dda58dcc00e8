"""Backups of a service and of its keys, which can be restored on another machine."""
