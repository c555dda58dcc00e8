"""Announcements of organizers."""
