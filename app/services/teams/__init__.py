"""Invites, team membership and organizers of a contest."""
