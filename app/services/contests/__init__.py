"""Competitions: their files, phases, visibility rules and announcements."""
