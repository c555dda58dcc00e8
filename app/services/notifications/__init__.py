"""Webhooks of teams and organizers: their settings, and the events that are sent to them."""
